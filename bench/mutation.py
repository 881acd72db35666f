"""How much of what the promises rest on could break without a test noticing.

Small faults are put into the modules below, one at a time and a sample of fixed seed, and the tests that
execute the changed line are run. Run `python -m bench.mutation`; it continues where it was stopped, and
`--again survived untested` tries those once more that no test noticed, after tests were added.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import json
import random
import tempfile
from collections import defaultdict
from collections.abc import Iterable
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from bench.common import circumstances, keep
from bench.mutation_operators import Mutant, all_mutants, mutated
from bench.mutation_page import read_equivalent, render_page
from bench.mutation_tests import Copy, Outcome, lines_by_test, try_tests

ROOT = Path(__file__).parents[1]


class Part(NamedTuple):
    """What is broken, and the tests that should notice."""

    modules: tuple[str, ...]
    tests: tuple[str, ...]


PARTS = {
    "files": Part(
        ("src/memlines/files/*.py",),
        (
            "tests/files/test_*.py",
            "tests/memory/test_undo.py",
            "tests/memory/test_past_notes.py",
            "tests/memory/test_forget*.py",
            "tests/memory/test_sessions_growing.py",
            "tests/memory/test_sessions_import.py",
            "tests/memory/test_tidy_apply.py",
            "tests/memory/test_watching.py",
            "tests/transcripts/test_sessions_long_lines.py",
        ),
    ),
    "paths": Part(
        ("src/memlines/paths.py", "src/memlines/folders.py"),
        ("tests/files/test_*.py", "tests/settings/test_workspace.py", "tests/text/test_languages.py"),
    ),
    "locks": Part(("src/memlines/locks.py",), ("tests/files/test_lock.py",)),
    "redaction": Part(
        ("src/memlines/text/redaction/*.py",),
        ("tests/text/test_redaction*.py", "tests/memory/test_secrets_refused.py"),
    ),
    "trust": Part(
        ("src/memlines/settings/trusted_files.py", "src/memlines/settings/loading.py"),
        (
            "tests/settings/test_settings*.py",
            "tests/settings/test_workspace.py",
            "tests/settings/test_old_name.py",
        ),
    ),
    "store": Part(
        tuple(
            f"src/memlines/index/store/sqlite/{name}.py"
            for name in (
                "cache", "chunks", "days", "db", "erase", "files", "foreign", "index", "schema", "shorten",
                "spaces", "vectors", "words",
            )
        ),
        (
            "tests/index/test_store_*.py",
            "tests/index/test_sync_interrupted.py",
            "tests/index/test_sync_rebuild.py",
            "tests/index/test_sync_vectors.py",
            "tests/index/test_model_change.py",
            "tests/files/test_erase.py",
            "tests/memory/test_sessions_growing.py",
            "tests/admin/test_imports_openclaw.py",
        ),
    ),
}  # fmt: skip
_TOO_SLOW = ("test_odd_files.py", "test_deep_folders.py")
"""Their tests wait for processes or make thousands of folders: a mutant would wait minutes for them."""

_COMMAND = "python -m bench.mutation"
_SEED = 20261119
_FEWEST = 40
_FIRST_SECONDS, _ALL_SECONDS = 5.0, 30.0
"""What the tests of a mutant may take by their record: those tried first, and all if none of them fails."""

_RECORDING_SECONDS = 900


def find_mutants() -> dict[str, list[Mutant]]:
    """Return all mutants of each group of modules."""
    return {
        group: [
            mutant
            for pattern in part.modules
            for path in sorted(ROOT.glob(pattern))
            for mutant in all_mutants(path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8"))
        ]
        for group, part in PARTS.items()
    }


def sample(mutants: dict[str, list[Mutant]], size: int) -> list[Mutant]:
    """Choose mutants of each group by its share, some of each, in an order that may be cut anywhere."""
    total = sum(map(len, mutants.values()))
    chosen: list[tuple[float, Mutant]] = []
    for group, found in mutants.items():
        count = min(len(found), max(_FEWEST, round(size * len(found) / total)))
        drawn = random.Random(f"{_SEED} {group}").sample(found, count)
        chosen += [((at + 0.5) / count, mutant) for at, mutant in enumerate(drawn)]
    return [mutant for _, mutant in sorted(chosen)]


def statement_spans(source: str) -> dict[int, tuple[int, int, bool]]:
    """Return, for each line, where its innermost statement is, and whether a function runs it."""
    spans: dict[int, tuple[int, int, bool]] = {}

    def visit(node: ast.AST, inside: bool) -> None:
        for child in ast.iter_child_nodes(node):
            function = inside or isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
            if isinstance(child, ast.stmt):
                body = getattr(child, "body", None)
                last = body[0].lineno - 1 if body else child.end_lineno or child.lineno
                for line in range(child.lineno, (child.end_lineno or child.lineno) + 1):
                    spans[line] = (child.lineno, max(child.lineno, last), function)
            visit(child, function)

    visit(ast.parse(source), inside=False)
    return spans


class Run:
    """A run's state: which test executes what, and what became of each mutant."""

    def __init__(self, state: Path) -> None:
        """Read what an earlier run left."""
        self._map_file, self._results_file = state / "tests.json", state / "results.json"
        self._map: dict[str, Any] = _read(self._map_file)
        self.results: dict[str, dict[str, Any]] = _read(self._results_file)
        self._spans: dict[str, dict[int, tuple[int, int, bool]]] = {}

    def record_tests(self, copied: Copy, parts: Iterable[str], watched: list[str]) -> None:
        """Note what the tests execute, for each file of tests that is new or was changed."""
        patterns = dict.fromkeys(pattern for part in parts for pattern in PARTS[part].tests)
        files = dict.fromkeys(
            path for pattern in patterns for path in sorted(ROOT.glob(pattern)) if path.name not in _TOO_SLOW
        )
        for path in files:
            name = path.relative_to(ROOT).as_posix()
            digest = hashlib.sha256(path.read_bytes()).hexdigest()
            if self._map.get(name, {}).get("digest") != digest:
                tests = lines_by_test(copied, name, watched, _RECORDING_SECONDS)
                self._map[name] = {"digest": digest, "tests": tests}
                _write(self._map_file, self._map)
                failed = [test for test, seen in tests.items() if not seen["passed"]]
                print(f"{name}: {len(tests)} tests, {len(failed)} left out: {failed[:3]}", flush=True)

    def tests_of(self, mutant: Mutant) -> dict[str, float]:
        """Return the tests that execute a mutant's statement, with their seconds."""
        if mutant.file not in self._spans:
            self._spans[mutant.file] = statement_spans((ROOT / mutant.file).read_text(encoding="utf-8"))
        first, last, in_function = self._spans[mutant.file][mutant.line]
        package = mutant.file.rpartition("/")[0]
        found = {}
        for name, seen in chain.from_iterable(one["tests"].items() for one in self._map.values()):
            if in_function:  # or else what it says counts for its neighbours, such as a table of patterns
                executes = any(first <= line <= last for line in seen.get("lines", {}).get(mutant.file, ()))
            else:
                executes = any(file.rpartition("/")[0] == package for file in seen.get("lines", {}))
            if executes and seen["passed"]:
                found[name] = seen["seconds"]
        if not found:  # perhaps it is only executed in programs that a test starts
            own = f"/test_{Path(mutant.file).stem}"
            every = chain.from_iterable(one["tests"].items() for one in self._map.values())
            found = {name: seen["seconds"] for name, seen in every if own in name and seen["passed"]}
        return found

    def judge(self, copied: Copy, mutant: Mutant) -> Outcome:
        """Run the tests of a mutant: some of each kind first, then the others."""
        tests = self.tests_of(mutant)
        if not tests:
            return Outcome("untested", "", 0)
        ordered = _by_turns(tests)
        source = (ROOT / mutant.file).read_text(encoding="utf-8")
        first, rest = _within(ordered, tests, _FIRST_SECONDS), []
        with copied.changed(mutant.file, mutated(source, mutant.number)):
            outcome = try_tests(copied, first, 30 + 5 * _FIRST_SECONDS)
            if outcome.verdict == "survived":
                rest = _within([name for name in ordered if name not in set(first)], tests, _ALL_SECONDS)
            if rest:
                more = try_tests(copied, rest, 30 + 3 * _ALL_SECONDS)
                outcome = more._replace(seconds=round(outcome.seconds + more.seconds, 1))
        return outcome

    def keep(self, group: str, mutant: Mutant, outcome: Outcome) -> None:
        """Note what became of a mutant."""
        unseen = mutant.name not in self.results
        one = {"group": group, **mutant._asdict(), **outcome._asdict(), "unseen": unseen}
        self.results[mutant.name] = one
        _write(self._results_file, self.results)


def _by_turns(tests: dict[str, float]) -> list[str]:
    """Order tests so that each function gets as much time as any other: quick cases before slow tests."""
    spent: dict[str, float] = defaultdict(float)
    at: dict[str, float] = {}
    for name in sorted(tests, key=lambda name: tests[name]):
        function = name.partition("[")[0]
        at[name] = spent[function] = spent[function] + tests[name]
    return sorted(at, key=lambda name: at[name])


def _within(ordered: Iterable[str], tests: dict[str, float], seconds: float) -> list[str]:
    """Return the first tests that take no longer together, and one at least."""
    taken: list[str] = []
    for name in ordered:
        seconds -= tests[name]
        if seconds < 0 and taken:
            break
        taken.append(name)
    return taken


def _read(file: Path) -> dict[str, Any]:
    return json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}


def _write(file: Path, value: dict[str, Any]) -> None:
    draft = file.with_suffix(".draft")
    draft.write_text(json.dumps(value), encoding="utf-8")
    draft.replace(file)


def main() -> None:
    """Judge the mutants of the sample that were not judged yet, and write the page."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--sample", type=int, default=400, help="about how many mutants (default: 400)")
    options.add_argument("--again", nargs="+", default=[], metavar="VERDICT", help="judge those once more")
    options.add_argument("--part", nargs="+", choices=PARTS, default=[*PARTS], help="only these parts")
    options.add_argument("--state", type=Path, default=Path(tempfile.gettempdir()) / "memlines-mutation")
    options.add_argument("--report", action="store_true", help="only write the page")
    given = options.parse_args()
    given.state.mkdir(parents=True, exist_ok=True)
    around = circumstances()
    mutants = find_mutants()
    group_of = {mutant.file: group for group, found in mutants.items() for mutant in found}
    chosen = sample(mutants, given.sample)
    run = Run(given.state)
    if given.again:  # then tests may have been written for all that was judged so far
        for one in run.results.values():
            one["unseen"] = False
    if not given.report:
        wanted = [mutant for mutant in chosen if group_of[mutant.file] in given.part]
        with tempfile.TemporaryDirectory() as folder:
            same = read_equivalent()
            copied = Copy(Path(folder), ROOT)
            run.record_tests(copied, given.part, sorted(group_of))
            for at, mutant in enumerate(wanted, 1):
                known = run.results.get(mutant.name)
                if known is None or (known["verdict"] in given.again and mutant.name not in same):
                    outcome = run.judge(copied, mutant)
                    run.keep(group_of[mutant.file], mutant, outcome)
                    print(f"{at}/{len(wanted)} {mutant.name} {outcome.verdict} {outcome.seconds}", flush=True)
    judged = [run.results[mutant.name] for mutant in chosen if mutant.name in run.results]
    possible = {group: len(found) for group, found in mutants.items()}
    figures = {"seed": _SEED, "possible": possible, "mutants": judged}
    keep("mutation", _COMMAND, render_page(judged, possible, around), figures, around)


if __name__ == "__main__":
    main()

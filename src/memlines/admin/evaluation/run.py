"""Run the queries of a labelled set against copies of its workspaces, or against an open memory.

Nothing is written beside a set: each workspace is copied to a temporary folder, indexed and
asked there, and the folder is removed whatever happens. An open memory is asked where it is.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Any

from memlines.admin.evaluation.sets import PARTS, HitLines, LabelledSet, Query, means, percentile, scores
from memlines.errors import StoreReadOnly, UsageError, WorkspaceError
from memlines.files.scan import IGNORED_DIRS
from memlines.memory.memory import Memory
from memlines.paths import Workspace
from memlines.records import dataclass
from memlines.settings import flatten, list_settings, load
from memlines.settings.keys import known_keys
from memlines.types import Mode, Progress, Report, SearchResult, Source

MODES: tuple[Mode, ...] = ("words", "vectors", "hybrid")

DEPTH = 20
"""Hits asked for, without a lowest score: what is measured is the order, not where it is cut."""

_SOURCES: tuple[Source, ...] = ("memory", "sessions")
_DECIDED: Mapping[str, Any] = {"store.path": "", "extra_paths": []}
"""Settings an evaluation decides: the index stays in its own folder, and only the set is searched."""

_MOST_PROBLEMS = 3
_DIGITS = 4
_MILLISECOND_DIGITS = 2


@dataclass(frozen=True, slots=True)
class Answer:
    """The hits of one query in one mode; `silent` means that none reaches the settings' own `min_score`."""

    query: Query
    found: tuple[HitLines, ...]
    seconds: float
    silent: bool


@dataclass(slots=True)
class Evaluation:
    """The result of one run over a set; `notes` says why its figures may be wrong."""

    name: str
    workspaces: int = 0
    files: int = 0
    chunks: int = 0
    pending: int = 0
    """How many chunks have no vectors, although a provider should make them."""
    index_seconds: float = 0.0
    provider: str = ""
    model: str = ""
    min_score: float = 0.0
    settings: dict[str, Any] = field(default_factory=dict)
    answers: dict[Mode, list[Answer]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def evaluate(
    labelled: LabelledSet,
    settings: Mapping[str, Any],
    modes: Sequence[Mode],
    progress: Progress,
    *,
    approve: Callable[[Memory], None] | None = None,
) -> Evaluation:
    """Ask every query of a set in every mode, with these settings over the user's own.

    `approve` is called with each copy before it is indexed, and may raise to prevent that.
    """
    decided = [name for name in settings if name in _DECIDED]
    if decided:
        raise UsageError(
            f"an evaluation decides {decided[0]} itself", todo="Leave it out; a set is measured in a copy"
        )
    run = _Run(labelled.name, settings, modes)
    for name, original in labelled.workspaces.items():
        queries = [query for query in labelled.queries if query.workspace == name]
        run.workspace(name, original, queries, progress, approve)
    return run.finish()


def evaluate_open(
    memory: Memory, labelled: LabelledSet, modes: Sequence[Mode], progress: Progress
) -> Evaluation:
    """Ask every query of a set about one workspace of its own memory; conversations do not answer."""
    run = _Run(labelled.name, {}, modes, ("memory",))
    run.measure(memory, labelled.name, labelled.queries, progress)
    return run.finish()


class _Run:
    """One run over a set, workspace by workspace."""

    def __init__(
        self,
        name: str,
        settings: Mapping[str, Any],
        modes: Sequence[Mode],
        sources: tuple[Source, ...] | None = None,
    ) -> None:
        self.result = Evaluation(name)
        self._replaced: Counter[tuple[Mode, Mode]] = Counter()
        self._given = settings
        self._modes = [mode for mode in MODES if mode in modes]
        self._sources = sources

    def note(self, sentence: str) -> None:
        """Note once why the figures may be wrong."""
        if sentence not in self.result.notes:
            self.result.notes.append(sentence)

    def finish(self) -> Evaluation:
        """Return the result, with what was answered in another way than asked."""
        for (asked, answered), count in self._replaced.items():
            self.note(f"{count} searches by {asked} were answered by {answered}")
        return self.result

    def workspace(
        self,
        name: str,
        original: Path,
        queries: Sequence[Query],
        progress: Progress,
        approve: Callable[[Memory], None] | None,
    ) -> None:
        """Copy a workspace, index the copy and ask it."""
        settings = self._settings_of(original)

        def labelled_progress(completed: int, total: int, label: str) -> None:
            progress(completed, total, f"{label} {name}")

        with tempfile.TemporaryDirectory(prefix="memlines-eval-") as folder:
            copy_workspace(original, Path(folder))
            with Memory(folder, settings) as memory:
                if approve is not None:
                    approve(memory)
                self.measure(memory, name, queries, labelled_progress)

    def measure(self, memory: Memory, name: str, queries: Sequence[Query], progress: Progress) -> None:
        """Index what a memory holds and ask it."""
        self.result.min_score = memory.settings.query.min_score
        self._index(memory, name, progress)
        self._ask(memory, queries, progress)

    def _settings_of(self, original: Path) -> dict[str, Any]:
        """Return the settings for the copy: what the original's own file says, then what was given."""
        workspace = Workspace.at(original)
        overrides = {"sources": _SOURCES, "store.driver": "sqlite", **self._given, **_DECIDED}
        loaded = load(workspace, overrides)
        self.result.settings = {row.key: row.value for row in list_settings(loaded) if row.key in self._given}
        project = tuple(f"project file {file}" for file in workspace.config_files)
        values = flatten(loaded.settings)
        own = {
            name: dict(values[name]) if known_keys()[name].rule.kind == "dict" else values[name]
            for name, origin in loaded.origins.items()
            if origin.startswith(project)
        }
        return own | overrides

    def _index(self, memory: Memory, name: str, progress: Progress) -> None:
        begin = time.perf_counter()
        result = self.result
        try:
            report = memory.sync(progress=progress)
        except StoreReadOnly as error:  # what is indexed already can be searched
            self.note(f"the index may be out of date: {error.what}")
        else:
            self._note_report(name, report)
            result.pending += report.pending
        result.index_seconds += time.perf_counter() - begin
        status = memory.status()
        result.workspaces += 1
        result.files += status.files
        result.chunks += status.chunks
        result.provider, result.model = result.provider or status.provider, result.model or status.model
        left_out = [mode for mode in self._modes if mode != "words"]
        if status.provider != "none" or not left_out:
            return
        reason = f" ({status.fallback['reason']})" if status.fallback else ""
        if left_out == self._modes:
            raise UsageError(
                f"there are no vectors to search{reason}",
                todo="Set embeddings.provider, or evaluate --mode words",
            )
        self._modes = ["words"]
        verb = "was" if len(left_out) == 1 else "were"
        self.note(f"there is no embedding provider{reason}, so {' and '.join(left_out)} {verb} left out")

    def _ask(self, memory: Memory, queries: Sequence[Query], progress: Progress) -> None:
        for mode in self._modes:
            self._search(memory, queries[0], mode)  # which loads what the first timed one would load
        for done, query in enumerate(queries):
            progress(done, len(queries), "asking")
            for mode in self._modes:
                begin = time.perf_counter()
                result = self._search(memory, query, mode)
                seconds = time.perf_counter() - begin
                for warning in result.warnings:
                    self.note(warning)
                if result.mode != mode:
                    self._replaced[mode, result.mode] += 1
                found = tuple(HitLines.of(hit) for hit in result)
                answer = Answer(query, found, seconds, silent=not result.confident)
                self.result.answers.setdefault(mode, []).append(answer)
        progress(len(queries), len(queries), "asking")

    def _search(self, memory: Memory, query: Query, mode: Mode) -> SearchResult:
        return memory.search(
            query.text, max_results=DEPTH, min_score=0.0, mode=mode, sources=self._sources, now=query.now
        )

    def _note_report(self, name: str, report: Report) -> None:
        for warning in report.warnings:
            self.note(f"{name}: {warning}")
        if report.pending:
            self.note(f"{name}: {report.pending} chunks have no vectors")
        problems = [f"{problem.path} {problem.reason}" for problem in (*report.failed, *report.skipped)]
        if problems:
            more = [f"and {len(problems) - _MOST_PROBLEMS} more"] if len(problems) > _MOST_PROBLEMS else []
            self.note(f"{name}: not in the index: {'; '.join(problems[:_MOST_PROBLEMS] + more)}")


def copy_workspace(original: Path, target: Path) -> None:
    """Copy what can be searched of a workspace; links stay links, so nothing outside is copied."""
    try:
        for part in PARTS:
            source = original / part
            if source.is_dir() and not source.is_symlink():
                ignored = shutil.ignore_patterns(*IGNORED_DIRS)
                shutil.copytree(source, target / part, symlinks=True, ignore=ignored)
            elif source.is_file():
                shutil.copy2(source, target / part, follow_symlinks=False)
    except OSError as error:
        raise WorkspaceError(
            f"workspace {str(original)!r} cannot be copied: {error}",
            todo="Check its permissions, and the space in the folder for temporary files",
        ) from error


# Figures


def evaluation_json(evaluation: Evaluation) -> dict[str, Any]:
    """Return the figures of a run as JSON."""
    return {
        "set": evaluation.name,
        "queries": max(map(len, evaluation.answers.values())),
        "workspaces": evaluation.workspaces,
        "files": evaluation.files,
        "chunks": evaluation.chunks,
        "index_seconds": round(evaluation.index_seconds, _DIGITS),
        "provider": evaluation.provider,
        "model": evaluation.model,
        "min_score": evaluation.min_score,
        "settings": evaluation.settings,
        "modes": {mode: _mode_json(answers) for mode, answers in evaluation.answers.items()},
        "notes": evaluation.notes,
    }


def hits_json(answer: Answer) -> dict[str, Any]:
    """Return the hits of a query as JSON, best first."""
    hits = [{**hit._asdict(), "score": round(hit.score, _DIGITS)} for hit in answer.found]
    return {"id": answer.query.id, "hits": hits}


def _mode_json(answers: Sequence[Answer]) -> dict[str, Any]:
    kinds = dict.fromkeys(answer.query.kind for answer in answers if answer.query.kind is not None)
    taken = [answer.seconds * 1000 for answer in answers]
    return {
        **_group_json(answers),
        "p50_ms": round(percentile(taken, 0.5), _MILLISECOND_DIGITS),
        "p95_ms": round(percentile(taken, 0.95), _MILLISECOND_DIGITS),
        "types": {
            kind: _group_json([answer for answer in answers if answer.query.kind == kind]) for kind in kinds
        },
    }


def _group_json(answers: Sequence[Answer]) -> dict[str, Any]:
    rows = [scores(answer.query.gold, answer.found) for answer in answers]
    return {
        "queries": len(answers),
        "metrics": {name: round(value, _DIGITS) for name, value in means(rows).items()},
        "silent": round(sum(answer.silent for answer in answers) / len(answers), _DIGITS),
    }

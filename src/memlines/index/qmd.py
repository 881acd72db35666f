"""The program qmd: the folders that it indexes, what it is asked, and how its answer is read.

What comes back are plain values. When it is asked, and what happens if it fails, is decided in `memory`.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import islice, zip_longest
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, NamedTuple

from memlines.errors import QmdFailed, reason_of
from memlines.files import atomic
from memlines.folders import PRIVATE_FILE, open_folder
from memlines.index.store.sqlite.files import machine_mark
from memlines.paths import find_program
from memlines.settings.qmd import Qmd
from memlines.text.shell import is_batch_file
from memlines.text.terms import telling_words
from memlines.types import Progress, Source

INDEX = "memlines"
"""The name of the index. With a name, qmd does not look for a `.qmd` folder in the folders above."""

MOST_CHARACTERS = 200_000
_MOST_BYTES = 4 * MOST_CHARACTERS
_LOOK_SECONDS = 0.05
_MOST_QUOTED = 300
"""How much an error quotes of what the program said."""

_MOST_WORDS, _LONGEST_TEXT = 12, 4000
_MOST_BRACKETS = 50
"""Brackets at which an array is tried; one that is never closed takes as long as reading all the rest."""

_UNUSABLE = re.compile("[\0\ud800-\udfff]")
"""What no argument of a program and no path may hold."""

_ARRAY = re.compile(r"\[(?=\s*[{\]])")
_NOTHING = re.compile(r"^\s*no results found", re.IGNORECASE | re.MULTILINE)
_HEADER = re.compile(r"\s*@@ -(\d{1,9}),(\d{1,9})")
_FILE = re.compile(r"qmd://([^/]+)/(.+?)(?:\?index=[^?]*)?", re.DOTALL)


class Collection(NamedTuple):
    """A real folder that qmd indexes, which files in it, and what they hold."""

    folder: Path
    pattern: str
    source: Source


class QmdHit(NamedTuple):
    """A file that qmd found, by its path below the folder of a collection, and lines in it."""

    collection: str
    path: str
    first: int
    last: int
    score: float


class QmdIndex(NamedTuple):
    """What the program keeps below one folder, in the private part of the workspace at `root`."""

    settings: Qmd
    folder: Path
    root: Path
    collections: Mapping[str, Collection]

    def search(self, text: str, sources: Sequence[str], count: int, progress: Progress) -> list[QmdHit]:
        """Return what sources hold about a text, best first, in turns so that none crowds out another.

        By words, qmd finds only what holds all of them. It is asked for all, and for each one, and adds up
        the places in those lists. Only the beginning of a very long text counts.
        """
        text = " ".join(_UNUSABLE.sub(" ", text[:_LONGEST_TEXT]).split())
        words = telling_words(text)[:_MOST_WORDS]
        if not words:
            return []
        mode = self.settings.search_mode
        if mode == "search":
            command = ["query", "--no-rerank"]
            question = "\n".join(f"lex: {one}" for one in (" ".join(words), *words))
        else:
            command, question = [mode], f"expand: {text}" if mode == "query" else text
        source_of = {name: one.source for name, one in self.collections.items()}
        chosen = [f"--collection={name}" for name, source in source_of.items() if source in sources]
        options = ["--format", "json", "-n", str(count * len(sources)), *chosen, "--", question]
        hits = parse_hits(self.run([*command, *options], self.settings.limits.timeout_ms, progress))
        groups = [[hit for hit in hits if source_of.get(hit.collection) == source] for source in sources]
        return [hit for turn in zip_longest(*groups) for hit in turn if hit is not None]

    def run(self, arguments: Sequence[str], timeout_ms: int, progress: Progress) -> str:
        """Run the program with our settings: what anyone else put there is gone then."""
        config, cache = self.folder / "config" / "qmd", self.folder / "cache" / "qmd"
        atomic.refuse_link(cache / f"{INDEX}.sqlite")
        named = {
            name: {"path": str(one.folder), "pattern": one.pattern} for name, one in self.collections.items()
        }
        # The mark tells qmd to read them, and not what an index from elsewhere holds of them.
        content = json.dumps({"mark": machine_mark(), "collections": named}).encode()  # which is YAML
        file = config / f"{INDEX}.yml"
        before = atomic.read(file, root=self.root)
        if content != before:
            for folder in (config, cache):
                atomic.make_folders(folder, self.root, private=True)
            atomic.replace(file, content, before, mode=PRIVATE_FILE, root=self.root)
        if self.settings.search_mode != "search":
            _share_models(cache / "models")
        variables = {name: value for name, value in os.environ.items() if not name.startswith("QMD_")}
        variables.pop("INDEX_PATH", None)  # which would name another index
        variables |= {f"XDG_{kind.upper()}_HOME": str(self.folder / kind) for kind in ("config", "cache")}
        line = [self.settings.command, *arguments[:1], "--index", INDEX, *arguments[1:]]
        return run_program(line, self.folder, variables | {"NO_COLOR": "1"}, timeout_ms / 1000, progress)


def _share_models(shared: Path) -> None:
    """Share the models that the user downloaded; without any, qmd would begin to download 2 GB."""
    models = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "qmd" / "models"
    if not any(models.glob("*.gguf")):
        todo = "Run 'qmd pull', or set qmd.search_mode to search"
        raise QmdFailed(f"there are no models of qmd in {str(models)!r}", todo=todo)
    if not os.path.lexists(shared):
        shared.symlink_to(models)


def find_qmd(command: str) -> str:
    """Return where the program is."""
    found = find_program(command)
    if found is None:
        todo = "Install it with 'npm install -g @tobilu/qmd', or name it in qmd.command"
        raise QmdFailed(f"the program {command!r} is not there", todo=todo)
    if is_batch_file(found):
        todo = "Name a program in qmd.command, or use the index of Memlines"
        raise QmdFailed(f"{command!r} is a batch file, which cannot be asked safely", todo=todo)
    return found


def run_program(
    line: Sequence[str], folder: Path, variables: Mapping[str, str], seconds: float, progress: Progress
) -> str:
    """Run the program to its end and return what it printed; whatever goes wrong is raised as `QmdFailed`.

    It never outlives the call. `progress` is called while it runs; if that raises, it is killed too.
    """
    name, deadline = f"'qmd {line[1]}'", time.monotonic() + seconds
    program = find_qmd(line[0])
    with TemporaryFile() as output, TemporaryFile() as complaints:
        files = output, complaints
        options: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": output, "stderr": complaints}
        if os.name == "posix":  # what it writes down of the notes is as private as the folder
            with open_folder(folder) as place:
                options["umask"] = 0o007 if place.is_shared else 0o077
        try:  # in a group of its own, which can be killed as a whole
            process = subprocess.Popen(
                [program, *line[1:]], cwd=folder, env=variables, start_new_session=True, **options
            )
        except OSError as error:
            raise QmdFailed(f"{program!r} cannot be run: {reason_of(error)}") from error
        try:
            while process.poll() is None and all(
                os.fstat(file.fileno()).st_size <= _MOST_BYTES for file in files
            ):
                if time.monotonic() >= deadline:
                    raise QmdFailed(f"{name} took longer than {seconds:.3g} seconds")
                with suppress(subprocess.TimeoutExpired):
                    process.wait(_LOOK_SECONDS)
                progress(0, 1, "qmd")
        finally:
            with suppress(ProcessLookupError, PermissionError):  # which is how macOS says that none is left
                if os.name == "posix":  # one that left the group stays
                    os.killpg(process.pid, signal.SIGKILL)
                else:
                    process.kill()
            process.wait()
        for file in files:
            file.seek(0)
        printed, said = (file.read(_MOST_BYTES + 1).decode(errors="replace") for file in files)
    if max(len(printed), len(said)) > MOST_CHARACTERS:
        trouble = f"printed more than {MOST_CHARACTERS:,} characters"
    elif process.returncode:
        reason = said.strip()[-_MOST_QUOTED:] or "it gave no reason"
        trouble = f"ended with code {process.returncode}: {reason}"
    elif printed.strip():
        return printed
    else:
        trouble = "printed nothing"
    raise QmdFailed(f"{name} {trouble}", todo="Try 'qmd doctor'; it needs Node 22 or newer")


def parse_hits(printed: str) -> list[QmdHit]:
    """Return the hits of the first array that has some; raise `QmdFailed` if there is no answer at all."""
    is_answer = _NOTHING.search(printed) is not None
    for bracket in islice(_ARRAY.finditer(printed), _MOST_BRACKETS):
        with suppress(ValueError, RecursionError):  # a bracket that begins no array
            rows, _ = json.JSONDecoder().raw_decode(printed, bracket.start())
            is_answer = True
            hits = [_read_hit(row) for row in rows if isinstance(row, dict)]
            if any(hits):
                return [hit for hit in hits if hit is not None]
    if is_answer:
        return []
    raise QmdFailed(f"qmd printed something else than hits: {printed.strip()[:80]!r}")


def _read_hit(row: Mapping[str, Any]) -> QmdHit | None:
    """Return a hit, or nothing if it names no file of a collection, or one that no file can have as its name.

    It is at the line that it names, else at those above its snippet, else at as many as that has.
    """
    named = _FILE.fullmatch(str(row.get("file")))
    if named is None or _UNUSABLE.search(named[2]):
        return None
    score, first, snippet = row.get("score"), row.get("line"), str(row.get("snippet", ""))
    count = 1
    if type(first) is not int or first < 1:
        header = _HEADER.match(snippet)
        begin, count = map(int, header.groups()) if header else (1, snippet.count("\n") + 1)
        first = max(1, begin)
    likely = max(0.0, min(score, 1.0)) if isinstance(score, int | float) else 0.0  # NaN too
    return QmdHit(named[1], named[2], first, max(first, first + count - 1), likely)

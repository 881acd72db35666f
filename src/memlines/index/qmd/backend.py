"""The index that qmd keeps of some folders: named, brought up to date, and searched.

Its settings are written by us before every update. What anyone else put there, such as a command that qmd
would run, is gone then.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
import time
from collections.abc import Mapping, Sequence
from itertools import chain, zip_longest
from pathlib import Path
from typing import NamedTuple

from memlines.errors import QmdFailed
from memlines.files import atomic
from memlines.folders import PRIVATE_FILE
from memlines.index.qmd.parse import QmdHit, parse_hits
from memlines.index.qmd.process import run_program
from memlines.locks import WriterLock
from memlines.text.terms import telling_words
from memlines.types import Progress, Source

INDEX = "memlines"
"""The name of the index. With a name, qmd does not look for a `.qmd` folder in the folders above."""

FOLDER = "qmd"
"""Below the private folder, with one folder for each agent."""

_MOST_WORDS, _MOST_ASKED = 12, 4000
_UNUSABLE = re.compile("[\0\ud800-\udfff]")
"""What no argument of a program may hold."""

_MISSING = "Collection not found"


class Collection(NamedTuple):
    """A real folder that qmd indexes, which files in it, and what they hold."""

    folder: Path
    pattern: str
    source: Source


class QmdIndex(NamedTuple):
    """What the program keeps below one folder, in the private part of the workspace at `root`."""

    command: str
    folder: Path
    root: Path
    collections: Mapping[str, Collection]

    def update(self, seconds: float, progress: Progress) -> None:
        """Make the index equal the files; a mark in the settings makes qmd read them again."""
        for part in ("config/qmd", "cache/qmd"):
            atomic.make_folders(self.folder / part, self.root, private=True)
        file = self.folder / "config" / "qmd" / f"{INDEX}.yml"
        listed = {
            name: {"path": str(one.folder), "pattern": one.pattern} for name, one in self.collections.items()
        }
        content = json.dumps({"mark": secrets.token_hex(8), "collections": listed}).encode()  # which is YAML
        before = atomic.read(file, root=self.root)
        atomic.replace(file, content, before, mode=PRIVATE_FILE, root=self.root)
        self._run(["update"], seconds, progress)

    def embed(self, seconds: float, progress: Progress) -> None:
        """Make the vectors that are missing, with models that are on this machine."""
        self._share_models()
        self._run(["embed"], seconds, progress)

    def search(
        self, mode: str, text: str, sources: Sequence[str], count: int, seconds: float, progress: Progress
    ) -> list[QmdHit]:
        """Return what sources hold about a text, best first, in turns so that none crowds out another.

        A collection that qmd lost is added again, once. Only the beginning of a very long text counts.
        By words, qmd finds only what holds all of them. It is asked for all, and for each one, and adds up
        the places in those lists.
        """
        text = " ".join(_UNUSABLE.sub(" ", text[:_MOST_ASKED]).split())
        if not (words := telling_words(text)[:_MOST_WORDS]):
            return []
        deadline, options, asked = time.monotonic() + seconds, ["--no-rerank"], text
        if mode == "search":
            mode, asked = (
                "query",
                "\n".join(f"lex: {one}" for one in dict.fromkeys([" ".join(words), *words])),
            )
        else:
            self._share_models()
            options, asked = [], f"expand: {asked}" if mode == "query" else asked
        names = [
            [name for name, one in self.collections.items() if one.source == source] for source in sources
        ]
        options += [part for name in chain(*names) for part in ("-c", name)]
        arguments = [mode, "--format", "json", "-n", str(count * len(names)), *options, "--", asked]
        try:
            hits = parse_hits(self._run(arguments, seconds, progress))
        except QmdFailed as error:
            if _MISSING not in error.what:
                raise
            self.update(deadline - time.monotonic(), progress)
            hits = parse_hits(self._run(arguments, deadline - time.monotonic(), progress))
        turns = zip_longest(*([hit for hit in hits if hit.collection in some] for some in names))
        return [hit for turn in turns for hit in turn if hit is not None]

    def _run(self, arguments: Sequence[str], seconds: float, progress: Progress) -> str:
        atomic.refuse_link(self.folder / "cache" / "qmd" / f"{INDEX}.sqlite")
        variables = {name: value for name, value in os.environ.items() if not name.startswith("QMD_")}
        variables.pop("INDEX_PATH", None)  # which would name another index
        variables |= {f"XDG_{kind.upper()}_HOME": str(self.folder / kind) for kind in ("config", "cache")}
        named = [*arguments[:1], "--index", INDEX, *arguments[1:]]
        return run_program(self.command, named, self.folder, variables | {"NO_COLOR": "1"}, seconds, progress)

    def _share_models(self) -> None:
        """Share the models that the user downloaded; without any, qmd would begin to download 2 GB."""
        models = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "qmd" / "models"
        if not any(models.glob("*.gguf")):
            todo = "Run 'qmd pull', or set qmd.search_mode to search"
            raise QmdFailed(f"there are no models of qmd in {str(models)!r}", todo=todo)
        if not os.path.lexists(shared := self.folder / "cache" / "qmd" / "models"):
            shared.symlink_to(models)


def lock_of(folder: Path) -> WriterLock:
    """Return the lock for updates of what qmd keeps in a folder, which may be removed while it is held."""
    return WriterLock(folder.with_name(f".{folder.name}.lock"), "the index of qmd")


def remove_indexes(private: Path, wait_seconds: float) -> int:
    """Remove what qmd keeps for every agent, exports too, and return for how many; updates make it again."""
    top = private / FOLDER
    entries = sorted(top.iterdir()) if top.is_dir() and not top.is_symlink() else []
    folders = [entry for entry in entries if entry.is_dir() and not entry.is_symlink()]
    for folder in folders:
        with lock_of(folder).held(wait_seconds):
            shutil.rmtree(folder, ignore_errors=True)  # forgetting looks for what is left, and names it
    return len(folders)

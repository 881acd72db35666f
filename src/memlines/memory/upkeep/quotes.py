"""Compare what an answer quotes with the lines of the notes: an index may lag, or be forged."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from memlines.files.read import read_document, without_private_blocks
from memlines.files.scan import fingerprint_of
from memlines.paths import Workspace, contains
from memlines.settings import Settings
from memlines.text.fact_note import note_path
from memlines.text.words import words_of
from memlines.types import Document, Fingerprint, FoundFile, Hit

_UNKNOWN = Fingerprint(0, 0, 0)

_MOST_KEPT = 200
_LONGEST_KEPT = 50_000
"""How many notes are kept to be compared with again, and the length of one: at most 10 million characters."""


class Quotes:
    """The notes that hits cite, kept while their fingerprints stay the same."""

    def __init__(self, workspace: Workspace, settings: Settings) -> None:
        self._root = workspace.root
        self._settings = settings
        self._facts = note_path(settings.facts.file)
        self._kept: dict[str, tuple[Fingerprint, list[str]]] = {}

    def untrue(self, hits: Iterable[Hit]) -> set[str]:
        """Return the notes that do not hold what hits quote of them."""
        return {hit.path for hit in hits if self.is_true(hit) is False}

    def is_true(self, hit: Hit) -> bool | None:
        """Tell whether the lines that a hit cites hold what it quotes; nothing if they cannot be read.

        A conversation is not compared: what the index holds of it is not what its file holds.
        """
        note = self._note(hit.path) if hit.source == "memory" else None
        if note is None:
            return None
        lines = "\n".join(note[hit.start_line - 1 : hit.end_line])
        if hit.path == self._facts:  # a fact is indexed in its words alone
            from memlines.text.fact_chunks import ENDED  # which takes time to import

            return {*words_of(hit.snippet.partition(ENDED)[0])} <= {*words_of(lines)}
        return hit.snippet in lines or all(line in lines for line in hit.snippet.split("\n"))

    def _note(self, path: str) -> list[str] | None:
        real = os.path.normpath(os.path.join(self._root, path))  # noqa: PTH118 (half of the time this takes)
        kept = self._kept.get(path)
        try:
            if kept and fingerprint_of(os.lstat(real)) == kept[0]:
                return kept[1]
        except OSError:
            return None
        inside = contains(self._root, Path(real))
        root = str(self._root) if inside else ""  # an extra path may pass through links
        file = FoundFile(path, real, "memory", _UNKNOWN, root=root)
        read = read_document(file, self._settings.files.max_bytes)
        if not isinstance(read, Document):
            return None
        lines = without_private_blocks(read.text).split("\n")
        if read.settled and len(read.text) <= _LONGEST_KEPT:
            self._kept[path] = read.fingerprint, lines
            if len(self._kept) > _MOST_KEPT:
                self._kept.pop(next(iter(self._kept)), None)
        return lines

"""Compare what an answer quotes with the lines of the notes: an index may lag, or be forged."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from recollect.files.read import read_document, without_private_blocks
from recollect.paths import Workspace, contains
from recollect.settings import Settings
from recollect.text.fact_note import note_path
from recollect.text.words import words_of
from recollect.types import Document, Fingerprint, FoundFile, Hit

_UNKNOWN = Fingerprint(0, 0, 0)


class Quotes:
    """The notes that some hits cite, each read once."""

    def __init__(self, workspace: Workspace, settings: Settings) -> None:
        self._root = workspace.root
        self._settings = settings
        self._facts = note_path(settings.facts.file)
        self._notes: dict[str, list[str] | None] = {}

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
            from recollect.text.fact_chunks import ENDED  # which takes time to import

            return {*words_of(hit.snippet.partition(ENDED)[0])} <= {*words_of(lines)}
        return hit.snippet in lines or all(line in lines for line in hit.snippet.split("\n"))

    def _note(self, path: str) -> list[str] | None:
        if path not in self._notes:
            real = os.path.normpath(self._root / path)
            inside = contains(self._root, Path(real))
            root = str(self._root) if inside else ""  # an extra path may pass through links
            file = FoundFile(path, real, "memory", _UNKNOWN, root=root)
            read = read_document(file, self._settings.files.max_bytes)
            text = without_private_blocks(read.text) if isinstance(read, Document) else None
            self._notes[path] = None if text is None else text.split("\n")
        return self._notes[path]

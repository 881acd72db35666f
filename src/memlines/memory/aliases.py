"""The note of aliases, `memory/aliases.md`, which a person writes: read it once for each state of it."""

from __future__ import annotations

import os

from memlines.errors import PathError, reason_of
from memlines.files.place import place_of
from memlines.files.read import read_document
from memlines.files.scan import fingerprint_of
from memlines.paths import Workspace
from memlines.text.aliases import PATH, Aliases, parse_aliases
from memlines.types import Fingerprint, FoundFile, Problem

_MOST_BYTES = 100_000
"""A longer note is a mistake: every query is compared with all of it."""

_NONE = Aliases()


class AliasNote:
    """The aliases of a workspace; threads may share one."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._last: tuple[Fingerprint | None, Aliases] = (None, _NONE)

    def read(self) -> Aliases:
        """Return the aliases as they are now; what cannot be read has none, and says why."""
        try:
            place = place_of(self._workspace, PATH)
            fingerprint = fingerprint_of(os.lstat(place.real))
        except (FileNotFoundError, NotADirectoryError):
            return _NONE
        except (PathError, OSError) as error:
            return Aliases(problems=[f"the note cannot be read: {reason_of(error)}"])
        known, aliases = self._last
        if known == fingerprint:
            return aliases
        file = FoundFile(PATH, str(place.real), "memory", fingerprint, root=str(place.root))
        document = read_document(file, _MOST_BYTES)
        if document is None:  # gone since it was looked at
            return _NONE
        if isinstance(document, Problem):
            return Aliases(problems=[f"the note {document.reason}"])
        aliases = parse_aliases(document.text)
        self._last = (document.fingerprint if document.settled else None, aliases)
        return aliases

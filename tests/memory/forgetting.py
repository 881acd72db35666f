"""A workspace with something to forget, and ways to look for traces of it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from memlines import Memory
from memlines.embed.select import Choice
from memlines.memory.notes.candidates import ForgetCandidate
from memlines.memory.notes.forget import remove
from memlines.memory.notes.proof import ForgetReceipt
from memlines.types import SearchResult
from tests.indexes import sync, write
from tests.providers import FakeProvider
from tests.transcripts.records import HEADER, assistant, jsonl, user

SECRET = "The vaultkeeper Quintessa hides xylophones in Lyon"
RARE = [b"vaultkeeper", b"uintessa", b"xylophon"]
DAY = "memory/2026-11-16.md"
BEFORE = "# Day\n\n- 09:00 Bread is baked on Monday\n"
AFTER = "- 17:30 Rain again, and nobody minds\n"
NOTES = {
    DAY: f"{BEFORE}- 14:32 {SECRET}\n{AFTER}",
    "memory/people/anna.md": "# Anna\n\nAnna likes trains and long walks.\n",
}
SESSIONS = {"sources": ["memory", "sessions"]}


class Home:
    """A workspace whose index is made by words and by a provider that needs no model."""

    def __init__(self, folder: Path, settings: dict[str, Any] | None = None) -> None:
        self.folder = folder
        self.given = settings or {}
        self.provider = FakeProvider(by_sentence=True)

    @property
    def memory(self) -> Memory:
        memory = Memory(self.folder, {"facts.store": "index", **self.given})
        memory._manager.choice = Choice("fake", self.provider)
        return memory

    def sync(self, *, force: bool = False) -> None:
        sync(self.folder, self.provider, self.given, force=force)

    def candidates(self, selector: str = "", session: str | None = None) -> tuple[ForgetCandidate, ...]:
        with self.memory as memory:
            return memory.forget_candidates(selector, session=session)

    def forget(self, *selectors: str, session: str | None = None) -> ForgetReceipt:
        chosen = [found for selector in selectors for found in self.candidates(selector)]
        if session is not None:
            chosen.extend(self.candidates(session=session))
        return self.forget_these(chosen)

    def forget_these(self, chosen: Sequence[ForgetCandidate]) -> ForgetReceipt:
        with self.memory as memory:
            return memory.forget(chosen)

    def remove(self, chosen: Sequence[ForgetCandidate]) -> ForgetReceipt:
        """Forget without the search at the end, which would sync."""
        with self.memory as memory:
            return remove(memory._manager, chosen)[0]

    def search(self, query: str) -> SearchResult:
        self.sync()
        with Memory(
            self.folder, {"embeddings.provider": "none", **self.given, "sync.on_search": False}
        ) as memory:
            return memory.search(query, mode="words")

    def traces(self, needles: list[bytes] = RARE, below: str = "") -> list[str]:
        """Return the files of the workspace that hold one of the needles."""
        return sorted(
            path.relative_to(self.folder).as_posix()
            for path in (self.folder / below).rglob("*")
            if path.is_file() and any(needle in path.read_bytes() for needle in needles)
        )

    def text(self, path: str) -> str:
        return (self.folder / path).read_text(encoding="utf-8")


def home_in(workspace: Path) -> Home:
    """Return a workspace whose daily log holds the secret."""
    write(workspace, NOTES)
    made = Home(workspace)
    made.sync()
    return made


def talk_in(workspace: Path) -> Home:
    """Return a workspace with a transcript that holds the secret, too."""
    said = jsonl(
        HEADER,
        user(f"Please remember: {SECRET}. Thanks!"),
        assistant("Noted, I will not tell."),
        user("Which train goes to Ghent?"),
        assistant("The one at eight."),
    )
    write(workspace, {**NOTES, "sessions/s1.jsonl": said})
    made = Home(workspace, SESSIONS)
    made.sync()
    return made

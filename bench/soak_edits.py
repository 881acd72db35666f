"""Edits a workspace as people and programs do: `python -m bench.soak_edits FOLDER SECONDS TIMES`.

At a bounded pace, or so many times as fast, notes are rewritten, appended to, saved by renaming, created,
renamed and deleted, and once a minute fifty at once, as a checkout does. Their number stays near that of the
beginning, and so does the size of each: what grows then is not the text. The counts are printed at the end.
"""

from __future__ import annotations

import json
import random
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from bench.corpus import MEAN_FILE_BYTES, notes

PACE_SECONDS = 0.8
BURST, BURST_EVERY_SECONDS = 50, 60.0
_APPENDED_LINE = "- {number}: the harbour master moved the buoy at {time}.\n"


class Edits:
    """One program that edits, with the notes that it knows of."""

    def __init__(self, root: Path, seed: int) -> None:
        """Take the notes of a workspace; how many there are is kept."""
        self.root = root
        self.randomly = random.Random(seed)
        self.paths = sorted((root / "memory").rglob("*.md"))
        self.wanted = len(self.paths)
        self.texts = notes(10**9, MEAN_FILE_BYTES, seed)
        self.done: Counter[str] = Counter()
        self.kinds: list[tuple[Callable[[], None], int]] = [
            (self.rewrite, 30),
            (self.append, 30),
            (self.save_by_renaming, 15),
            (self.rename, 10),
        ]

    def edit(self) -> None:
        """Do one thing to one note; create or delete so that their number stays near the one wanted."""
        few = self.randomly.random() < 0.5 + (self.wanted - len(self.paths)) / 40
        works = [*self.kinds, (self.create if few else self.delete, 15)]
        work = self.randomly.choices([each for each, _ in works], [share for _, share in works])[0]
        work()
        self.done[work.__name__.replace("_", " ")] += 1

    def rewrite(self) -> None:
        """Write another text over a note, in place."""
        self._any().write_text(self._text(), encoding="utf-8")

    def append(self) -> None:
        """Add a line to a note; one that has grown long starts again."""
        note = self._any()
        if note.stat().st_size > 10 * MEAN_FILE_BYTES:
            note.write_text(self._text(), encoding="utf-8")
        line = _APPENDED_LINE.format(number=self.done.total(), time=time.strftime("%H:%M:%S"))
        with note.open("a", encoding="utf-8") as stream:
            stream.write(line)

    def save_by_renaming(self) -> None:
        """Save as many editors do: under another name first, which is then renamed."""
        note = self._any()
        draft = note.with_name(f".{note.name}.swp")
        draft.write_text(self._text(), encoding="utf-8")
        draft.replace(note)

    def rename(self) -> None:
        """Move a note to another name."""
        number = self.randomly.randrange(len(self.paths))
        self.paths[number] = self.paths[number].replace(self._new_path())

    def create(self) -> None:
        """Write a new note, in a folder that may be new as well."""
        path = self._new_path()
        path.write_text(self._text(), encoding="utf-8")
        self.paths.append(path)

    def delete(self) -> None:
        """Delete a note."""
        self.paths.pop(self.randomly.randrange(len(self.paths))).unlink()

    def _any(self) -> Path:
        return self.randomly.choice(self.paths)

    def _text(self) -> str:
        return next(self.texts)[1]

    def _new_path(self) -> Path:
        folder = self.root / f"memory/edited-{self.randomly.randrange(60):02d}"
        folder.mkdir(exist_ok=True)
        return folder / f"note-{self.done.total():06d}-{self.randomly.randrange(1000):03d}.md"


def main() -> None:
    """Edit for some seconds, and print what was done."""
    root, lasting, times = Path(sys.argv[1]), float(sys.argv[2]), float(sys.argv[3])
    edits = Edits(root, seed=3)
    begin = next_burst = time.monotonic()
    while (now := time.monotonic()) - begin < lasting:
        if now >= next_burst:
            next_burst = now + BURST_EVERY_SECONDS / times
            for _ in range(BURST):
                edits.edit()
        edits.edit()
        time.sleep(edits.randomly.uniform(0, 2 * PACE_SECONDS / times))
    print(json.dumps(edits.done))


if __name__ == "__main__":
    main()

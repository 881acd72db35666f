"""While another process swaps folders for links to the outside, nothing there is read, written or indexed."""

from __future__ import annotations

import ctypes
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memlines.errors import MemlinesError
from memlines.files import erase, history, imported, snapshots
from memlines.files.notes import append
from memlines.files.scan import discover
from memlines.files.snapshots import Said, Snapshot
from memlines.folders import HAS_DESCRIPTORS
from memlines.memory.memory import Memory
from memlines.memory.notes import versions
from memlines.paths import Workspace
from tests.faults.conftest import Tell
from tests.faults.scale import scaled
from tests.note_changes import edit, remove_note, restore_note

SWAPS = scaled(1000, 4000)
SEED = 11

INSIDE, SECRET = "heron", "kestrel"
NOTE, OTHER = "memory/people/anna.md", "memory/plain.md"
EXTRA = "docs/more.md"
SETTINGS = {"embeddings.provider": "none", "extra_paths": ["docs"], "sources": ["memory", "sessions"]}
NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)

SWAP = """\
import ctypes, os, random, sys, time
folder, links, count, seed, *names = sys.argv[1:]
chance = random.Random(int(seed))
exchange_flag, here = 2, -100
libc = ctypes.CDLL(None, use_errno=True)
def exchange(one, other):
    if libc.renameat2(here, os.fsencode(one), here, os.fsencode(other), exchange_flag):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), one)
for number in range(int(count)):
    name = chance.choice(names)
    place, link = os.path.join(folder, name), os.path.join(links, name.replace("/", "-"))
    for longest in (0.0005, 0.003):
        exchange(place, link)
        time.sleep(chance.random() * longest)
"""


def can_exchange() -> bool:
    return sys.platform.startswith("linux") and hasattr(ctypes.CDLL(None), "renameat2")


pytestmark = [
    pytest.mark.promise("P7"),
    pytest.mark.skipif(
        not HAS_DESCRIPTORS or not can_exchange(), reason="a folder cannot be swapped for a link at once here"
    ),
]


def filled(folder: Path, word: str) -> Workspace:
    """Make a workspace in which every line and everything that is kept holds a word."""
    for path in (NOTE, OTHER, EXTRA):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(f"- {word} {path}\n", encoding="utf-8")
    home = Workspace.at(folder)
    edit(home, NOTE, 1, 1, f"- {word} again", f"- {word} {NOTE}")
    append(home, "memory/people/gone.md", f"- {word} gone")
    remove_note(home, "memory/people/gone.md")
    snapshots.save(home, Snapshot("s1", (Said("user", f"{word} said"),), NOW))
    imported.save(home, "talk", transcript(word), lambda _: "other")
    with Memory(folder, SETTINGS) as memory:
        memory.sync()
    return home


def transcript(word: str) -> bytes:
    said = {"type": "message", "message": {"role": "user", "content": f"{word} was said"}}
    return json.dumps(said).encode() + b"\n"


def tree(folder: Path) -> dict[str, tuple[int, int, bytes]]:
    """Return everything below a folder: kind and permissions, time, and content."""
    found = {}
    for path in sorted(folder.rglob("*")):
        info = path.lstat()
        content = path.read_bytes() if path.is_file() else b""
        found[path.relative_to(folder).as_posix()] = (info.st_mode, info.st_mtime_ns, content)
    return found


@contextmanager
def swapping(
    home: Workspace, outside: Path, names: list[str], links: Path
) -> Iterator[subprocess.Popen[bytes]]:
    """Swap folders of a workspace for links to those outside of the same name, again and again."""
    links.mkdir()
    for name in names:
        (links / name.replace("/", "-")).symlink_to(outside / name)
    arguments = [str(home.root), str(links), str(SWAPS), str(SEED), *names]
    with subprocess.Popen([sys.executable, "-c", SWAP, *arguments], stderr=subprocess.PIPE) as process:
        try:
            yield process
        finally:
            process.kill()


Step = Callable[[Workspace, int], object]


def read_note(home: Workspace, number: int) -> str:
    with Memory(home.root, SETTINGS) as memory:
        return memory.read((NOTE, EXTRA)[number % 2]).text


def read_kept(home: Workspace, number: int) -> list[str]:
    texts = [text for _, text in erase.kept_texts(home)]
    return [*texts, erase.kept_text(home, NOTE) or "", *map(str, snapshots.list_all(home).snapshots)]


def write_note(home: Workspace, number: int) -> None:
    append(home, NOTE, f"- {INSIDE} {number}")
    append(home, f"memory/people/new{number % 7}/x.md", f"- {INSIDE} {number}")
    with Memory(home.root, SETTINGS) as memory:
        memory.remember(f"{INSIDE} {number} remembered", to=NOTE, force=True)


def change_note(home: Workspace, number: int) -> None:
    line = (home.root / NOTE).read_text(encoding="utf-8").split("\n")[0]
    edit(home, NOTE, 1, 1, f"- {INSIDE} {number}", line if INSIDE in line else f"- {INSIDE} again")


def remove_and_restore(home: Workspace, number: int) -> None:
    path = f"memory/people/r{number}.md"
    append(home, path, f"- {INSIDE} {number}")
    try:
        item = remove_note(home, path)
    except IndexError:  # the trash is behind a link now, where nothing is listed
        return
    restore_note(home, item)
    erase.erase_lines(home, path, [erase.Lines(1, 1, f"- {INSIDE} {number}")], 10_000)
    erase.erase_note(home, path, "")


def keep(home: Workspace, number: int) -> None:
    for version in history.versions(home, NOTE)[:1]:  # there are none behind a link
        versions.restore_version(home, NOTE, version.name)
    history.scrub(home, f"- {SECRET} again")
    snapshots.save(home, Snapshot("s1", (Said("user", f"{INSIDE} {number}"),), NOW))
    imported.save(home, "talk", transcript(f"{INSIDE} {number}"), lambda _: "part")


def scan(home: Workspace, number: int) -> list[str]:
    discover(home, ("docs",), 10_000)
    with Memory(home.root, SETTINGS) as memory:
        memory.sync()
        return [hit.snippet for hit in memory.search(SECRET)]


NOTES, KEPT = ["memory/people", "memory"], [".memory/history", ".memory/trash"]
OPERATIONS: dict[str, tuple[list[str], list[Step]]] = {
    "reading": ([*NOTES, *KEPT, "docs"], [read_note, read_kept]),
    "writing": (NOTES, [write_note, change_note, remove_and_restore]),
    "keeping": ([*KEPT, ".memory/snapshots", "sessions"], [change_note, remove_and_restore, keep]),
    "scanning": ([*NOTES, "docs", "sessions"], [scan]),
}
"""Which folders are swapped, and what is done meanwhile."""


@pytest.mark.parametrize("operation", OPERATIONS)
def test_a_folder_swapped_for_a_link_leads_nowhere(tmp_path: Path, tell: Tell, operation: str) -> None:
    names, steps = OPERATIONS[operation]
    home, outside = filled(tmp_path / "workspace", INSIDE), filled(tmp_path / "outside", SECRET)
    before = tree(outside.root)
    done = refused = escapes = 0
    with swapping(home, outside.root, names, tmp_path / "links") as process:
        while process.poll() is None:
            for step in steps:
                try:
                    escapes += SECRET in str(step(home, done))
                    done += 1
                except MemlinesError:
                    refused += 1
        errors = process.stderr.read() if process.stderr else b""
    tell(f"races, {operation}: {SWAPS} swaps, {done} calls done, {refused} refused, {escapes} escapes")
    assert (process.returncode, errors) == (0, b"")
    assert done
    assert escapes == 0
    assert tree(outside.root) == before
    held = {path: content for path, (_, _, content) in tree(home.root).items()}
    assert [path for path, content in held.items() if SECRET.encode() in content] == []

"""A thousand folders inside each other stop nothing: what is too deep to be reached is named."""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from memlines import Memory
from tests.admin.backups import back_up, bring_back, bring_in, export, fill
from tests.memories import WORDS_ONLY
from tests.programs import Cli

pytestmark = pytest.mark.promise("P12")

DEPTH = 1_000
NAMES = {"path that fits": "d", "path that is too long": "a-folder-name"}
HERE = "memory/here/here.md"


def nest(folder: Path, name: str, note: bytes) -> None:
    """Make folders inside each other, with a note in the last."""
    handle = os.open(folder, os.O_RDONLY)
    for _ in range(DEPTH):
        os.mkdir(name, dir_fd=handle)
        deeper = os.open(name, os.O_RDONLY, dir_fd=handle)
        os.close(handle)
        handle = deeper
    file = os.open("deep.md", os.O_WRONLY | os.O_CREAT, 0o644, dir_fd=handle)
    os.write(file, note)
    os.close(file)
    os.close(handle)


def remove(folder: Path) -> None:
    """Remove folders that are too deep for what Python removes trees with."""
    subprocess.run(["rm", "-rf", *map(str, folder.iterdir())], check=True)


@pytest.fixture(params=list(NAMES.values()), ids=list(NAMES))
def deep(workspace: Path, request: pytest.FixtureRequest) -> Iterator[Path]:
    if os.mkdir not in os.supports_dir_fd:
        pytest.skip("this system has no descriptors of folders")
    nest(workspace / "memory", request.param, b"The okapi lives below.\n")
    fill(workspace, {HERE: b"The heron waits.\n", "MEMORY.md": b"The gecko sleeps.\n"})
    yield workspace
    remove(workspace.parent)


def test_notes_beside_it_are_found(deep: Path) -> None:
    with Memory(deep, WORDS_ONLY) as memory:
        assert [hit.path for hit in memory.search("heron")] == [HERE]
        report = memory.sync()
        assert {*report.failed} or memory.search("okapi"), "the deepest note is neither found nor named"


def test_commands_survive_it(cli: Cli, deep: Path) -> None:
    for command in ("sync", "status", "doctor", "recall"):
        done = cli(command, "-w", deep, "--json")
        assert done.json, done.err


def test_what_is_kept_may_be_as_deep(cli: Cli, workspace: Path) -> None:
    fill(workspace, {HERE: b"The heron waits.\n"})
    (workspace / ".memory/history").mkdir(parents=True)
    nest(workspace / ".memory/history", "d", b"An older heron.\n")
    try:
        assert cli("doctor", "-w", workspace, "--json").json
        assert cli("forget", f"{HERE}#L1", "--yes", "-w", workspace).code == 0
        assert export(workspace, workspace.parent / "a.zip", everything=True).failed == ()
    finally:
        remove(workspace.parent)


def test_copies_hold_what_can_be_reached_and_name_the_rest(deep: Path, tmp_path: Path) -> None:
    exported = export(deep, tmp_path / "a.zip", everything=True)
    backed_up = back_up(deep, tmp_path / "place", everything=True)
    for done in (exported, backed_up):
        assert bool(done.failed) != (done.files > 2), "the deepest note is neither copied nor named"
    for name in ("imported", "restored"):
        (tmp_path / name).mkdir()
    imported = bring_in(tmp_path / "imported", tmp_path / "a.zip")
    restored = bring_back(tmp_path / "restored", tmp_path / "place")
    assert (len(imported.created), len(restored.created)) == (exported.files, backed_up.files)
    assert (imported.failed, restored.failed) == ((), ())


def test_a_watch_survives_it(deep: Path) -> None:
    stop = threading.Event()
    with Memory(deep, WORDS_ONLY) as memory:
        memory.search("heron")
        watch = threading.Thread(target=memory.watch, args=(stop,))
        watch.start()
        stop.set()
        watch.join(60)
        assert not watch.is_alive()

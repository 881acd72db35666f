"""The doctor compares the files with the index, and finds what is wrong around it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from memlines.admin.doctor import places
from memlines.admin.doctor.examine import examine
from memlines.locks import WriterLock
from memlines.memory.memory import Memory
from tests.admin.doctor import (
    WORDS_ONLY,
    cut_off,
    everything,
    execute,
    finding_of,
    folder_instead,
    look,
    make_synced,
    only,
    repair,
    wrong,
)
from tests.indexes import (
    index_file,
    program,
    settle,
    sync,
    write,
)
from tests.programs import unprivileged_run


@pytest.fixture
def synced(workspace: Path) -> Path:
    """A workspace whose index equals its notes, by words."""
    return make_synced(workspace)


# Files against the index


def test_what_the_next_search_indexes_is_not_wrong(synced: Path) -> None:
    write(synced, {"memory/new.md": "just came\n", "memory/n1.md": "quite another text\n"})
    (synced / "memory" / "n2.md").unlink()
    assert wrong(look(synced)) == []
    by_hand = examine(synced, {**WORDS_ONLY, "sync.on_search": False})
    assert [item.todo for item in wrong(by_hand)] == ["Run 'memlines sync'"] * 3


def test_a_new_file_is_named_and_indexed_by_repair(synced: Path) -> None:
    write(synced, {"memory/new.md": "just came\n"})
    assert finding_of(synced, "files").message == "not in the index yet: memory/new.md"
    assert [done.repair for done in repair(synced).repairs] == ["sync"]
    assert finding_of(synced, "files").message.endswith("as the index knows them")


def test_a_changed_file_is_named(synced: Path) -> None:
    write(synced, {"memory/n1.md": "quite another text\n"})
    assert finding_of(synced, "files").message == "changed since they were indexed: memory/n1.md"


def test_a_file_that_is_gone_is_named(synced: Path) -> None:
    (synced / "memory" / "n1.md").unlink()
    assert finding_of(synced, "files").message == "in the index, but gone from the disk: memory/n1.md"


def test_many_names_are_cut(synced: Path) -> None:
    write(synced, {f"memory/x{number}.md": "new\n" for number in range(9)})
    assert finding_of(synced, "files").message.endswith("x4.md and 4 more")


def forge(file: Path) -> None:
    """Change a note so that neither its size nor its time nor its inode tells."""
    before = file.stat()
    content = bytearray(file.read_bytes())
    content[0] ^= 1
    with file.open("r+b") as stream:
        stream.write(content)
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))


def test_other_content_behind_the_same_fingerprint_is_a_problem(synced: Path) -> None:
    forge(synced / "memory" / "n1.md")
    assert only(look(synced), "contents").repair == "rebuild"


def test_other_content_behind_the_same_fingerprint_is_indexed_by_repair(synced: Path) -> None:
    forge(synced / "memory" / "n1.md")
    assert wrong(repair(synced)) == []


def test_what_is_read_unasked_is_bounded(synced: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memlines.admin.doctor.files._READ_BYTES", 5_000)
    (said,) = [item.message for item in look(synced).findings if item.check == "contents"]
    assert "of 25 (--deep reads all)" in said


def test_looking_deep_reads_all(synced: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memlines.admin.doctor.files._READ_BYTES", 5_000)
    forge(synced / "memory" / "n1.md")
    assert wrong(look(synced, deep=True), "contents")


def test_a_file_that_is_no_text_is_a_warning_with_the_reason(synced: Path) -> None:
    binary = synced / "memory" / "binary.md"
    binary.write_bytes(b"a\0b")
    settle(binary)
    sync(synced)
    found = only(look(synced), "skipped")
    assert (found.level, found.message) == ("warning", "memory/binary.md is binary (it holds NUL bytes)")


def test_a_link_is_a_warning_with_the_reason(synced: Path) -> None:
    (synced / "memory" / "link.md").symlink_to("n1.md")
    assert "is a symbolic link" in only(look(synced), "skipped").message


EXAMINE = """
import json, sys
from dataclasses import asdict
from memlines.admin.doctor.examine import examine, examine_and_repair
words = {"embeddings.provider": "none"}
result = examine(sys.argv[1], words)
if "repair" in sys.argv:
    result = examine_and_repair(sys.argv[1], words, progress=lambda *_: None)
print(json.dumps(asdict(result)))
"""


def as_plain_user(workspace: Path, *arguments: str) -> dict[str, list[dict[str, object]]]:
    done = unprivileged_run(EXAMINE, workspace, *arguments)
    assert done.returncode == 0, done.stderr
    result: dict[str, list[dict[str, object]]] = json.loads(done.stdout)
    return result


def test_a_file_that_cannot_be_read_is_a_problem(synced: Path) -> None:
    closed = synced / "memory" / "n1.md"
    write(synced, {"memory/n1.md": "another text\n"})
    closed.chmod(0)
    found = as_plain_user(synced, "repair")["findings"]
    assert [item["message"] for item in found if item["level"] == "problem"] == [
        "memory/n1.md cannot be read: permission denied"
    ]


def test_a_folder_that_cannot_be_looked_into_is_a_problem(synced: Path) -> None:
    (synced / "memory" / "closed").mkdir(0)
    try:
        found = as_plain_user(synced)["findings"]
    finally:
        (synced / "memory" / "closed").chmod(0o755)
    assert {item["check"] for item in found if item["level"] == "problem"} == {"skipped", "unfinished"}


# Places


def close_all(workspace: Path, mode: int) -> None:
    for folder in (workspace / ".memory", workspace / "memory", workspace):
        folder.chmod(mode)


def test_a_read_only_workspace_is_a_problem_and_still_checked(synced: Path) -> None:
    close_all(synced, 0o555)
    try:
        found = as_plain_user(synced)["findings"]
    finally:
        close_all(synced, 0o755)
    assert {item["check"] for item in found if item["level"] != "ok"} == {"workspace"}
    assert "index" in {item["check"] for item in found}


def test_repair_of_a_read_only_workspace_says_what_prevented_it(synced: Path) -> None:
    write(synced, {"memory/new.md": "just came\n"})
    close_all(synced, 0o555)
    try:
        done = as_plain_user(synced, "repair")["repairs"]
    finally:
        close_all(synced, 0o755)
    assert [(item["repair"], item["done"]) for item in done] == [("permissions", True), ("sync", False)]
    assert "index.sqlite' cannot be written" in str(done[1]["message"])


def test_a_private_folder_that_is_a_link_is_a_problem(synced: Path, tmp_path: Path) -> None:
    (synced / ".memory").rename(tmp_path / "elsewhere")
    (synced / ".memory").symlink_to(tmp_path / "elsewhere")
    assert "is a symbolic link" in only(look(synced), "workspace").message


def test_repair_writes_nothing_through_a_link(synced: Path, tmp_path: Path) -> None:
    (synced / ".memory").rename(tmp_path / "elsewhere")
    (synced / ".memory").symlink_to(tmp_path / "elsewhere")
    execute(synced, "DELETE FROM chunks_fts WHERE rowid = 3")
    before = everything(tmp_path / "elsewhere")
    assert not any(item.done for item in repair(synced).repairs)
    assert everything(tmp_path / "elsewhere") == before


def test_a_file_in_place_of_the_private_folder_is_a_problem(workspace: Path) -> None:
    (workspace / ".memory").write_text("x", encoding="utf-8")
    assert "is not a folder" in only(look(workspace), "workspace").message


def test_a_missing_gitignore_is_a_warning_and_made(synced: Path) -> None:
    (synced / ".memory" / ".gitignore").unlink()
    assert only(look(synced), "workspace").repair == "private"
    assert wrong(repair(synced)) == []


def test_a_gitignore_that_lets_something_through_is_a_warning(synced: Path) -> None:
    (synced / ".memory" / ".gitignore").write_text("*.sqlite\n", encoding="utf-8")
    assert "does not ignore everything" in only(look(synced), "workspace").message


class Room(NamedTuple):
    """What the system says about a disk."""

    total: int
    used: int
    free: int


def usage(free: int) -> Callable[[Path], Room]:
    return lambda folder: Room(10**12, 10**12 - free, free)


@pytest.mark.parametrize(("free", "level"), [(10_000_000, "problem"), (100_000_000, "warning")])
def test_a_disk_with_little_room_is_told(
    synced: Path, monkeypatch: pytest.MonkeyPatch, free: int, level: str
) -> None:
    monkeypatch.setattr("memlines.admin.doctor.places.shutil.disk_usage", usage(free))
    assert only(look(synced), "disk").level == level


def test_an_index_far_larger_than_the_notes_is_a_warning(
    synced: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(places, "_WORTH_SAYING", 1_000)
    execute(synced, "CREATE TABLE swollen AS SELECT zeroblob(10000000)")
    assert "of text" in only(look(synced), "disk").message


def test_a_network_file_system_is_a_warning(
    synced: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mounts = tmp_path / "mounts"
    mounts.write_text(f"/dev/a / ext4 rw 0 0\nserver:/x {tmp_path} nfs4 rw 0 0\n", encoding="utf-8")
    monkeypatch.setattr(places, "_MOUNTS", mounts)
    monkeypatch.setattr("memlines.admin.doctor.places.sys.platform", "linux")
    assert "network file system (nfs4)" in only(look(synced), "disk").message


def test_a_history_above_its_bound_is_a_warning(synced: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memlines.files.history.MAX_BYTES", 10)
    old = synced / ".memory" / "history" / "memory" / "n1.md" / "version.md"
    old.parent.mkdir(parents=True)
    old.write_bytes(b"more than ten bytes")
    assert only(look(synced), "kept").message.startswith("history holds")


# What killed programs left


def test_a_lock_that_somebody_holds_is_named_with_its_holder(synced: Path) -> None:
    with holding(index_file(synced)) as other:
        assert f"held by process {other.pid} since" in only(look(synced), "locks").message


@pytest.mark.parametrize("kind", ["", ".embedding"])
def test_what_another_process_writes_is_not_repaired(synced: Path, kind: str) -> None:
    write(synced, {"memory/new.md": "just came\n"})
    with holding(index_file(synced), kind):
        (done,) = repair(synced).repairs
    assert not done.done
    assert "is being written by process" in done.message


class holding:  # noqa: N801 (reads as a statement)
    """Let another process hold the lock of an index's writers, or another one of it."""

    def __init__(self, index: Path, kind: str = "") -> None:
        lock = index.with_name(f"{index.name}{kind}.lock")
        body = (
            "from pathlib import Path; from memlines.locks import WriterLock\n"
            f"with WriterLock(Path({str(lock)!r})).held(5):\n    print('held', flush=True); input()"
        )
        self._process = subprocess.Popen(program(body), stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def __enter__(self) -> subprocess.Popen[bytes]:
        assert self._process.stdout is not None
        self._process.stdout.readline()
        return self._process

    def __exit__(self, *_: object) -> None:
        self._process.communicate(b"\n")


UNFINISHED = [
    f"memory/.memlines-{'a' * 32}.tmp",
    f".memory/.memlines-{'c' * 32}.tmp",
    f".memory/history/.memlines-{'b' * 32}.tmp",
    ".memory/index.sqlite.rebuild-123",
    ".memory/index.sqlite.vectors.tmp-123",
]


def leave(workspace: Path, name: str) -> Path:
    """Write what a killed writer would have left."""
    left = workspace / name
    left.parent.mkdir(exist_ok=True)
    left.write_text("half", encoding="utf-8")
    return left


@pytest.mark.parametrize("name", UNFINISHED)
def test_an_unfinished_file_is_a_warning_and_removed(synced: Path, name: str) -> None:
    left = leave(synced, name)
    assert left.name in only(look(synced), "unfinished").message
    assert wrong(repair(synced)) == []
    assert not left.exists()


@pytest.mark.parametrize("name", UNFINISHED)
def test_an_unfinished_file_is_left_alone_while_a_writer_is_at_work(synced: Path, name: str) -> None:
    left = leave(synced, name)
    at_work = index_file(synced).with_name("notes.lock" if ".tmp" in name[-4:] else "index.sqlite.lock")
    with WriterLock(at_work).held(0):
        assert wrong(look(synced), "unfinished") == []
    assert left.exists()


def test_a_killed_forget_leaves_nothing_unseen(synced: Path) -> None:
    """A forget that dies while it notes what it removed leaves a file in the private folder itself."""
    kill_while_forgetting(synced, "memory/n1.md#L1-L1")
    assert [path.suffix for path in (synced / ".memory").glob(".memlines-*")] == [".tmp"]
    assert ".memlines-" in only(look(synced), "unfinished").message


@pytest.mark.parametrize("next_use", ["remember", "sync"])
def test_the_next_use_removes_what_a_killed_forget_left(synced: Path, next_use: str) -> None:
    left = leave(synced, f".memory/.memlines-{'c' * 32}.tmp")
    with Memory(synced, WORDS_ONLY) as memory:
        memory.remember("the okapi is shy") if next_use == "remember" else memory.sync()
    assert not left.exists()


FORGET = """
import os, signal
from memlines.files import atomic
from memlines.memory.memory import Memory
def die(source, target, **options):
    os.kill(os.getpid(), signal.SIGKILL)
with Memory(sys.argv[1], {"embeddings.provider": "none"}) as memory:
    chosen = memory.forget_candidates(sys.argv[2])
    os.link = os.replace = os.rename = die
    memory.forget(chosen)
"""


def kill_while_forgetting(workspace: Path, selector: str) -> None:
    """Kill a forget when it is about to give the first file it writes its name."""
    done = subprocess.run([*program(FORGET), str(workspace), selector], check=False)
    assert done.returncode == -signal.SIGKILL


def test_an_index_that_was_set_aside_is_a_warning(synced: Path) -> None:
    cut_off(index_file(synced))
    repair(synced)
    assert "was a damaged index" in only(look(synced), "set-aside").message


def aside(workspace: Path) -> list[Path]:
    return list((workspace / ".memory").glob("index.sqlite.damaged-*"))


def test_repair_leaves_what_was_set_aside(synced: Path) -> None:
    cut_off(index_file(synced))
    repair(synced)
    repair(synced)
    assert aside(synced)


def test_cleaning_deletes_what_was_set_aside(synced: Path) -> None:
    cut_off(index_file(synced))
    repair(synced)
    assert wrong(repair(synced, clean=True)) == []
    assert aside(synced) == []


def test_cleaning_leaves_a_folder_that_was_set_aside(synced: Path) -> None:
    folder_instead(index_file(synced))
    (index_file(synced) / "somebody's.txt").write_text("dear to somebody", encoding="utf-8")
    repair(synced)
    repair(synced, clean=True)
    assert [path.is_dir() for path in aside(synced)] == [True]

"""Reading a note whole, for the index."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlines.files.read import decode, read_document
from memlines.files.scan import discover, fingerprint_of
from memlines.paths import Workspace
from memlines.types import Document, Fingerprint, FoundFile, Problem
from tests.programs import unprivileged_run

LIMIT = 1_000_000
OPEN_FILES = Path("/proc/self/fd")
LONG_AGO_NS = 1_700_000_000 * 10**9

posix = pytest.mark.skipif(os.name == "nt", reason="needs POSIX file types")


@pytest.fixture
def note(workspace: Path) -> Path:
    """A note that was written long ago."""
    path = workspace / "memory" / "a.md"
    settle(path, b"first\nsecond\n")
    return path


def settle(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    os.utime(path, ns=(LONG_AGO_NS, LONG_AGO_NS))


def found(path: Path) -> FoundFile:
    fingerprint = fingerprint_of(path.stat()) if path.exists() else Fingerprint(0, 0, 0)
    return FoundFile("memory/a.md", str(path), "memory", fingerprint)


def document(path: Path) -> Document:
    read = read_document(found(path), LIMIT)
    assert isinstance(read, Document)
    return read


def problem(path: Path, limit: int = LIMIT) -> Problem:
    read = read_document(found(path), limit)
    assert isinstance(read, Problem)
    return read


# Bytes become text.


def test_a_document_is_what_discovery_found(note: Path, workspace: Path) -> None:
    file = discover(Workspace.at(workspace), (), LIMIT).files[0]
    content = b"first\nsecond\n"
    assert read_document(file, LIMIT) == Document(
        "memory/a.md", "memory", content.decode(), hashlib.sha256(content).hexdigest(), file.fingerprint
    )


def test_a_byte_order_mark_is_dropped(note: Path) -> None:
    settle(note, b"\xef\xbb\xbf# Title\n")
    assert document(note).text == "# Title\n"


def test_windows_line_ends_become_plain(note: Path) -> None:
    settle(note, b"one\r\ntwo\r\n")
    assert document(note).text == "one\ntwo\n"


def test_a_lone_carriage_return_stays(note: Path) -> None:
    settle(note, b"one\rtwo")
    assert document(note).text == "one\rtwo"


def test_an_empty_file_is_an_empty_document(note: Path) -> None:
    settle(note, b"")
    assert document(note).text == ""


def test_the_hash_is_of_the_bytes_on_disk(note: Path) -> None:
    settle(note, b"\xef\xbb\xbfone\r\n")
    assert document(note).hash == hashlib.sha256(b"\xef\xbb\xbfone\r\n").hexdigest()


@pytest.mark.parametrize(("before", "line"), [(b"", 1), (b"one\ntwo\n", 3), (b"one\r\n\r\nx ", 3)])
def test_invalid_utf8_is_skipped_and_the_line_is_named(note: Path, before: bytes, line: int) -> None:
    settle(note, before + b"caf\xe9 au lait\n")
    assert problem(note) == Problem("memory/a.md", f"is not valid UTF-8 (line {line})")


@pytest.mark.parametrize("content", [b"\xed\xa0\x80", b"\xc0\xaf", b"\xf5\x80\x80\x80", b"\xe4\xbd"])
def test_near_misses_of_utf8_are_invalid(content: bytes) -> None:
    with pytest.raises(ValueError, match="not valid UTF-8"):
        decode(content)


def test_binary_is_skipped(note: Path) -> None:
    settle(note, b"text\0more")
    assert problem(note) == Problem("memory/a.md", "is binary (it holds NUL bytes)")


@given(st.binary(max_size=200))
def test_bytes_decode_or_the_reason_is_told(content: bytes) -> None:
    try:
        text = decode(content)
    except ValueError as error:
        assert str(error).startswith("is ")  # noqa: PT017 (both outcomes are right)
    else:
        assert "\r\n" not in text


@given(st.text())
def test_any_text_comes_back(text: str) -> None:
    clean = text.replace("\0", "").replace("\r\n", "\n").removeprefix("\ufeff")
    assert decode(clean.encode()) == clean.removeprefix("\ufeff")


# What can happen between finding and reading.


def test_a_file_that_is_gone_is_none(note: Path) -> None:
    file = found(note)
    note.unlink()
    assert read_document(file, LIMIT) is None


def test_a_file_that_grew_above_the_limit_is_skipped(note: Path) -> None:
    reason = "grew above the limit of 1e-05 MB (files.max_bytes)"
    assert problem(note, limit=10) == Problem("memory/a.md", reason)


def test_a_file_of_exactly_the_limit_is_read(note: Path) -> None:
    assert isinstance(read_document(found(note), note.stat().st_size), Document)


def test_a_link_swapped_in_is_not_followed(note: Path, tmp_path: Path) -> None:
    file = found(note)
    (tmp_path / "secret").write_text("secret", encoding="utf-8")
    note.unlink()
    note.symlink_to(tmp_path / "secret")
    read = read_document(file, LIMIT)
    assert isinstance(read, Problem)
    assert read.failed


@posix
def test_a_pipe_swapped_in_does_not_block(note: Path) -> None:
    file = found(note)
    note.unlink()
    os.mkfifo(note)
    assert read_document(file, LIMIT) == Problem(
        "memory/a.md", "cannot be read: not a regular file", failed=True
    )


@posix
def test_a_folder_swapped_in_is_a_failure(note: Path) -> None:
    file = found(note)
    note.unlink()
    note.mkdir()
    assert read_document(file, LIMIT) == Problem(
        "memory/a.md", "cannot be read: not a regular file", failed=True
    )


@pytest.mark.skipif(not OPEN_FILES.exists(), reason="needs a list of open files")
@pytest.mark.parametrize("swap", [Path.mkdir, os.mkfifo, Path.touch])
def test_nothing_stays_open(note: Path, swap: Callable[[Path], object]) -> None:
    file = found(note)
    note.unlink()
    swap(note)
    before = list(OPEN_FILES.iterdir())
    read_document(file, LIMIT)
    assert list(OPEN_FILES.iterdir()) == before


def test_a_file_without_permission_is_a_failure(note: Path) -> None:
    note.chmod(0)
    done = unprivileged_run(
        "import sys\n"
        "from memlines.files.read import read_document\n"
        "from memlines.types import Fingerprint, FoundFile\n"
        "print(read_document(FoundFile('a.md', sys.argv[1], 'memory', Fingerprint(1, 1, 1)), 1000))\n",
        note,
    )
    assert done.stdout.strip() == (
        "Problem(path='a.md', reason='cannot be read: permission denied', failed=True)"
    )


# Fingerprints belong to the bytes.


def test_an_old_file_keeps_its_fingerprint(note: Path) -> None:
    assert document(note).fingerprint == fingerprint_of(note.stat())


@pytest.mark.parametrize(
    ("age_seconds", "trusted"), [(0, False), (1.9, False), (-1.9, False), (2.1, True), (-2.1, True)]
)
def test_a_file_changed_just_now_is_not_trusted_yet(
    note: Path, age_seconds: float, trusted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(time, "time_ns", lambda: LONG_AGO_NS + int(age_seconds * 1e9))
    assert document(note).settled is trusted


class Meddler:
    """Changes a file for real between the two looks that a read takes at it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, change: Callable[[], None], times: int) -> None:
        self.change = change
        self.left = times
        self.looks = 0
        self.fstat = os.fstat
        monkeypatch.setattr(os, "fstat", self.look)

    def look(self, handle: int) -> os.stat_result:
        self.looks += 1
        if self.looks % 2 == 0 and self.left:
            self.left -= 1
            self.change()
        return self.fstat(handle)


def test_a_file_changed_while_it_is_read_is_read_again(note: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Meddler(monkeypatch, lambda: settle(note, b"third and longer\n"), times=1)
    read = document(note)
    assert (read.text, read.fingerprint) == ("third and longer\n", fingerprint_of(note.stat()))


def test_a_file_that_never_rests_is_read_but_not_trusted(note: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def grow() -> None:
        settle(note, note.read_bytes() + b"more\n")

    meddler = Meddler(monkeypatch, grow, times=100)
    settled = document(note).settled
    assert (meddler.looks, settled) == (6, False)

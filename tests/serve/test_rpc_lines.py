"""Lines in and out: bounded, whole, and never a wait for the reader."""

from __future__ import annotations

import io
import os
import threading
import tracemalloc
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlines.serve.rpc.messages import LineWriter, read_lines
from tests.waiting import eventually

BOM = b"\xef\xbb\xbf"


def read(data: bytes, most: int = 10) -> list[bytes | None]:
    return list(read_lines(io.BytesIO(data), most))


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", []),
        (b"one\ntwo\n", [b"one\n", b"two\n"]),
        (b"one\ntwo", [b"one\n", b"two"]),
        (b"one\r\n", [b"one\r\n"]),
        (b"\n\r\n \t \none\n\n", [b"one\n"]),
        (b"0123456789\n", [b"0123456789\n"]),
        (b"0123456789", [b"0123456789"]),
        (b"0123456789A\n", [None]),
        (b"0123456789A", [None]),
        (b"0123456789A\none\n", [None, b"one\n"]),
        (b"x" * 200_000 + b"\none\n", [None, b"one\n"]),
        (b"x" * 200_000, [None]),
        (BOM + b"one\n" + BOM + b"two\n", [b"one\n", BOM + b"two\n"]),
        (BOM + b"\none\n", [b"one\n"]),
    ],
)
def test_lines_are_found(data: bytes, expected: list[bytes | None]) -> None:
    assert read(data) == expected


def says_something(line: bytes) -> bool:
    return bool(line.removeprefix(BOM).strip()) and b"\n" not in line


@given(st.lists(st.binary(min_size=1, max_size=20).filter(says_something)))
def test_each_line_is_given_or_too_long(parts: list[bytes]) -> None:
    wanted = [None if len(part) > 10 else part + b"\n" for part in parts]
    given_back = read(b"".join(part + b"\n" for part in parts))
    assert given_back == [
        part and part.removeprefix(BOM) if at == 0 else part for at, part in enumerate(wanted)
    ]


def test_a_line_that_is_too_long_is_told_before_it_ends() -> None:
    source, sink = os.pipe()
    with os.fdopen(source, "rb") as reader, os.fdopen(sink, "wb", buffering=0) as client:
        client.write(b"x" * 11)
        assert next(read_lines(reader, 10)) is None


class Endless(io.RawIOBase):
    """A line of many bytes that are never all there at once."""

    def __init__(self, total: int) -> None:
        self._left = total

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        count = min(len(buffer), self._left)
        buffer[:count] = b"x" * count
        self._left -= count
        return count


def test_the_rest_of_a_line_that_is_too_long_is_not_kept() -> None:
    reader = io.BufferedReader(Endless(50_000_000))
    tracemalloc.start()
    try:
        assert list(read_lines(reader, 100_000)) == [None]
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 2_000_000


# Writing


class Drops(io.RawIOBase):
    """Takes a few bytes at a time, as a pipe may."""

    def __init__(self) -> None:
        self.taken = b""

    def writable(self) -> bool:
        return True

    def write(self, data: memoryview) -> int:  # type: ignore[override]
        self.taken += bytes(data[:3])
        return min(3, len(data))


class Broken(Drops):
    """What writing to fails."""

    def __init__(self, error: OSError) -> None:
        super().__init__()
        self._error = error

    def write(self, data: memoryview) -> int:  # type: ignore[override]
        raise self._error


def written(sink: Drops, put: Iterable[bytes], **options: int) -> threading.Event:
    lost = threading.Event()
    writer = LineWriter(sink, on_lost=lost.set, **options)  # type: ignore[arg-type]
    for line in put:
        writer.put(line)
    writer.close(30)
    return lost


def test_lines_are_written_whole_and_in_order() -> None:
    sink = Drops()
    written(sink, [b"0123456789\n", b"abc\n"])
    assert sink.taken == b"0123456789\nabc\n"


@pytest.mark.parametrize("error", [BrokenPipeError(), ConnectionResetError(), OSError(28, "No space left")])
def test_a_client_that_cannot_be_written_to_is_lost(error: OSError) -> None:
    assert written(Broken(error), [b"one\n", b"two\n"]).is_set()


def test_a_client_that_left_is_not_complained_about(capsys: pytest.CaptureFixture[str]) -> None:
    written(Broken(BrokenPipeError()), [b"one\n"])
    assert capsys.readouterr().err == ""


def test_a_full_disk_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    written(Broken(OSError(28, "No space left")), [b"one\n"])
    assert capsys.readouterr().err == "memlines: the answers cannot be written: no space left\n"


def test_a_client_that_leaves_too_much_unread_is_lost() -> None:
    assert written(Drops(), [b"x" * 101], most_unread=100).is_set()


def test_what_was_read_does_not_count_as_unread() -> None:
    sink = Drops()
    lost = threading.Event()
    writer = LineWriter(sink, on_lost=lost.set, most_unread=100)  # type: ignore[arg-type]
    for number in range(20):
        writer.put(b"x" * 30)
        eventually(lambda expected=30 * (number + 1): len(sink.taken) == expected)  # type: ignore[misc]
    writer.close(30)
    assert not lost.is_set()

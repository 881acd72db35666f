"""Reads what a GGUF file says about its model, and refuses a file that is damaged.

llama.cpp ends the whole process over some damaged files, so nothing is given to it before
this reader, which only ever raises `ModelFilesError`, has found the file to be complete.
"""

from __future__ import annotations

import hashlib
import os
import stat
import struct
from collections.abc import Callable
from pathlib import Path

from memlines.errors import ModelFilesError, reason_of
from memlines.records import dataclass

PACKAGE = "xllamacpp"
"""The package that brings llama.cpp; it is imported at the first text."""

_MAGIC = b"GGUF"
_VERSIONS = (2, 3)
_HEADER_SIZES = (1 << 20, 1 << 24, 1 << 27)
"""How much of a file is read, in steps: a large vocabulary takes some megabytes."""
_SEEN = 1 << 20
"""How much of the start and of the end of a file goes into its fingerprint."""
_AGAIN = "Download or convert the model again"
_MOST_DIMENSIONS = 4
_DEFAULT_ALIGNMENT = 32
_MOST_DIMS = 65_536
POOLINGS = {0: "none", 1: "mean", 2: "cls", 3: "last", 4: "rank"}

_NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
"""The types of a value that are one number, as `struct` names them."""
_TEXT, _LIST = 8, 9
_SIZE = struct.Struct("<Q")

_BLOCKS = {
    **dict.fromkeys((0, 26), (1, 4)),  # F32 I32
    **dict.fromkeys((1, 25, 30), (1, 2)),  # F16 I16 BF16
    **dict.fromkeys((27, 28), (1, 8)),  # I64 F64
    24: (1, 1),  # I8
    **dict.fromkeys((2, 20), (32, 18)),  # Q4_0 IQ4_NL
    **{3: (32, 20), 6: (32, 22), 7: (32, 24), 8: (32, 34), 9: (32, 40)},  # Q4_1 Q5_0 Q5_1 Q8_0 Q8_1
    **{10: (256, 84), 11: (256, 110), 12: (256, 144), 13: (256, 176), 14: (256, 210)},  # Q2_K to Q6_K
    **{15: (256, 292), 16: (256, 66), 17: (256, 74), 18: (256, 98), 19: (256, 50)},  # Q8_K IQ2_XXS …
    **{21: (256, 110), 22: (256, 82), 23: (256, 136), 29: (256, 56)},  # IQ3_S IQ2_S IQ4_XS IQ1_M
    **{34: (256, 54), 35: (256, 66), 39: (32, 17)},  # TQ1_0 TQ2_0 MXFP4
}
"""How many numbers a block of each type of tensor holds, and how many bytes it takes."""

Value = int | float | bool | str


@dataclass(frozen=True, slots=True)
class Header:
    """What a model's file says about it."""

    dims: int
    """How many numbers a vector has."""
    context: int
    """How many tokens a text may have."""
    pooling: str
    """How the vectors of the tokens become one: `mean`, `cls`, `last`, `rank` or `none`."""


class _TooShort(Exception):
    """The bytes end before the header does."""


class _Damaged(Exception):
    """The bytes are no header; says why."""


def read_header(path: Path) -> Header:
    """Return what a GGUF file says about its model, or raise `ModelFilesError`."""
    try:
        found = path.stat()
        if not stat.S_ISREG(found.st_mode):
            raise unusable(path, "is not a file", todo="Set embeddings.local.model_path to a GGUF file")
        with path.open("rb") as file:
            start = b""
            for limit in _HEADER_SIZES:
                start += file.read(limit - len(start))
                try:
                    return _header_of(start, found.st_size)
                except _TooShort:
                    if len(start) < limit:
                        raise unusable(path, "ends in the middle of its header", todo=_AGAIN) from None
    except FileNotFoundError:
        raise missing_model(path) from None
    except (OSError, ValueError) as error:  # ValueError: a path that no file can have
        raise _unreadable(path, error) from error
    except _Damaged as damage:
        raise unusable(path, str(damage), todo=_AGAIN) from None
    raise unusable(path, f"has a header of more than {_HEADER_SIZES[-1]} bytes", todo=_AGAIN)


def fingerprint_of(path: Path) -> str:
    """Return a hash that differs for another file of the same name, without reading gigabytes."""
    try:
        with path.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(0)
            seen = hashlib.sha256(f"{size} ".encode() + file.read(_SEEN))
            file.seek(max(0, size - _SEEN))
            seen.update(file.read(_SEEN))
    except OSError as error:
        raise _unreadable(path, error) from error
    return seen.hexdigest()


def _unreadable(path: Path, error: OSError | ValueError) -> ModelFilesError:
    problem = f"cannot be read: {reason_of(error)}"
    return unusable(path, problem, todo="Check the path and its permissions")


def missing_model(path: Path) -> ModelFilesError:
    """Return the error that says that a model's file is not there."""
    return unusable(path, "does not exist", todo="Put the file there, or set embeddings.local.model_path")


def unusable(path: Path, problem: str, *, todo: str) -> ModelFilesError:
    """Return the error that says what is wrong with a model's file."""
    return ModelFilesError(f"the local model {str(path)!r} {problem}", todo=todo)


def _header_of(start: bytes, size: int) -> Header:
    """Return what the beginning of a file of this size says."""
    walk = _Walk(start)
    if start[:4] != _MAGIC[: len(start)]:
        raise _Damaged("is not a GGUF file")
    walk.skip(4)
    version = walk.number("I")
    if version not in _VERSIONS:
        raise _Damaged(f"is of GGUF version {version}, not of {_VERSIONS[0]} or {_VERSIONS[-1]}")
    tensors, entries = int(walk.number("Q")), int(walk.number("Q"))
    values = _values(walk, entries)
    alignment = _whole(values, "general.alignment", _DEFAULT_ALIGNMENT, 1 << 20)
    needed = _tensor_bytes(walk, tensors)
    begin = -(-walk.place // alignment) * alignment
    if begin + needed > size:
        raise _Damaged(f"is cut short: it has {size} bytes and needs {begin + needed}")
    architecture = values.get("general.architecture")
    if not isinstance(architecture, str) or not architecture.isprintable():
        raise _Damaged("does not name its architecture")
    inner = _whole(values, f"{architecture}.embedding_length", None, _MOST_DIMS)
    number = values.get(f"{architecture}.pooling_type", 0)
    return Header(
        dims=_whole(values, f"{architecture}.embedding_length_out", inner, _MOST_DIMS),
        context=_whole(values, f"{architecture}.context_length", None, 1 << 31),
        pooling=POOLINGS.get(number, "none") if isinstance(number, int) else "none",
    )


def _whole(values: dict[str, Value], key: str, default: int | None, most: int) -> int:
    value = values.get(key, default)
    if value is None:
        raise _Damaged(f"lacks {key}")
    if not isinstance(value, int) or isinstance(value, bool) or not 0 < value <= most:
        raise _Damaged(f"has a {key} that cannot be")
    return value


def _values(walk: _Walk, count: int) -> dict[str, Value]:
    """Return the entries that hold one value; lists (the vocabulary) are passed over."""
    values: dict[str, Value] = {}
    for _ in range(count):
        key = walk.text()
        kind = int(walk.number("I"))
        if key in values:
            raise _Damaged("says something twice")
        if kind == _TEXT:
            values[key] = walk.text()
        elif kind != _LIST:
            values[key] = walk.number(_letter(kind))
        else:
            kind, length = int(walk.number("I")), int(walk.number("Q"))
            if kind == _TEXT:
                walk.skip_texts(length)
            else:
                walk.skip(length * struct.calcsize(_letter(kind)))
    return values


def _letter(kind: int) -> str:
    if kind not in _NUMBERS:
        raise _Damaged(f"holds a value of the unknown type {kind}")
    return _NUMBERS[kind]


def _tensor_bytes(walk: _Walk, count: int) -> int:
    """Return where the last of the tensors ends, counted from the first."""
    end = 0
    for _ in range(count):
        walk.skip_texts(1)
        dimensions = int(walk.number("I"))
        if dimensions > _MOST_DIMENSIONS:
            raise _Damaged(f"holds a tensor of {dimensions} dimensions")
        numbers = 1
        for _ in range(dimensions):
            numbers *= int(walk.number("Q"))
        kind, offset = int(walk.number("I")), int(walk.number("Q"))
        # Of a type that is newer than this table only the place is known.
        block, size = _BLOCKS.get(kind, (1, 0))
        end = max(end, offset + numbers // block * size)
    return end


class _Walk:
    """Goes through bytes value by value and never past their end."""

    def __init__(self, data: bytes) -> None:
        self.place = 0
        self._data = data

    def number(self, letter: str) -> int | float | bool:
        """Return the next number."""
        begin = self.place
        self.skip(struct.calcsize(letter))
        value: int | float | bool = struct.unpack_from(f"<{letter}", self._data, begin)[0]
        return value

    def text(self) -> str:
        """Return the next text."""
        size = int(self.number("Q"))
        begin = self.place
        self.skip(size)
        try:
            return self._data[begin : self.place].decode("utf-8")
        except UnicodeDecodeError:
            raise _Damaged("holds text that is not UTF-8") from None

    def skip(self, size: int) -> None:
        """Pass over bytes."""
        if size > len(self._data) - self.place:
            raise _TooShort
        self.place += size

    def skip_texts(self, count: int) -> None:
        """Pass over texts; a vocabulary has some hundred thousand, so this is the quickest way."""
        data, place, end = self._data, self.place, len(self._data)
        size_at: Callable[..., tuple[int]] = _SIZE.unpack_from
        try:
            for _ in range(count):
                place += 8 + size_at(data, place)[0]
                if place > end:
                    raise _TooShort
        except struct.error:
            raise _TooShort from None
        self.place = place

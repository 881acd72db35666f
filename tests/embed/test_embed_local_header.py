"""What a GGUF file says about its model, and that no damage to it goes unnoticed or uncaught."""

from __future__ import annotations

import os
import struct
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("gguf")

import gguf

from memlines.embed.local.header import Header, fingerprint_of, read_header
from memlines.errors import ModelFilesError
from tests.embed.gguf import CLS, MEAN


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("headers")


@pytest.fixture(scope="module")
def whole(folder: Path) -> bytes:
    return MEAN.write(folder / "whole.gguf").read_bytes()


@pytest.fixture(scope="module")
def header_size(folder: Path, whole: bytes) -> int:
    """How many bytes come before the tensors."""
    return int(gguf.GGUFReader(folder / "whole.gguf").data_offset)


def test_a_header_says_what_the_model_is(tmp_path: Path) -> None:
    assert read_header(CLS.write(tmp_path / "a.gguf")) == Header(32, 128, "cls")


@pytest.mark.parametrize("pooling", list(gguf.PoolingType))
def test_every_pooling_is_known(tmp_path: Path, pooling: gguf.PoolingType) -> None:
    model = replace(MEAN, pooling=pooling).write(tmp_path / "a.gguf")
    assert read_header(model).pooling == pooling.name.lower()


def test_no_word_about_pooling_is_none(tmp_path: Path) -> None:
    assert read_header(replace(MEAN, pooling=None).write(tmp_path / "a.gguf")).pooling == "none"


def test_a_large_vocabulary_is_passed_over(tmp_path: Path) -> None:
    writer = gguf.GGUFWriter(tmp_path / "a.gguf", "bert")
    writer.add_token_list([f"token{number}" for number in range(200_000)])
    writer.add_embedding_length(48)
    writer.add_context_length(64)
    _write_header(writer)
    assert read_header(tmp_path / "a.gguf").dims == 48


def test_the_length_of_the_vectors_may_differ_from_the_one_inside(tmp_path: Path) -> None:
    writer = gguf.GGUFWriter(tmp_path / "a.gguf", "bert")
    writer.add_embedding_length(48)
    writer.add_uint32("bert.embedding_length_out", 16)
    writer.add_context_length(64)
    _write_header(writer)
    assert read_header(tmp_path / "a.gguf").dims == 16


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "ends in the middle"),
        (b"GG", "ends in the middle"),
        (b"GGUF", "ends in the middle"),
        (b"<html>not found</html>", "not a GGUF file"),
        (b"GGUF" + struct.pack("<IQQ", 1, 0, 0), "version 1"),
        (b"GGUF" + struct.pack(">IQQ", 3, 0, 0), "version 50331648"),
        (b"GGUF" + struct.pack("<IQQ8x", 3, 0, 0), "name its architecture"),
        (b"GGUF" + struct.pack("<IQQ", 3, 2**64 - 1, 2**64 - 1), "ends in the middle"),
        (b"GGUF" + struct.pack("<IQQQ1sI", 3, 0, 1, 1, b"a", 99), "unknown type 99"),
        (b"GGUF" + struct.pack("<IQQQ1sIIQ", 3, 0, 1, 1, b"a", 9, 9, 5), "unknown type 9"),
        (b"GGUF" + struct.pack("<IQQQ1sIQ", 3, 0, 1, 1, b"a", 8, 2**63), "ends in the middle"),
        (b"GGUF" + struct.pack("<IQQQ1sI?Q1sI?", 3, 0, 2, 1, b"a", 7, True, 1, b"a", 7, True), "twice"),
    ],
)
def test_what_is_no_model_is_refused(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "a.gguf").write_bytes(content)
    with pytest.raises(ModelFilesError, match=message):
        read_header(tmp_path / "a.gguf")


def test_a_file_that_lacks_its_last_byte_is_cut_short(tmp_path: Path, whole: bytes) -> None:
    (tmp_path / "a.gguf").write_bytes(whole[:-1])
    with pytest.raises(ModelFilesError, match=rf"cut short: it has {len(whole) - 1} bytes"):
        read_header(tmp_path / "a.gguf")


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelFilesError, match=r"gone\.gguf' does not exist"):
        read_header(tmp_path / "gone.gguf")


def test_a_folder_is_no_model(tmp_path: Path) -> None:
    with pytest.raises(ModelFilesError, match="is not a file"):
        read_header(tmp_path)


def test_a_path_that_no_file_can_have_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelFilesError, match="cannot be read"):
        read_header(tmp_path / "a\0b.gguf")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.gguf")
    with pytest.raises(ModelFilesError, match="is not a file"):
        read_header(tmp_path / "a.gguf")


@given(data=st.data())
def test_a_truncated_file_is_always_refused(folder: Path, whole: bytes, data: st.DataObject) -> None:
    damaged = folder / "truncated.gguf"
    damaged.write_bytes(whole[: data.draw(st.integers(0, len(whole) - 1))])
    with pytest.raises(ModelFilesError):
        read_header(damaged)


@given(data=st.data())
def test_a_changed_header_is_read_or_refused(
    folder: Path, whole: bytes, header_size: int, data: st.DataObject
) -> None:
    places = st.integers(0, header_size - 1)
    content = bytearray(whole)
    for place, value in data.draw(st.dictionaries(places, st.integers(0, 255), min_size=1)).items():
        content[place] = value
    assert _read_or_refused(folder / "changed.gguf", bytes(content))


@given(rest=st.binary())
def test_any_bytes_are_read_or_refused(folder: Path, rest: bytes) -> None:
    assert _read_or_refused(folder / "any.gguf", b"GGUF\x03\0\0\0" + rest)


def test_the_same_file_has_the_same_fingerprint(tmp_path: Path) -> None:
    first, second = MEAN.write(tmp_path / "a.gguf"), MEAN.write(tmp_path / "b.gguf")
    assert fingerprint_of(first) == fingerprint_of(second)


@pytest.mark.parametrize("place", [0, -1])
def test_another_byte_is_another_fingerprint(tmp_path: Path, whole: bytes, place: int) -> None:
    first, second = tmp_path / "a.gguf", tmp_path / "b.gguf"
    content = bytearray(whole)
    first.write_bytes(content)
    content[place] ^= 1
    second.write_bytes(content)
    assert fingerprint_of(first) != fingerprint_of(second)


def _read_or_refused(path: Path, content: bytes) -> bool:
    path.write_bytes(content)
    try:
        return read_header(path).dims > 0
    except ModelFilesError:
        return True


def _write_header(writer: gguf.GGUFWriter) -> None:
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()

"""A search says that notes could not be read, because one of them may hold the answer."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from memlines import Memory
from tests.memories import WORDS_ONLY, words_memory
from tests.programs import unprivileged_run

NOTE = {"heron.md": "The heron stands here.\n"}
ONE = (
    "1 file or folder could not be read, so something may be missing from this answer;"
    " 'memlines doctor' shows which"
)


def test_a_binary_note_is_warned_of_as_long_as_it_is_one(workspace: Path) -> None:
    with words_memory(workspace, {**NOTE, "binary.md": "a\0b"}) as memory:
        warned = [memory.search("heron").warnings for _ in range(2)]
        (workspace / "memory/binary.md").write_text("The kestrel stands there.\n", encoding="utf-8")
        memory.sync()
        assert (warned, memory.search("heron").warnings) == ([(ONE,), (ONE,)], ())


def test_a_note_that_is_too_large_is_warned_of(workspace: Path) -> None:
    with words_memory(workspace, {**NOTE, "large.md": "x" * 2_000}, files__max_bytes=1_000) as memory:
        assert [memory.search("heron").warnings for _ in range(2)] == [(ONE,), (ONE,)]


def test_a_note_that_is_too_large_is_warned_of_where_it_is_the_only_one(workspace: Path) -> None:
    with words_memory(workspace, {"large.md": "x" * 2_000}, files__max_bytes=1_000) as memory:
        assert ONE in memory.search("heron").warnings


def test_a_note_that_may_not_be_read_and_a_folder_that_may_not_be_listed_are_warned_of(
    workspace: Path,
) -> None:
    with words_memory(workspace, {**NOTE, "closed.md": "x", "closed/a.md": "x"}):
        (workspace / "memory/closed.md").chmod(0)
        (workspace / "memory/closed").chmod(0)
    program = (
        "import sys; from memlines.cli.main import run\n"
        "sys.exit(run(['search', 'heron', '--mode', 'words', '--json', '-w', sys.argv[1]]))"
    )
    done = unprivileged_run(program, str(workspace))
    (workspace / "memory/closed").chmod(0o755)
    assert ONE.replace("1 file or folder", "2 files or folders") in json.loads(done.stdout)["warnings"]


@pytest.mark.parametrize("query", ["heron", "source:memory heron"])
def test_a_link_that_is_not_followed_is_not_warned_of(workspace: Path, query: str) -> None:
    with words_memory(workspace, NOTE) as memory:
        (workspace / "memory/link.md").symlink_to(workspace / "memory/heron.md")
        assert memory.search(query).warnings == ()


def test_one_of_the_personal_memory_is_said_to_be_there(workspace: Path) -> None:
    with words_memory(workspace, NOTE) as memory:
        memory.remember("The kestrel is mine.", topic="birds", personal=True)
        assert memory.personal is not None
        (memory.personal.workspace.root / "memory/binary.md").write_bytes(b"a\0b")
    with Memory(workspace, WORDS_ONLY) as memory:
        (warning,) = memory.search("heron").warnings
    assert warning.startswith("1 file or folder of your personal memory could not be read")
    assert "'memlines doctor --personal'" in warning

"""What Memlines does on Windows alone, as far as it can be run elsewhere."""

from __future__ import annotations

import errno
import fcntl
import importlib.util
import os
import stat
import sys
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlines import folders, locks
from memlines.cli import serve
from memlines.clients import client, codex
from memlines.errors import QmdFailed, StoreBusy
from memlines.files import scan
from memlines.files.atomic import read, replace
from memlines.index import qmd
from memlines.serve.rpc.server import Event
from memlines.text.shell import commands_cmd, is_batch_file, join_words, quote_word, split_line

if sys.platform == "win32":
    pytest.skip("there the real thing is tested", allow_module_level=True)

PYTHON = r"C:\Program Files\Python & more\python.exe"


# Command lines


def words_of(line: str) -> list[str]:
    """Return the words that a program of Windows gets, by the rules of Microsoft's C runtime."""
    words: list[str] = []
    at, word, is_quoted = 0, None, False
    while at < len(line):
        slashes = len(line) - at - len(line[at:].lstrip("\\"))
        at += slashes
        is_quote = line[at : at + 1] == '"'
        if slashes:
            word = (word or "") + "\\" * (slashes // 2 if is_quote else slashes)
        if is_quote and slashes % 2:
            word, at = f'{word}"', at + 1
        elif is_quote and is_quoted and line[at + 1 : at + 2] == '"':
            word, at = f'{word}"', at + 2
        elif is_quote:
            word, is_quoted, at = word or "", not is_quoted, at + 1
        elif line[at : at + 1] in (" ", "\t") and not is_quoted:
            words, word, at = [*words, *([] if word is None else [word])], None, at + 1
        elif at < len(line):
            word, at = (word or "") + line[at], at + 1
    return [*words, *([] if word is None else [word])]


texts = st.text(st.characters(exclude_characters="\0\r\n", exclude_categories=["Cs"]))


@given(st.lists(texts | st.text('a"\\ &%', max_size=8)))
def test_a_program_gets_the_words_that_were_quoted(words: list[str]) -> None:
    assert words_of(join_words(words, windows=True)) == words


@given(texts | st.text('a"\\ &|', max_size=8))
def test_cmd_finds_no_command_in_a_quoted_word(word: str) -> None:
    outside = quote_word(word, windows=True).split('"')[::2]
    assert not any(commands_cmd(part) for part in outside)


@pytest.mark.parametrize(
    ("word", "quoted"),
    [
        ("memory/db.md", "memory/db.md"),
        ("C:\\notes\\größe.md", "C:\\notes\\größe.md"),
        ("a b's.md", '"a b\'s.md"'),
        ("C:\\my notes\\", '"C:\\my notes\\\\"'),
        ("", '""'),
        ("R&D.md", '"R&D.md"'),
    ],
)
def test_a_word_is_quoted_only_where_cmd_needs_it(word: str, quoted: str) -> None:
    assert quote_word(word, windows=True) == quoted


def test_an_editor_of_windows_may_have_spaces_in_its_path() -> None:
    line = '"C:\\Program Files\\Code\\Code.exe" --wait -g'
    assert split_line(line, windows=True) == ["C:\\Program Files\\Code\\Code.exe", "--wait", "-g"]


def test_only_windows_has_batch_files() -> None:
    assert [is_batch_file(name, windows=True) for name in ("C:\\x\\QMD.CMD", "a.bat", "a.exe")] == [1, 1, 0]
    assert not is_batch_file("/usr/bin/qmd.cmd", windows=False)


def test_no_question_is_given_to_a_batch_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(qmd, "is_batch_file", partial(is_batch_file, windows=True))
    monkeypatch.setattr(qmd, "find_program", lambda _: "C:\\npm\\qmd.cmd")
    with pytest.raises(QmdFailed, match="batch file"):
        qmd.find_qmd("qmd")


# Hooks


def test_the_hooks_of_codex_start_by_the_rules_of_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "sys", SimpleNamespace(platform="win32", executable=PYTHON))
    monkeypatch.setattr(client, "home_in_use", lambda: r"D:\my memory")
    monkeypatch.setattr(codex, "join_words", partial(join_words, windows=True))
    groups = codex.hooks()["hooks"]
    for event, [group] in groups.items():
        [hook] = group["hooks"]
        wanted = [PYTHON, "-P", "-m", "memlines", "hook", "codex", event, r"D:\my memory"]
        assert words_of(hook["command"]) == wanted
        assert codex._is_our_hook(("hooks", event, 0, "hooks", 0), hook)


def test_a_hook_by_the_rules_of_another_shell_is_known_as_ours() -> None:
    command = f"'{PYTHON}' -P -m memlines hook codex Stop"  # as earlier versions wrote it
    assert codex._is_our_hook(("hooks", "Stop", 0, "hooks", 0), {"type": "command", "command": command})


# Files


def in_use(number: int) -> PermissionError:
    """Return the error of Windows with a number."""
    error = PermissionError(errno.EACCES, "in use")
    vars(error)["winerror"] = number
    return error


def failing(times: int, error: OSError, act: Callable[..., None]) -> Callable[..., None]:
    """Return a call of the system that fails so many times."""
    left = [error] * times

    def call(*arguments: Any, **options: Any) -> None:
        if left:
            raise left.pop()
        act(*arguments, **options)

    return call


@pytest.mark.parametrize("number", [5, 32, 33])
def test_a_note_that_another_program_reads_is_replaced_a_moment_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    (tmp_path / "a.md").write_bytes(b"old")
    monkeypatch.setattr(folders, "_PAUSES", (0.0,) * 3)
    monkeypatch.setattr(os, "replace", failing(3, in_use(number), os.replace))
    replace(tmp_path / "a.md", b"new", expected=b"old", root=tmp_path)
    assert read(tmp_path / "a.md", root=tmp_path) == b"new"


@pytest.mark.parametrize("error", [in_use(32), PermissionError(errno.EACCES, "closed")])
def test_a_note_that_stays_in_use_is_left_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: PermissionError
) -> None:
    (tmp_path / "a.md").write_bytes(b"old")
    monkeypatch.setattr(folders, "_PAUSES", (0.0,) * 3)
    monkeypatch.setattr(os, "replace", failing(4, error, os.replace))
    with pytest.raises(PermissionError):
        replace(tmp_path / "a.md", b"new", expected=b"old", root=tmp_path)
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [b"old"]


def test_a_listed_file_has_the_fingerprint_of_the_open_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scan, "_LISTS_INODES", False)
    listed, opened = (
        os.stat_result((0o100644, inode, 0, 1, 0, 0, 5, 0, 0, 0), {"st_mtime_ns": 7}) for inode in (0, 4711)
    )
    assert scan.fingerprint_of(listed) == scan.fingerprint_of(opened)


@pytest.mark.parametrize(
    ("tag", "is_link"),
    [
        (0xA000000C, True),  # a symbolic link
        (0xA0000003, True),  # a junction
        (0x9000301A, False),  # a file that OneDrive keeps
        (0x80000013, False),  # a file without parts that others hold too
        (0, False),
    ],
)
def test_a_file_of_a_cloud_is_no_link(tag: int, is_link: bool) -> None:
    info: Any = SimpleNamespace(st_mode=stat.S_IFREG | 0o666, st_reparse_tag=tag)
    assert folders._is_link(info) is is_link


# Locks and signals


@pytest.fixture
def locks_of_windows(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The module of locks as it runs there, over locks that answer like those of Windows."""

    def locking(handle: int, mode: int, count: int) -> None:
        assert count == 1
        try:
            fcntl.flock(handle, mode)
        except BlockingIOError:
            raise PermissionError(errno.EACCES, "Permission denied") from None

    fake: Any = ModuleType("msvcrt")
    fake.locking, fake.LK_NBLCK, fake.LK_UNLCK = locking, fcntl.LOCK_EX | fcntl.LOCK_NB, fcntl.LOCK_UN
    monkeypatch.setitem(sys.modules, "msvcrt", fake)
    monkeypatch.setattr(sys, "platform", "win32")
    spec = importlib.util.spec_from_file_location("locks_of_windows", locks.__file__)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_one_writer_at_a_time(locks_of_windows: ModuleType, tmp_path: Path) -> None:
    first, second = (locks_of_windows.WriterLock(tmp_path / "notes.lock", "a note") for _ in range(2))
    with first.held(0), pytest.raises(StoreBusy, match=f"process {os.getpid()}"), second.held(0):
        pass
    with second.held(0):
        assert second.holder().startswith(f"process {os.getpid()}")


def test_a_server_that_waits_is_woken_for_signals(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serve, "_LOOK_SECONDS", 0.001)
    events: SimpleQueue[Event] = SimpleQueue()
    done = threading.Event()
    waking = threading.Thread(target=serve._wake_often, args=(done, events), daemon=True)
    waking.start()
    assert events.get(timeout=30) is Event.LOOK
    done.set()
    waking.join(30)
    assert not waking.is_alive()

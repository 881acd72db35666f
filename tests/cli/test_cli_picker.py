"""`memlines search -i`: what the screen shows and prints, driven by keys."""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from prompt_toolkit.application import create_app_session
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput

from memlines import Memory
from memlines.cli.picker import Picker
from memlines.errors import StoreBusy
from memlines.types import Hit, SearchResult
from tests.memories import fake_memory, words_memory, write
from tests.programs import MAIN, Cli, environment
from tests.providers import MeaningsProvider
from tests.waiting import eventually

NOTES = {
    "db.md": "# Databases\n\nWe picked Postgres 17 for billing.\n\nThe replicas are in Oslo.\n",
    "cat.md": "The cat Minka sleeps on the billing folder.\n",
}
ESC, CTRL_C, DOWN, ENTER, TAB, CTRL_E, CTRL_U = "\x1b", "\x03", "\x1b[B", "\r", "\t", "\x05", "\x15"


class Screen:
    """A picker whose keys a test presses, and whose screen it reads."""

    def __init__(self, picker: Picker, press: Callable[[str], None]) -> None:
        self.picker = picker
        self.press = press

    @property
    def text(self) -> str:
        """What the screen shows now."""
        screen = self.picker.app.renderer.last_rendered_screen
        if screen is None:
            return ""
        rows = [dict(row) for _, row in sorted(dict(screen.data_buffer).items())]
        return "\n".join("".join(row[at].char for at in sorted(row)).rstrip() for row in rows)

    def type(self, text: str) -> None:
        """Type a query and wait for its answer."""
        self.press(text)
        eventually(lambda: self.picker.asked[0].endswith(text))
        self.wait()

    def wait(self) -> None:
        """Wait until the newest query is answered."""
        eventually(lambda: self.picker.asked == self.picker.answered)

    def shows(self, text: str) -> None:
        """Wait until the screen shows a text."""
        eventually(lambda: text in self.text)


def drive(memory: Memory, steps: Callable[[Screen], None], query: str = "", **options: Any) -> Hit | int:
    """Run the screen of a memory, take steps on it, and return what it was left with."""
    failed: list[BaseException] = []
    with create_pipe_input() as keyboard, create_app_session(input=keyboard, output=DummyOutput()), memory:
        picker = Picker(memory, query, {"mode": "hybrid", **options}, None)

        def take_steps() -> None:
            try:
                eventually(lambda: picker.app.is_running)
                steps(Screen(picker, keyboard.send_text))
            except BaseException as error:  # noqa: BLE001 (raised below)
                failed.append(error)
            finally:
                keyboard.send_text(CTRL_C)  # no more than a key if it was left already

        thread = threading.Thread(target=take_steps)
        thread.start()
        left = picker.run()
        thread.join()
    if failed:
        raise failed[0]
    return left


def leave_with(screen: Screen, key: str) -> None:
    """Press a key that leaves the screen, and wait until it is left."""
    screen.press(key)
    eventually(lambda: not screen.picker.app.is_running)


def test_enter_returns_the_chosen_hit(workspace: Path) -> None:
    def steps(screen: Screen) -> None:
        screen.type("postgres")
        leave_with(screen, ENTER)

    hit = drive(words_memory(workspace, NOTES), steps)
    assert isinstance(hit, Hit)
    assert hit.citation == "memory/db.md#L3-L5"


def test_down_chooses_the_next_hit(workspace: Path) -> None:
    def steps(screen: Screen) -> None:
        screen.type("billing")
        screen.press(DOWN)
        eventually(lambda: screen.picker.chosen == 1)
        assert screen.picker.result is not None
        expected.append(screen.picker.result[1])
        leave_with(screen, ENTER)

    expected: list[Hit] = []
    assert drive(words_memory(workspace, NOTES), steps) == expected[0]


@pytest.mark.parametrize(("key", "code"), [(ESC, 1), (CTRL_C, 130)])
def test_leaving_returns_an_exit_code(workspace: Path, key: str, code: int) -> None:
    assert drive(words_memory(workspace, NOTES), lambda screen: leave_with(screen, key)) == code


def test_a_query_from_the_command_line_is_answered_at_once(workspace: Path) -> None:
    drive(words_memory(workspace, NOTES), lambda screen: screen.shows("memory/db.md#L3"), "postgres")


def test_the_lines_around_the_chosen_hit_are_shown(workspace: Path) -> None:
    def steps(screen: Screen) -> None:
        screen.type("minka")
        screen.shows("   1 The cat Minka sleeps")

    drive(words_memory(workspace, NOTES), steps)


def test_page_down_scrolls_the_lines(workspace: Path) -> None:
    def steps(screen: Screen) -> None:
        screen.type("kestrel")
        screen.shows("   1 the kestrel")
        screen.press("\x1b[6~")
        eventually(lambda: "   1 the kestrel" not in screen.text and "   6 line 6" in screen.text)

    note = "the kestrel nests\n" + "".join(f"line {number}\n" for number in range(2, 60))
    drive(words_memory(workspace, {"k.md": note}), steps)


def test_a_correction_is_said(workspace: Path) -> None:
    def steps(screen: Screen) -> None:
        screen.type("postgers")
        screen.shows("searched instead: postgers → postgres")

    drive(words_memory(workspace, NOTES), steps)


def test_weak_hits_are_said_to_be_unsure(workspace: Path) -> None:
    def steps(screen: Screen) -> None:
        screen.type("which dentist did we see for the folder on Friday?")
        screen.shows("No confident match.")

    drive(words_memory(workspace, NOTES), steps)


def test_finding_nothing_is_said(workspace: Path) -> None:
    def steps(screen: Screen) -> None:
        screen.type("xylophone")
        screen.shows("Nothing in memory answers this.")

    drive(words_memory(workspace, NOTES), steps)


def test_an_empty_query_asks_for_one(workspace: Path) -> None:
    drive(words_memory(workspace, NOTES), lambda screen: screen.shows("Type what you want to find."))


def test_a_note_cannot_command_the_terminal(workspace: Path) -> None:
    def steps(screen: Screen) -> None:
        screen.type("harmful")
        screen.shows("   1 harmful  [2J end")
        assert "\x1b" not in screen.text
        assert "^[" not in screen.text

    drive(words_memory(workspace, {"x.md": "harmful \x1b[2J\u202e end\n"}), steps)


def test_wide_characters_are_shown(workspace: Path) -> None:
    def steps(screen: Screen) -> None:
        screen.type("移行")
        screen.shows("データベースの移行は月曜日です")

    drive(words_memory(workspace, {"j.md": "データベースの移行は月曜日です。\n"}), steps)


class FailingMemory(Memory):
    """A memory whose index is always busy."""

    def search(self, *arguments: Any, **options: Any) -> SearchResult:
        raise StoreBusy("the index is in use", todo="Try again")


def test_an_error_is_shown_and_typing_goes_on(workspace: Path) -> None:
    def steps(screen: Screen) -> None:
        screen.type("postgres")
        screen.shows("the index is in use. Try again")

    assert drive(FailingMemory(workspace, {"embeddings.provider": "none"}), steps) == 130


class SlowMemory(Memory):
    """A memory that answers the first query only when it is let go."""

    go = threading.Event()
    asked: list[str]

    def search(self, query: str, **options: Any) -> SearchResult:
        self.asked.append(query)
        if len(self.asked) == 1:
            assert self.go.wait(60)
        return super().search(query, **options)


@pytest.fixture
def slow(workspace: Path) -> Iterator[SlowMemory]:
    write(workspace, NOTES)
    memory = SlowMemory(workspace, {"embeddings.provider": "none"})
    memory.go, memory.asked = threading.Event(), []
    yield memory
    memory.go.set()


def test_the_answer_to_an_older_query_is_dropped(slow: SlowMemory) -> None:
    def steps(screen: Screen) -> None:
        screen.press("minka")
        eventually(lambda: slow.asked)
        screen.press(f"{CTRL_U}postgres")
        eventually(lambda: screen.picker.asked[0] == "postgres")
        slow.go.set()
        screen.wait()
        assert screen.picker.hit is not None
        assert screen.picker.hit.path == "memory/db.md"

    drive(slow, steps)


def test_enter_takes_no_hit_while_searching(slow: SlowMemory) -> None:
    def steps(screen: Screen) -> None:
        screen.press("minka")
        eventually(lambda: slow.asked)
        screen.press(f"{ENTER}!")
        eventually(lambda: screen.picker.asked[0] == "minka!")
        slow.go.set()

    assert drive(slow, steps) == 130


def test_typing_sends_nothing_to_a_service(workspace: Path) -> None:
    provider = MeaningsProvider({"billing": (1, 0, 0, 0)})
    drive(fake_memory(workspace, NOTES, provider), lambda screen: screen.type("billing"))
    assert provider.queries == []


def test_tab_searches_by_meaning_once(workspace: Path) -> None:
    def steps(screen: Screen) -> None:
        screen.type("billing")
        screen.press(TAB)
        eventually(lambda: provider.queries)
        screen.wait()
        screen.type(" folder")

    provider = MeaningsProvider({"billing": (1, 0, 0, 0)})
    drive(fake_memory(workspace, NOTES, provider), steps)
    assert set(provider.queries) == {"billing"}


def test_the_editor_is_opened_at_the_line(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    called = workspace / "called"
    program = workspace / "editor.py"
    code = f"import sys; open({str(called)!r}, 'w', encoding='utf-8').write(repr(sys.argv[1:]))"
    program.write_text(code, encoding="utf-8")
    monkeypatch.setenv("VISUAL", f"'{sys.executable}' '{program}'")

    def steps(screen: Screen) -> None:
        screen.type("postgres")
        screen.press(CTRL_E)
        eventually(lambda: called.exists() and called.read_text(encoding="utf-8"))

    drive(words_memory(workspace, NOTES), steps)
    assert called.read_text(encoding="utf-8") == repr(["+3", str(workspace / "memory/db.md")])


def test_without_an_editor_it_is_said(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def steps(screen: Screen) -> None:
        screen.type("postgres")
        screen.press(CTRL_E)
        screen.shows("no editor is set. Set VISUAL or EDITOR")

    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.delenv("EDITOR", raising=False)
    drive(words_memory(workspace, NOTES), steps)


# As a program


@contextmanager
def on_terminal(
    workspace: Path, stdout: int | None = None, env: Mapping[str, str | None] | None = None
) -> Iterator[tuple[subprocess.Popen[bytes], Callable[[bytes], None], bytearray]]:
    """Start `search -i` on a terminal of its own; yield it, how to type, and what the terminal got so far."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    process = subprocess.Popen(
        # `setsid` alone gives no terminal; opening one does.
        [sys.executable, "-c", f"import os; os.open(os.ttyname(0), os.O_RDWR)\n{MAIN}", "search", "-i"],
        cwd=workspace,
        stdin=theirs,
        stdout=theirs if stdout is None else stdout,
        stderr=theirs,
        env=environment({"TERM": "xterm", "PROMPT_TOOLKIT_NO_CPR": "1", **(env or {})}),
        start_new_session=True,
    )
    os.close(theirs)
    shown = bytearray()

    def read() -> None:
        try:
            while part := os.read(ours, 65_536):
                shown.extend(part)
        except OSError:  # how Linux says that the other end is closed
            pass

    reader = threading.Thread(target=read)
    reader.start()
    try:
        yield process, lambda keys: (os.write(ours, keys), None)[1], shown
    finally:
        process.kill()
        process.wait()
        if process.stdout:
            process.stdout.close()
        reader.join()
        os.close(ours)


def test_enter_prints_the_citation_and_its_lines_on_a_terminal(workspace: Path) -> None:
    write(workspace, NOTES)
    with on_terminal(workspace) as (process, press, shown):
        eventually(lambda: b"Type what you want" in shown)
        press(b"minka")
        eventually(lambda: b"memory/cat.md#L1" in shown)
        del shown[:]
        press(b"\r")
        assert process.wait(60) == 0
        eventually(lambda: b"folder.\r\n" in shown)
        assert b"memory/cat.md#L1" in shown


def test_a_pipe_gets_the_citation_only(workspace: Path) -> None:
    write(workspace, NOTES)
    with on_terminal(workspace, subprocess.PIPE) as (process, press, shown):
        eventually(lambda: b"Type what you want" in shown)
        press(b"minka")
        eventually(lambda: b"memory/cat.md#L1" in shown)
        press(b"\r")
        assert process.wait(60) == 0
        assert process.stdout is not None
        assert process.stdout.read() == b"memory/cat.md#L1\n"


# Refused


def test_without_a_terminal_it_is_refused(cli: Cli, workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    done = cli("search", "-i", "x", "-w", workspace)
    assert (done.code, "needs a terminal" in done.err) == (2, True)


def test_json_is_refused(cli: Cli, workspace: Path) -> None:
    assert cli("search", "-i", "--json", "-w", workspace).json["code"] == "usage"


def test_without_the_package_the_extra_is_named(
    cli: Cli, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Keyboard:
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr(sys, "stdin", Keyboard())
    monkeypatch.setitem(sys.modules, "memlines.cli.picker", None)
    done = cli("search", "-i", "-w", workspace)
    assert (done.code, "pip install 'memlines[interactive]'" in done.err) == (2, True)


def test_a_plain_search_does_not_import_the_package(workspace: Path) -> None:
    write(workspace, NOTES)
    code = f"""\
import sys
from memlines.cli.main import run
run(["search", "postgres", "-w", {str(workspace)!r}])
print("prompt_toolkit" in sys.modules)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=True, env=environment({})
    )
    assert done.stdout.splitlines()[-1] == "False"

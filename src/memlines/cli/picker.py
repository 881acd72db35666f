"""Search as you type, on the whole terminal: the query, its hits, and the lines around the chosen one."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from itertools import chain, pairwise
from typing import Any, TextIO

import click
from prompt_toolkit.application import Application, run_in_terminal
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.key_binding import KeyBindings
from prompt_toolkit.layout import BufferControl, FormattedTextControl, HSplit, Layout, ScrollOffsets, Window
from prompt_toolkit.output import create_output

from memlines.cli.hits import UNSURE
from memlines.cli.main import INTERRUPTED
from memlines.cli.output import counted, harmless, harmless_name, is_terminal
from memlines.errors import MemlinesError, UsageError
from memlines.files.read import resolve_note
from memlines.memory.memory import Memory
from memlines.memory.scopes import list_scopes, owner_of
from memlines.serve.wire import say_changes, say_day
from memlines.text.highlight import Span, make_word_finder
from memlines.text.shell import commands_cmd, is_batch_file, split_line
from memlines.types import Hit, Mode, SearchResult

_PAUSE, _ESCAPE, _LEAVING = 0.06, 0.1, 2.0
"""Seconds without a key until a search begins, until Esc is a key of its own, and to wait when leaving."""

_AROUND, _PAGE = 3, 5
"""Lines shown before those of a hit, and how many are scrolled at a time."""

_SIGNS = {"strong": "■", "likely": "▣", "weak": "□"}
_KEYS = "Enter print · Tab words or hybrid · ^E edit · ↑↓ PgUp PgDn · Esc leave"
_CITATION, _FOUND, _DIM, _ERROR = "ansicyan bold", "ansiyellow bold", "ansibrightblack", "ansired"


def pick(memory: Memory, query: str, options: dict[str, Any]) -> int:
    """Have a hit chosen on the terminal, print it wherever the output goes, and return an exit code."""
    device = "CONOUT$" if os.name == "nt" else "/dev/tty"
    terminal = None if is_terminal(sys.stdout) else open(device, "w", encoding="utf-8")  # noqa: PTH123, SIM115
    hit = Picker(memory, query, options, terminal).run()
    if isinstance(hit, int):
        return hit
    click.secho(harmless_name(hit.citation), fg="cyan")
    if terminal is None:  # else a program reads it, and can get the lines
        click.echo(harmless(memory.read(hit.path, hit.start_line, hit.end_line - hit.start_line + 1).text))
    return 0


class Picker:
    """The screen; keys change what is asked and chosen, and a thread finds it, always the newest."""

    def __init__(self, memory: Memory, query: str, options: dict[str, Any], terminal: TextIO | None) -> None:
        self._memory, self._options, self._terminal = memory, dict(options), terminal
        # A service would get, and count, a query at every pause in its typing.
        is_local = all(one.builtin_vectors for one in list_scopes(memory, []))
        self._is_free = is_local and memory.settings.rerank.provider == "none"
        self.asked: tuple[str, Mode] = ("", self._options.pop("mode"))
        self.answered: tuple[str, Mode] | None = None
        self.result: SearchResult | None = None
        self.chosen = self._scroll = 0
        self._rows: list[StyleAndTextTuples] = []
        self._preview: list[StyleAndTextTuples] = []
        self._previewed: Hit | None = None
        self._changed = threading.Event()
        self._query = Buffer(multiline=False, on_text_changed=lambda _: self._ask())
        self._query.insert_text(query)
        self._ask()
        hits = FormattedTextControl(self._show_hits)
        lines = FormattedTextControl(lambda: [*chain(*self._preview[self._scroll :])])
        parts = [
            Window(BufferControl(self._query), height=1, get_line_prefix=lambda *_: f"{self.asked[1]}> "),
            Window(FormattedTextControl(lambda: [self._state]), wrap_lines=True, dont_extend_height=True),
            Window(hits, dont_extend_height=True, scroll_offsets=ScrollOffsets(bottom=1)),
            Window(char="─", height=1, style=_DIM),
            Window(lines, wrap_lines=True),
            Window(FormattedTextControl([(_DIM, _KEYS)]), wrap_lines=True, dont_extend_height=True),
        ]
        screen = create_output(terminal) if terminal else None
        keys, layout = self._make_keys(), Layout(HSplit(parts))
        self.app = Application[Hit | int](layout, key_bindings=keys, full_screen=True, output=screen)
        self.app.ttimeoutlen = _ESCAPE

    def run(self) -> Hit | int:
        """Show the screen until it is left; return the hit that was chosen, or an exit code."""
        worker = threading.Thread(target=self._work, daemon=True)
        try:
            return self.app.run(pre_run=worker.start)
        finally:
            self._changed.set()
            worker.join(_LEAVING)

    @property
    def hit(self) -> Hit | None:
        """The chosen hit."""
        return self.result[min(self.chosen, len(self.result) - 1)] if self.result else None

    def _work(self) -> None:
        """Find what is asked and read what is chosen, in a thread of its own."""
        try:
            while self._changed.wait() and self.app.is_running:
                self._changed.clear()
                if self.asked != self.answered:
                    time.sleep(_PAUSE)
                    if self._changed.is_set():  # more was typed
                        continue
                    self._search(self.asked)
                if (hit := self.hit) is not self._previewed:
                    self._preview, self._scroll, self._previewed = self._read(hit) if hit else [], 0, hit
                self.app.invalidate()
        except Exception as error:  # noqa: BLE001 (`run` raises it again)
            if self.app.is_running and self.app.loop:
                self.app.loop.call_soon_threadsafe(partial(self.app.exit, exception=error))

    def _search(self, asked: tuple[str, Mode]) -> None:
        def say_progress(completed: int, total: int, label: str) -> None:
            if not self.app.is_running:
                raise RuntimeError("the screen is left")  # which ends the search
            self._state = (_DIM, harmless_name(f"{label} {completed:,} of {total:,}"))
            self.app.invalidate()

        found, state = None, (_DIM, "Type what you want to find.")
        try:
            if asked[0].strip():
                found = self._memory.search(asked[0], mode=asked[1], progress=say_progress, **self._options)
                state = ("", _say(found))
        except MemlinesError as error:
            state = (_ERROR, harmless_name(str(error)))
        if asked == self.asked:  # else a newer query is waiting
            self._rows = [_show_hit(hit) for hit in found or ()]
            self.result, self.chosen, self._state, self.answered = found, 0, state, asked

    def _read(self, hit: Hit) -> list[StyleAndTextTuples]:
        """Return the lines around a hit; those before it are left out if they take all the room."""
        try:
            for first in (max(1, hit.start_line - _AROUND), hit.start_line):
                excerpt = self._memory.read(hit.path, first)
                if excerpt.start + excerpt.lines > hit.end_line:
                    break
        except MemlinesError as error:
            return [[(_ERROR, harmless_name(str(error)))]]
        lines = [line.expandtabs(4) for line in harmless(excerpt.text).split("\n")]
        find = make_word_finder(hit.snippet, hit.why.words)
        if excerpt.lines != len(lines):  # turns of a conversation, each of them one line of its file
            return [_mark(line, find(line)) for line in lines]
        rows: list[StyleAndTextTuples] = []
        for number, line in enumerate(lines, first):
            spans = find(line) if (is_inside := hit.start_line <= number <= hit.end_line) else []
            rows.append([(_DIM, f"{number:>4} "), *_mark(line, spans, "" if is_inside else _DIM)])
        return rows

    def _show_hits(self) -> StyleAndTextTuples:
        shown: StyleAndTextTuples = []
        for at, row in enumerate(self._rows):
            style = " reverse [SetCursorPosition]" if at == self.chosen else ""
            shown += [(part[0] + style, part[1]) for part in row]
        return shown[:-1]  # without the end of the last row

    def _make_keys(self) -> KeyBindings:
        actions: dict[str, Callable[[], object]] = {
            **dict.fromkeys(("up", "c-p"), partial(self._choose, -1)),
            **dict.fromkeys(("down", "c-n"), partial(self._choose, 1)),
            "pageup": partial(self._turn, -_PAGE),
            "pagedown": partial(self._turn, _PAGE),
            "tab": lambda: self._ask("hybrid" if self.asked[1] == "words" else "words"),
            "enter": lambda: self.asked == self.answered and self.hit and self.app.exit(result=self.hit),
            "c-e": partial(run_in_terminal, self._edit),
            "escape": lambda: self.app.exit(result=1),
            "c-c": lambda: self.app.exit(result=INTERRUPTED),
        }
        keys = KeyBindings()
        for key, act in actions.items():
            keys.add(key, eager=True)(lambda _, act=act: act() and None)
        return keys

    def _ask(self, mode: Mode | None = None) -> None:
        """Ask for what is typed now, in another mode if one is given."""
        usual: Mode = self.asked[1] if self._is_free else "words"
        self.asked, self.answered, self._state = (self._query.text, mode or usual), None, (_DIM, "searching…")
        self._changed.set()

    def _choose(self, step: int) -> None:
        self.chosen = max(0, min(self.chosen + step, len(self._rows) - 1))
        self._changed.set()

    def _turn(self, step: int) -> None:
        self._scroll = max(0, min(self._scroll + step, len(self._preview) - 1))

    def _edit(self) -> None:
        """Open the note of the chosen hit at its line, then search again."""
        try:
            editor = split_line(os.environ.get("VISUAL") or os.environ.get("EDITOR") or "")
            if not editor:
                raise UsageError("no editor is set", todo="Set VISUAL or EDITOR")
            editor[0] = shutil.which(editor[0]) or editor[0]  # Windows itself would find programs only
            if hit := self.hit:
                owner, path = owner_of(self._memory, hit.path)
                note, _ = resolve_note(owner.workspace, owner.settings.extra_paths, path)
                if is_batch_file(editor[0]) and commands_cmd(str(note)):
                    raise UsageError("cmd.exe could run the name of this note", todo="Open it yourself")
                subprocess.run([*editor, f"+{hit.start_line}", note], stdout=self._terminal, check=False)
                self._ask()
        except (MemlinesError, OSError, ValueError) as error:
            self._state = (_ERROR, harmless_name(str(error)))


def _say(result: SearchResult) -> str:
    """Say in rows how many hits there are or that none is sure, and what else is to know about them."""
    unsure = UNSURE if result else "Nothing in memory answers this. Try other words."
    state = counted(len(result), "hit") if result.confident else unsure
    rows = [state, say_changes(result.corrections, result.aliases), say_day(result.as_of), *result.warnings]
    return "\n".join(map(harmless_name, filter(None, [*rows, result.unfinished])))


def _show_hit(hit: Hit) -> StyleAndTextTuples:
    """Return the two rows of a hit: how sure it is and where, and its first line with a found word."""
    lines = [line.expandtabs(4).strip() for line in harmless(hit.snippet).split("\n")]
    find = make_word_finder(hit.snippet, hit.why.words)
    line = next((line for line in lines if find(line)), next(filter(None, lines), ""))
    sure, place = f"{_SIGNS[hit.band]} {hit.score:.2f} ", harmless_name(hit.citation)
    return [("", sure), (_CITATION, place), ("", "\n  "), *_mark(line, find(line))]


def _mark(text: str, spans: Sequence[Span], style: str = "") -> StyleAndTextTuples:
    """Return a row of text in a style, with some parts marked as found, and its end."""
    edges = [0, *(edge for span in spans for edge in span), len(text)]
    parts = [text[begin:end] for begin, end in pairwise(edges)]
    return [*((_FOUND if at % 2 else style, part) for at, part in enumerate(parts)), ("", "\n")]

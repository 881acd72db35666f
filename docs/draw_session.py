"""Draw the first commands of the README as a terminal that types them, in an SVG without a script.

python docs/draw_session.py docs/pictures/session.svg

What is typed and answered is the block below "Use it" in README.md, which a test runs. So the picture shows
only what the program really prints. Without animations, such as in print, all lines are there at once.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
_BLOCK = re.compile(r"^## Use it\n.*?^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)

WIDTH, TOP, LEFT, LINE_HEIGHT, CHARACTER = 860, 52, 30, 21, 7.83
MOST_COLUMNS = int((WIDTH - 2 * LEFT) / CHARACTER)

KEY_SECONDS, ANSWER_SECONDS, READ_SECONDS, LAST_SECONDS = 0.025, 0.2, 0.8, 9.0
"""How long a key takes, the answer after the last key, reading a line of it, and the whole at the end."""

STYLE = """
  text { font: 13px ui-monospace, "SF Mono", "Cascadia Code", "DejaVu Sans Mono", Menlo, Consolas, monospace;
         fill: #1f1d1a; white-space: pre }
  .sheet { fill: #fffdf8; stroke: #e2dccf }
  .margin { stroke: #b3361b; stroke-width: 1.5 }
  .dot { fill: #e2dccf }
  .title, .prompt, .note { fill: #6a655c }
  .command { font-weight: 600 }
  .strong { fill: #1d6b45; font-weight: 600 }
  .cited { fill: #2f5fa8 }
  @media (prefers-color-scheme: dark) {
    text { fill: #e9e4d8 }
    .sheet { fill: #1b1d22; stroke: #33353c }
    .margin { stroke: #ff7a5c }
    .dot { fill: #33353c }
    .title, .prompt, .note { fill: #a09a8d }
    .strong { fill: #6fcf97 }
    .cited { fill: #7fb0ff }
  }
  @media (prefers-reduced-motion: reduce) { text { animation: none !important } }
"""

_MARKED = re.compile(r"(?P<strong>\bstrong\b)|(?P<cited>\bmemory/[\w./-]+#L\d+(?:-L\d+)?)|(?P<note>#\s.*$)")


class Line(NamedTuple):
    """A line of the terminal, from when on it is seen, and for how long it is typed."""

    text: str
    begin: float
    typed: float


def read_block() -> list[str]:
    """Return the lines of the block that the picture shows."""
    found = _BLOCK.search((ROOT / "README.md").read_text(encoding="utf-8"))
    if found is None:
        sys.exit('README.md has no ```console block below "## Use it"')
    lines = found[1].splitlines()
    longest = max(lines, key=len)
    if len(longest) > MOST_COLUMNS:
        sys.exit(f"a line of the block is longer than {MOST_COLUMNS} characters: {longest}")
    return lines


def schedule(lines: list[str]) -> Iterator[Line]:
    """Yield each line with its time: commands are typed, answers come at once and are read."""
    now = 0.6
    for at, text in enumerate(lines):
        if text.startswith("$ "):
            now += READ_SECONDS if at else 0.0
            typed = (len(text) - 2) * KEY_SECONDS
            yield Line(text, now, typed)
            now += typed + ANSWER_SECONDS
        else:
            yield Line(text, now, 0.0)
            now += 0.06


def mark(text: str) -> str:
    """Return a line with what matters in it coloured."""
    parts, end = [], 0
    for found in _MARKED.finditer(text):
        parts.append(escape(text[end : found.start()]))
        parts.append(f'<tspan class="{found.lastgroup}">{escape(found[0])}</tspan>')
        end = found.end()
    return "".join([*parts, escape(text[end:])])


def draw_line(at: int, line: Line, total: float) -> tuple[str, str]:
    """Return the key frames and the element of a line: uncovered key by key, or at once."""
    begin, end = 100 * line.begin / total, 100 * (line.begin + line.typed) / total
    hidden, shown = "clip-path: inset(-4px 100% -6px 0)", "clip-path: inset(-4px -1% -6px 0)"
    frames = f"@keyframes t{at} {{ 0%, {begin:.2f}% {{ {hidden} }} {end + 0.01:.2f}%, to {{ {shown} }} }}"
    style = f"animation: t{at} {total:.2f}s steps({max(1, len(line.text))}) infinite"
    text = mark(line.text)
    if line.typed:
        text = f'<tspan class="prompt">$ </tspan><tspan class="command">{mark(line.text[2:])}</tspan>'
    return frames, f'<text x="{LEFT}" y="{TOP + at * LINE_HEIGHT}" style="{style}">{text}</text>'


def draw() -> str:
    """Return the whole picture."""
    lines = [*schedule(read_block())]
    total = lines[-1].begin + lines[-1].typed + LAST_SECONDS
    height = TOP + len(lines) * LINE_HEIGHT + 14
    drawn = [draw_line(at, line, total) for at, line in enumerate(lines)]
    return "\n".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img"'
            ' aria-label="A terminal in which notes are remembered and found again with cited lines">',
            f"<style>{STYLE}  {chr(10).join(frames for frames, _ in drawn)}</style>",
            f'<rect class="sheet" x=".5" y=".5" width="{WIDTH - 1}" height="{height - 1}" rx="8"/>',
            f'<line class="margin" x1="18" x2="18" y1="0" y2="{height}"/>',
            *[f'<circle class="dot" cx="{WIDTH - 60 + at * 18}" cy="18" r="5"/>' for at in range(3)],
            f'<text class="title" x="{LEFT}" y="23">~/notes</text>',
            *[text for _, text in drawn],
            "</svg>",
            "",
        )
    )


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python docs/draw_session.py PATH")
    Path(sys.argv[1]).write_text(draw(), encoding="utf-8")

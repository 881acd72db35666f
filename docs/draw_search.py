"""Draw how search works, in three pictures.

python docs/draw_search.py docs/pictures/search-way.svg

The file's name says which picture. The figures are those that the program gives for the questions and notes
below; tests/docs/test_site_search.py asks it again.
"""

from __future__ import annotations

import sys
from html import escape
from pathlib import Path
from typing import NamedTuple

STYLE = """
  text { font: 13px ui-monospace, "SF Mono", "Cascadia Code", "DejaVu Sans Mono", Menlo, Consolas, monospace;
         fill: #1f1d1a; white-space: pre }
  .label { font: 13px system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif; fill: #6a655c }
  .number { fill: #a59e91 } .sheet { fill: #fffdf8; stroke: #e2dccf } .wash { fill: #f2eee4 }
  .mark { fill: #fbe4a5 } .margin { stroke: #b3361b; stroke-width: 1.5 }
  path { stroke: #6a655c; fill: none; stroke-width: 1.3 } .tip { fill: #6a655c; stroke: none }
  .words, .cited { fill: #2f5fa8 } .meaning { fill: #7a3f9d } .days, .likely { fill: #8a5a00 }
  .strong { fill: #1d6b45 } .strong, .likely { font-weight: 600 }
  @media (prefers-color-scheme: dark) {
    text { fill: #e9e4d8 } .label, .tip { fill: #a09a8d } .number { fill: #6d6a63 } path { stroke: #a09a8d }
    .sheet { fill: #1b1d22; stroke: #33353c } .wash { fill: #22242a } .mark { fill: #5b4a12 }
    .margin { stroke: #ff7a5c } .words, .cited { fill: #7fb0ff } .meaning { fill: #c99af0 }
    .days, .likely { fill: #e3b04b } .strong { fill: #6fcf97 }
  }
"""

NOTES = {
    "memory/decisions.md": """\
# Decisions

## Billing
We chose Postgres 17 for billing. MariaDB was close.
""",
    "memory/ops.md": """\
# Ops

- The staging server is at 10.0.4.7, behind the VPN.
- Backups run every night at two.
- If `ERR_1042` appears, restart the queue worker.
""",
    "memory/people.md": """\
# People

- Anna prefers tea and works from Porto.
- Joost leads the mobile team.
""",
    "memory/2026-11-16.md": """\
# 2026-11-16

- Moved the invoices to the new printer queue.
- The plants need water on Thursdays.
""",
}


class Case(NamedTuple):
    """A question, how well the words, the meaning and the day of its first hit fit, and that hit."""

    question: str
    words: float = 0.0
    meaning: float = 0.0
    days: float = 0.0
    score: float = 0.0
    band: str = ""
    citation: str = ""


CASES = (
    Case("which database did billing pick?", 0.45, 0.41, 0, 0.92, "strong", "memory/decisions.md#L4"),
    Case("where does Anna live?", 0.49, 0.33, 0, 0.93, "strong", "memory/people.md#L3-L4"),
    Case("what does ERR_1042 mean?", 0.39, 0.15, 0, 0.75, "likely", "memory/ops.md#L3-L5"),
    Case("¿a qué hora son las copias de seguridad?", 0, 0.25, 0, 0.73, "likely", "memory/ops.md#L3-L5"),
    Case("what happened on 16 November?", 0.38, 0.09, 0.3, 0.9, "strong", "memory/2026-11-16.md#L3-L4"),
    Case("who is our dentist?"),
)
FIRST = CASES[0]


def text(x: float, y: float, content: str, kind: str = "") -> str:
    """Return a line of text."""
    named = f' class="{kind}"' if kind else ""
    return f'<text{named} x="{x:g}" y="{y:g}">{escape(content)}</text>'


def box(x: float, y: float, width: float, height: float, kind: str) -> str:
    """Return a rectangle with round corners."""
    return f'<rect class="{kind}" x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="5"/>'


def arrow(x: float, y: float, to_x: float, to_y: float) -> str:
    """Return an arrow that leaves and arrives from the left."""
    middle = (x + to_x - 9) / 2
    return (
        f'<path d="M{x:g} {y:g} C{middle:g} {y:g} {middle:g} {to_y:g} {to_x - 9:g} {to_y:g}"/>'
        f'<path class="tip" d="M{to_x - 9:g} {to_y - 5:g} l9 5 l-9 5 z"/>'
    )


def bar(x: float, y: float, value: float, kind: str) -> str:
    """Return a bar for a value from 0 to 1, on its track."""
    track = f'<rect class="wash" x="{x:g}" y="{y:g}" width="150" height="9" rx="2"/>'
    return track + f'<rect class="{kind}" x="{x:g}" y="{y:g}" width="{150 * value:.1f}" height="9" rx="2"/>'


def draw_way() -> tuple[int, str, list[str]]:
    """Draw the way from a question to cited lines."""
    rows = [
        ("words", "database · billing · pick", "SQLite FTS5, BM25", FIRST.words),
        ("meaning", "512 numbers", "the nearest vectors", FIRST.meaning),
        ("days", "none is named here", "the days of entries", FIRST.days),
    ]
    parts = [text(12, 22, "1. A question", "label"), box(12, 96, 178, 58, "wash")]
    parts += [text(26, 120, "which database"), text(26, 140, "did billing pick?")]
    parts += [text(232, 22, "2. Three ways to look", "label"), text(486, 22, "3. Evidence", "label")]
    parts.append(text(596, 22, "4. The lines, and how sure they are", "label"))
    for at, (name, asked, by, value) in enumerate(rows):
        top = 36 + at * 66
        parts += [arrow(194, 125, 230, top + 27), box(232, top, 224, 54, "wash")]
        parts += [
            text(246, top + 22, name, name),
            text(312, top + 22, by, "label"),
            text(246, top + 42, asked),
        ]
        parts += [
            text(486, top + 32, f"{value:.2f}" if value else "none", name),
            arrow(524, top + 27, 592, 125),
        ]
    parts += [box(596, 72, 252, 106, "sheet"), '<line class="margin" x1="628" x2="628" y1="72" y2="178"/>']
    parts += [text(640, 96, FIRST.band, FIRST.band), text(700, 96, f"{FIRST.score:.2f}", FIRST.band)]
    parts += [text(640, 117, FIRST.citation, "cited"), box(632, 130, 210, 38, "mark")]
    parts += [
        text(610, 146, "4", "number"),
        text(640, 146, "We chose Postgres 17 for"),
        text(640, 163, "billing. MariaDB was…"),
    ]
    return (
        240,
        "A question is looked for by words, meaning and days, and becomes cited lines",
        parts,
    )


def draw_pieces() -> tuple[int, str, list[str]]:
    """Draw what of a note is indexed, weighed and shown."""
    lines = NOTES["memory/ops.md"].splitlines()
    parts = [text(12, 22, "memory/ops.md", "label"), box(12, 34, 456, 150, "sheet")]
    parts.append('<line class="margin" x1="48" x2="48" y1="34" y2="184"/>')
    parts.append(box(54, 124, 408, 22, "mark"))
    for at, line in enumerate(lines, 1):
        parts += [text(28, 35 + at * 26, f"{at}", "number"), text(60, 35 + at * 26, line)]
    shown = (
        (38, 180, "chunk", "words", "is indexed: about 1,600 characters,", "by its words and by a vector"),
        (90, 172, "hit", "strong", "is what you get: the entry and its", "neighbours, twelve lines at most"),
        (124, 146, "entry", "meaning", "is weighed: a list item, a paragraph,", "a block of code, a turn"),
    )
    for at, (top, bottom, name, kind, first, second) in enumerate(shown):
        x, y = 498 - at * 8, 52 + at * 54
        parts.append(f'<rect class="{kind}" x="{x}" y="{top}" width="3" height="{bottom - top}" rx="1.5"/>')
        parts += [text(524, y, name, kind), text(584, y, first, "label"), text(584, y + 18, second, "label")]
    return 196, "A chunk of a note is indexed, its entries are weighed, a hit is the lines around one", parts


def draw_evidence() -> tuple[int, str, list[str]]:
    """Draw which of words, meaning and days finds the answers to some questions."""
    parts = [text(12, 22, "question", "label"), text(596, 22, "the best hit", "label")]
    parts += [text(x, 22, kind, kind) for x, kind in ((404, "words"), (456, "meaning"), (524, "days"))]
    for at, case in enumerate(CASES):
        top = 36 + at * 52
        parts += [box(12, top, 836, 44, "sheet"), text(26, top + 27, case.question)]
        values = zip(("words", "meaning", "days"), (case.words, case.meaning, case.days), strict=True)
        parts += [bar(404, top + 5 + row * 12, value, kind) for row, (kind, value) in enumerate(values)]
        if case.band:
            parts += [text(596, top + 19, f"{case.score:.2f} {case.band}", case.band)]
            parts.append(text(596, top + 36, case.citation, "cited"))
        else:
            parts.append(text(596, top + 27, "Nothing in memory answers this.", "label"))
    return (
        36 + len(CASES) * 52,
        "Bars of words, meaning and days for some questions, and the hits that follow",
        parts,
    )


PICTURES = {"search-way": draw_way, "search-pieces": draw_pieces, "search-evidence": draw_evidence}


def draw(name: str) -> str:
    """Return the picture with a name."""
    height, label, parts = PICTURES[name]()
    begin = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 860 {height}" role="img" aria-label="{label}">'
    )
    return "\n".join((begin, f"<style>{STYLE}</style>", *parts, "</svg>")) + "\n"


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python docs/draw_search.py PATH")
    file = Path(sys.argv[1])
    file.write_text(draw(file.stem), encoding="utf-8")

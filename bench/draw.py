"""Draws bars and curves as SVG: readable on light and dark pages, without scripts, fonts or dependencies."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

WIDTH, GAP = 880, 28
_STYLE = """
  text { font: 12px system-ui, -apple-system, "Segoe UI", sans-serif; fill: #1f2933 }
  .title { font-size: 16px; font-weight: 600 } .panel { font-size: 13px; font-weight: 600 }
  .small { font-size: 11px; fill: #52606d } .ours { fill: #2c7a7b } .theirs { fill: #9aa5b1 }
  .page { fill: #ffffff } .axis { stroke: #cbd2d9 }
  .line { fill: none; stroke-width: 2 } .limit { stroke-dasharray: 5 4 }
  .c0 { --c: #2c7a7b } .c1 { --c: #b7791f } .c2 { --c: #6b46c1 } .c3 { --c: #c53030 } .c4 { --c: #4a5568 }
  .line, .dot { stroke: var(--c) } .dot, .name { fill: var(--c) }
  @media (prefers-color-scheme: dark) {
    text { fill: #e4e7eb } .small { fill: #9aa5b1 } .page { fill: #0d1117 } .axis { stroke: #3e4c59 }
    .ours { fill: #4fd1c5 } .theirs { fill: #616e7c }
    .c0 { --c: #4fd1c5 } .c1 { --c: #f6ad55 } .c2 { --c: #b794f4 } .c3 { --c: #fc8181 } .c4 { --c: #a0aec0 }
  }
"""


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar: whose it is, how long, and what is written beside it."""

    label: str
    value: float
    shown: str
    ours: bool


@dataclass(frozen=True, slots=True)
class Curve:
    """Points with a name; a limit is drawn dashed, in the colour of what it limits."""

    label: str
    points: Sequence[tuple[float, float]]
    colour: int
    limit: bool = False


def write_bars(target: Path, title: str, note: str, panels: Sequence[tuple[str, Sequence[Bar]]]) -> None:
    """Draw panels of bars in two columns; in each panel the longest bar is as wide as there is room."""
    label, bar, row, heading = 112, 190, 19, 30
    width = (WIDTH - 3 * GAP) / 2
    parts, tops = [], [58.0, 58.0]
    for place, (name, bars) in enumerate(panels):
        column = place % 2
        left, top = GAP + column * (width + GAP), tops[column]
        longest = max(one.value for one in bars)
        parts.append(_text("panel", left, top + 14, name))
        for number, one in enumerate(bars):
            y = top + heading + number * row
            length = max(1.5, bar * one.value / longest)
            kind = "ours" if one.ours else "theirs"
            parts += [
                _text("small", left + label - 8, y + 8, one.label, "end"),
                f'<rect class="{kind}" x="{left + label}" y="{y - 3}" width="{length:.1f}" height="13"/>',
                _text("small", left + label + length + 6, y + 8, one.shown),
            ]
        tops[column] = top + heading + len(bars) * row + 14
    _write(target, title, note, parts, max(tops) + 8)


def write_curves(
    target: Path, title: str, note: str, panels: Sequence[tuple[str, str, Sequence[Curve]]]
) -> None:
    """Draw panels of curves in two columns, both axes logarithmic; each has a name and a unit."""
    width, height, legend = (WIDTH - 3 * GAP) / 2, 170, 15
    parts, tops = [], [58.0, 58.0]
    for place, (name, unit, curves) in enumerate(panels):
        column = place % 2
        left, top = GAP + column * (width + GAP), tops[column]
        parts.append(_text("panel", left, top + 14, f"{name}, {unit}"))
        parts += _axes(curves, left + 46, top + 28, width - 60, height)
        below = top + 28 + height + 34
        for number, curve in enumerate(curves):
            x, y = left + 46 + (number % 2) * (width - 60) / 2, below + number // 2 * legend
            dash = " limit" if curve.limit else ""
            parts.append(
                f'<path class="line c{curve.colour}{dash}" d="M{x:.1f} {y - 4:.1f}h18"/>'
                + _text(f"small name c{curve.colour}", x + 24, y, curve.label)
            )
        tops[column] = below + math.ceil(len(curves) / 2) * legend + 14
    _write(target, title, note, parts, max(tops))


def _axes(curves: Sequence[Curve], left: float, top: float, width: float, height: float) -> Iterable[str]:
    """Draw the decades as a grid, and the curves on it."""
    every = [point for curve in curves for point in curve.points]
    first, last = (edge(math.log10(x) for x, _ in every) for edge in (min, max))
    low = math.floor(min(math.log10(y) for _, y in every))
    high = max(low + 1, math.ceil(max(math.log10(y) for _, y in every)))
    last = max(last, first + 0.1)

    def at(x: float, y: float) -> str:
        across_part = (math.log10(x) - first) / (last - first)
        up = (math.log10(y) - low) / (high - low)
        return f"{left + width * across_part:.1f} {top + height * (1 - up):.1f}"

    for decade in range(low, high + 1):
        y = top + height * (1 - (decade - low) / (high - low))
        yield f'<path class="axis" d="M{left:.1f} {y:.1f}h{width:.1f}"/>'
        yield _text("small", left - 6, y + 4, f"{10.0**decade:g}", "end")
    for decade in range(math.ceil(first - 0.05), math.floor(last + 0.05) + 1):
        x = left + width * (decade - first) / (last - first)
        yield _text("small", x, top + height + 15, f"{10**decade:,}", "middle")
    for curve in curves:
        dash = " limit" if curve.limit else ""
        path = "L".join(at(x, y) for x, y in curve.points)
        yield f'<path class="line c{curve.colour}{dash}" d="M{path}"/>'
        for x, y in curve.points:
            cx, cy = at(x, y).split()
            yield f'<circle class="dot c{curve.colour}" cx="{cx}" cy="{cy}" r="2.5"/>'


def _text(kind: str, x: float, y: float, text: str, anchor: str = "start") -> str:
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def _write(target: Path, title: str, note: str, parts: Iterable[str], height: float) -> None:
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:.0f}" width="{WIDTH}"'
        f' height="{height:.0f}" role="img" aria-label="{escape(title)}">',
        f"<style>{_STYLE}</style>",
        f'<rect class="page" width="{WIDTH}" height="{height:.0f}"/>',
        _text("title", GAP, 28, title),
        _text("small", GAP, 46, note),
        *parts,
        "</svg>\n",
    ]
    target.write_text("\n".join(lines), encoding="utf-8", newline="\n")

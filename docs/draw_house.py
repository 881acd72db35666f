"""Draw the packages and their layers as an SVG, from the import contract in pyproject.toml.

python docs/draw_house.py docs/house.svg

The rows and boxes are the layers of the contract; the text of a box is the first line of its package's
docstring. So the picture cannot say anything that the contract or the code does not.
"""

from __future__ import annotations

import ast
import sys
import textwrap
import tomllib
from html import escape
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
WIDTH, LABEL, GAP, ROW = 1000, 34, 12, 92
LINE_HEIGHT, CHARACTER = 16, 6.3

STYLE = """
  text { font-family: system-ui, -apple-system, "Segoe UI", sans-serif; fill: #1f1d1a }
  .name { font-size: 15px; font-weight: 600 } .does { font-size: 12px; fill: #6a655c }
  .ground .name { font-size: 13px } .layer { font-size: 13px; fill: #a59e91 }
  rect { fill: #fffdf8; stroke: #e2dccf } .ground rect { fill: #f2eee4 }
  @media (prefers-color-scheme: dark) {
    text { fill: #e9e4d8 } .does { fill: #a09a8d } .layer { fill: #6d6a63 }
    rect { fill: #1b1d22; stroke: #33353c } .ground rect { fill: #22242a }
  }
"""


def layers() -> list[list[str]]:
    """Return the packages of each layer of the contract, the highest first."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contract = next(one for one in settings["tool"]["importlinter"]["contracts"] if one["type"] == "layers")
    return [[name.strip() for name in row.replace(":", "|").split("|")] for row in contract["layers"]]


def first_line(name: str) -> str:
    """Return the first line of the docstring of a package or module."""
    module = ROOT / "src" / "memlines" / name
    file = module / "__init__.py" if module.is_dir() else module.with_suffix(".py")
    return (ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or "").split("\n")[0]


def box(name: str, left: float, top: float, width: float) -> str:
    """Return one package as a rectangle with its name and what lives there."""
    lines = textwrap.wrap(first_line(name), int((width - 24) / CHARACTER))[:3]
    words = "".join(
        f'<text class="does" x="{left + 12:g}" y="{top + 42 + at * LINE_HEIGHT:g}">{escape(line)}</text>\n'
        for at, line in enumerate(lines)
    )
    return (
        f'<rect x="{left:g}" y="{top:g}" width="{width:g}" height="{ROW - GAP}" rx="6"/>\n'
        f'<text class="name" x="{left + 12:g}" y="{top + 22:g}">{escape(name)}</text>\n{words}'
    )


def draw() -> str:
    """Return the whole picture."""
    rows = layers()
    height = len(rows) * ROW + GAP
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img"'
        ' aria-label="The packages of Memlines in eight layers">',
        f"<style>{STYLE}</style>",
    ]
    for at, names in enumerate(rows):
        top, layer = GAP + at * ROW, len(rows) - 1 - at
        width = (WIDTH - LABEL - GAP * len(names)) / len(names)
        parts.append(f'<g class="{"house" if layer else "ground"}">')
        parts.append(f'<text class="layer" x="12" y="{top + 22}">{layer}</text>')
        parts += [box(name, LABEL + place * (width + GAP), top, width) for place, name in enumerate(names)]
        parts.append("</g>")
    return "\n".join((*parts, "</svg>")) + "\n"


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python docs/draw_house.py PATH")
    Path(sys.argv[1]).write_text(draw(), encoding="utf-8")

"""Make the site of docs/, whose pages are also read on GitHub: what MkDocs cannot know of this repository.

A page links to files outside docs/ by their relative paths. On the site, the pages of the top folder are
pages too, pictures are copied, and everything else is a link to the repository.
"""

from __future__ import annotations

import os
import re
from functools import partial
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
REPOSITORY = "https://github.com/memlines/memlines"
TOP = {"CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changes.md", "SECURITY.md": "security.md"}
"""Pages of the top folder, and what they are called on the site."""

_FENCED = re.compile(r"^( *```+).*?^\1 *$", re.DOTALL | re.MULTILINE)
_LINK = re.compile(r"(?<=\]\()([^)\s#:]+)(?=[)#])")
_ROW = re.compile(r"^\|.*\|$", re.MULTILINE)
_CODE = re.compile(r"`[^`\n]+`")
_LIST_BELOW_TEXT = re.compile(r"^(?![-#|>\s]|\d+\. )(.+\n)(?=- )", re.MULTILINE)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages of the top folder and the pictures of the benchmarks."""
    for name, page in TOP.items():
        if (ROOT / name).is_file():
            files.append(File.generated(config, page, abs_src_path=str(ROOT / name)))
    for picture in sorted((ROOT / "bench/results").glob("*.svg")):
        files.append(File.generated(config, _picture(picture), abs_src_path=str(picture)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Return a page as MkDocs reads it; blocks of code stay as they are."""
    folder = ROOT if page.file.src_uri in TOP.values() else DOCS
    convert = partial(_convert, folder)
    pieces, end = [], 0
    for block in _FENCED.finditer(markdown):
        pieces += [convert(markdown[end : block.start()]), block[0]]
        end = block.end()
    return "".join([*pieces, convert(markdown[end:])])


def _convert(folder: Path, text: str) -> str:
    """Write text for Python-Markdown, and turn its links to what they name on the site.

    A list needs an empty line above it, and a bar in code must not be escaped in a table.
    """
    text = _LIST_BELOW_TEXT.sub(r"\1\n", text)
    text = _ROW.sub(lambda row: _CODE.sub(lambda code: code[0].replace("\\|", "|"), row[0]), text)
    return _LINK.sub(lambda link: find_on_site(folder, link[1]), text)


def find_on_site(folder: Path, link: str) -> str:
    """Return where on the site, or in the repository, a file is that a page in a folder links to."""
    target = Path(os.path.normpath(folder / link))
    if target.is_relative_to(DOCS):
        return target.relative_to(DOCS).as_posix()
    name = target.relative_to(ROOT).as_posix()
    if name in TOP and target.exists():
        return TOP[name]
    if target.suffix == ".svg":
        return _picture(target)
    return f"{REPOSITORY}/{'tree' if target.is_dir() else 'blob'}/main/{name}"


def _picture(file: Path) -> str:
    return f"pictures/{file.name}"

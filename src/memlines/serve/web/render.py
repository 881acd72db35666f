"""Turn values into HTML: templates, Markdown of notes, found words, and files that pages refer to.

A note is data that anyone may have written. Templates escape every value; Markdown is rendered without HTML
and then cleaned by a second library, so that a mistake in one of them is not enough. Nothing that a note
names is loaded: pictures are links.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date, datetime
from functools import cache
from hashlib import sha256
from importlib import import_module, resources
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from memlines.errors import PathError, UsageError, extra_missing
from memlines.serve.http.listener import Reply
from memlines.text.highlight import make_word_finder
from memlines.text.neutral import CONTROLS, DIRECTION_MARKS
from memlines.types import Hit, cited

if TYPE_CHECKING:
    from jinja2 import Environment
    from markdown_it import MarkdownIt
    from markupsafe import Markup

STATIC = "static"
MOST_RENDERED = 200_000
"""Characters of a note that are rendered as Markdown; of a longer one only the text is shown."""

LONGEST_LINE = 2_000
"""Characters of a line that a page shows; the rest is behind a sign."""

_KINDS = {"css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8", "svg": "image/svg+xml"}
_UNSAFE = re.compile(f"[{CONTROLS}]")
_MARKS = re.compile(f"[{DIRECTION_MARKS}]")
_TAGS = {
    *("p", "br", "hr", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "li", "blockquote", "pre", "code"),
    *("em", "strong", "s", "a", "table", "thead", "tbody", "tr", "th", "td"),
}
_LINKS = {"http", "https", "mailto"}


def need_packages() -> None:
    """Refuse to start without the packages of the extra, naming it."""
    try:
        for package in ("jinja2", "markdown_it", "nh3"):
            import_module(package)
    except ImportError as error:
        raise extra_missing(UsageError, "the page", "web", error.name or "") from error


def render_page(template: str, status: int = 200, /, **values: Any) -> Reply:
    """Return a page made from a template."""
    html = _environment().get_template(template).render(values)
    return Reply(status, html.encode("utf-8", "replace"), "text/html; charset=utf-8")


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    made = Environment(
        loader=PackageLoader("memlines.serve.web"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    made.filters |= {
        "markdown": render_markdown,
        "lines": shorten_lines,
        "found": mark_words,
        "plain": visible_text,
        "url": link_to,
        "day": show_day,
        "sentence": lambda text: text[:1].upper() + text[1:],
        "count": lambda number: f"{number:,}",
    }
    made.globals |= {"asset": asset_address, "folder": "", "name": "", "bare": False, "code": "", "title": ""}
    return made


def visible_text(text: str) -> str:
    """Return a text without what a browser would act on or hide: control characters and direction marks."""
    return _MARKS.sub("", _UNSAFE.sub(" ", text))


def shorten_lines(text: str, first: int = 1) -> list[tuple[int, str, int]]:
    """Return numbered lines, each cut where it is too long to show, and how many characters were cut."""
    lines = visible_text(text).split("\n")
    return [
        (number, line[:LONGEST_LINE], max(0, len(line) - LONGEST_LINE))
        for number, line in enumerate(lines, first)
    ]


def mark_words(line: str, hit: Hit) -> Markup:
    """Return a line of a hit with the words that were found marked."""
    from markupsafe import Markup, escape

    parts, end = [], 0
    for first, last in sorted(make_word_finder(hit.snippet, hit.why.words)(line)):
        parts += [escape(line[end:first]), Markup("<mark>"), escape(line[first:last]), Markup("</mark>")]
        end = last
    return Markup("").join([*parts, escape(line[end:])])


def render_markdown(text: str) -> Markup:
    """Return the HTML of Markdown, without HTML, pictures and links that could run something."""
    import nh3
    from markupsafe import Markup

    html = _markdown().render(visible_text(text))
    attributes = {"a": {"href", "title"}, "ol": {"start"}}
    clean = nh3.clean(
        html, tags=_TAGS, attributes=attributes, url_schemes=_LINKS, link_rel="noopener noreferrer"
    )
    return Markup(clean)


@cache
def _markdown() -> MarkdownIt:
    from markdown_it import MarkdownIt

    made = MarkdownIt("commonmark", {"html": False, "maxNesting": 20})
    return made.enable(["table", "strikethrough"]).disable("image")


def link_to(citation: str) -> str:
    """Return the address of the page that shows what a citation names: a note, or a conversation."""
    lines = cited(citation)
    path, line = (lines[0], lines[1]) if lines else (citation, 0)
    where = f"?line={line}#L{line}" if line else ""
    page = "note" if re.search(r"\.md(@[\d-]+)?$", path) else "sessions"
    return f"/{page}/{quote(path)}{where}"


def show_day(day: date | datetime | str | None) -> str:
    """Return a day as people write it, or a sign for none."""
    if isinstance(day, datetime):
        return f"{day.astimezone():%Y-%m-%d %H:%M}"
    return str(day or "no date")


@cache
def read_asset(name: str) -> bytes:
    """Return a file that pages refer to."""
    if name not in ("page.css", "page.js", "export.js", "icon.svg"):
        raise PathError(f"there is no file {name[:60]!r}", todo="Open the page again")
    return resources.files("memlines.serve.web").joinpath(STATIC, name).read_bytes()


@cache
def asset_address(name: str) -> str:
    """Return the address of a file, which changes with its content."""
    return f"/{STATIC}/{name}?v={sha256(read_asset(name)).hexdigest()[:12]}"


def static_file(name: str) -> Reply:
    """Return a file that pages refer to; it may be kept for as long as its address is used."""
    try:
        content = read_asset(name)
    except PathError:
        return Reply(404, b"There is no such file.", "text/plain")
    return Reply(
        200, content, _KINDS[name.rpartition(".")[2]], {"Cache-Control": "max-age=31536000, immutable"}
    )


def split_diff(diff: str) -> Sequence[tuple[str, str]]:
    """Return the lines of a unified diff, each with what it is: added, removed, hunk or same."""
    kinds = {"+": "added", "-": "removed", "@": "hunk"}
    lines = diff.split("\n")[2:]  # the first two name the files
    return [(kinds.get(line[:1], "same"), visible_text(line)[:LONGEST_LINE]) for line in lines]

"""Find entries that name what is no longer there: paths, branches, code and links of the repository, days.

An entry is only taken for stale if what it names looks like a part of this repository: a path begins with a
folder that is there, code is named beside a file of the repository or as a function of it. What is an
example, what is planned and what an entry itself calls removed is left alone. Daily logs are not looked at.
The words for that are in the section `[tidy]` of the languages' files.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from datetime import date, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from memlines.memory.tidy.gather import LOG, Noted
from memlines.memory.tidy.repository import Repository
from memlines.text.dates import spans_of
from memlines.text.patterns import alternatives, any_language
from memlines.worktrees import is_below

_CODE = re.compile(r"`([^`\n]+)`")
_LINK = re.compile(r"\[[^\]\n]*\]\(<?([^)\s>]+)>?\)")
_URL = re.compile(r"\b(?:https?|file)://[^\s<>()`\"'\[\]]+")
_PATH = re.compile(
    r"(?<![\w/.@:~$#-])(?:\./)?[\w.-]*[\w-](?:/[\w.-]*[\w-])*/[\w.-]*\w\.[A-Za-z][A-Za-z0-9]{0,5}(?![\w/*-])"
)
_PATH_IN_CODE = re.compile(r"(?:\./)?[\w.-]+(?:/[\w.@-]+)+/?|(?:\./)?[\w-]+/")
_PLACE = re.compile(r"(?::\d+(?:-\d+)?|#[\w-]*)$")
_UNREAL = re.compile(
    r"(?:^|/)(?:path/to|foo|bar|baz|qux|your[-_ ]?\w*|some[-_]?\w*|x{2,}|yyyy[\w-]*|\.\.\.?)(?:[./]|$)|\.\.",
    re.IGNORECASE,
)
"""Parts of a path that is only an example, or leads elsewhere."""

_NAME = r"[A-Za-z_][A-Za-z0-9_]*"
_SYMBOL = re.compile(rf"(?:(?P<of>{_NAME}(?:(?:\.|::){_NAME})*)(?:\.|::|#))?(?P<name>{_NAME})(?P<call>\(\))?")
_LIKE_CODE = re.compile(r"[A-Za-z0-9]_[A-Za-z0-9]|[a-z0-9][A-Z]|[A-Z][a-z]+[A-Z]")

_BRANCH_NAME = r"[\w][\w./-]*\w"
_BRANCH = re.compile(
    rf"\bbranch(?:[ ,:]+(?:is|called|named))?[ :]+(?:[`\"'](?P<a>{_BRANCH_NAME})[`\"']"
    rf"|(?P<b>[\w.-]+(?:/[\w.-]*\w)+))|[`\"'](?P<c>{_BRANCH_NAME})[`\"'] branch\b"
    r"|(?<![\w/.-])(?P<d>[\w.-]+(?:/[\w.-]*\w)+) branch\b",
    re.IGNORECASE,
)
_IN_REPOSITORY = re.compile(
    r"(?P<repo>[^?#]+?)(?:\.git)?/(?:-/)?(?:blob|tree|raw|src/branch|edit)/(?P<rest>[^?#]+)"
)
_COMMIT = re.compile(r"[0-9a-f]{7,40}")

_CHECKED = re.compile(r"\[[xX]\]")
_NEAR = 3
_READ_ON = 40
"""How many characters after such a word a date may begin, and how many are read."""


class Stale(NamedTuple):
    """An entry that is stale, why in words, and a path in it with the one that it should be, if known."""

    entry: Noted
    why: str
    old_path: str = ""
    new_path: str = ""


def find_stale(entries: Sequence[Noted], repository: Repository | None, now: datetime) -> Iterator[Stale]:
    """Yield the entries that name something that is no longer there, each once."""
    looked_at = [entry for entry in entries if entry.kind != LOG]
    found: dict[int, Stale] = {}
    if repository is not None:
        for at, entry in enumerate(looked_at):
            if (one := _find_gone(entry, repository)) is not None:
                found[at] = one
        for at, name in _find_missing_names(looked_at, repository):
            found.setdefault(at, Stale(looked_at[at], f"{name} is not in the repository's code any more"))
    for at, entry in enumerate(looked_at):
        if at not in found and (day := _find_passed(entry, now)) is not None:
            found[at] = Stale(entry, f"{day.isoformat()} has passed")
    yield from (found[at] for at in sorted(found))


# Paths, links and branches


def _find_gone(entry: Noted, repository: Repository) -> Stale | None:
    text = entry.body
    if _says_so(text):
        return None
    for url in _URL.findall(text):
        if gone := _missing_in_url(url.rstrip(".,;:!"), repository):
            return Stale(entry, f"{gone} does not exist any more")
    for target in _LINK.findall(text):
        if _is_missing_link(target, entry, repository):
            return Stale(entry, f"the link to {unquote(target)} leads nowhere")
    branches = [next(filter(None, one.groups())) for one in _BRANCH.finditer(text)]
    for name in branches:
        if repository.branches and name not in repository.branches and not _UNREAL.search(name):
            return Stale(entry, f"there is no branch {name} any more")
    for path in _paths_in(_URL.sub(" ", _LINK.sub(" ", text))):
        if path not in branches and repository.may_hold(path) and not repository.holds(path):
            return Stale(entry, f"{path} does not exist any more", path, repository.find_moved(path))
    return None


def _says_so(text: str) -> bool:
    """Return whether a text says itself that what it names is gone, is planned, or is an example."""
    words = _CODE.sub(" ", _PATH.sub(" ", _LINK.sub(" ", _URL.sub(" ", text))))
    return any_language("tidy", "gone").search(words.lower()) is not None


def _paths_in(text: str) -> Iterator[str]:
    spans = _CODE.findall(text)
    whole = [span for span in spans if not re.search(r"\s", span)]
    words = [_CODE.sub(" ", text), *(span for span in spans if span not in whole)]
    found = [one for word in words for one in _PATH.findall(word)]
    found += [span for span in (_PLACE.sub("", span) for span in whole) if _PATH_IN_CODE.fullmatch(span)]
    for path in found:
        if not _UNREAL.search(path):
            yield path.removeprefix("./").rstrip("/")


def _missing_in_url(url: str, repository: Repository) -> str:
    """Return the path that a link into this repository leads to, if it is not there."""
    if url.startswith("file:"):
        parts = urlsplit(url)
        path = unquote(parts.path)
        is_inside = parts.netloc in ("", "localhost") and path.startswith(f"{repository.root}/")
        below = path.removeprefix(f"{repository.root}/")
        return below if is_inside and ".." not in below and not repository.holds(below) else ""
    found = _IN_REPOSITORY.fullmatch(url.partition("://")[2].partition("#")[0].partition("?")[0])
    if found is None or found["repo"].casefold() not in repository.remotes:
        return ""
    rest = unquote(found["rest"]).rstrip("/")
    known = (name for name in (*repository.branches, "HEAD") if rest.startswith(f"{name}/"))
    branch = max(known, key=len, default="")
    if not branch or ".." in rest or _COMMIT.fullmatch(rest.partition("/")[0]):
        return ""
    path = rest.removeprefix(f"{branch}/")
    return "" if os.path.lexists(repository.root / path) else path


def _is_missing_link(target: str, entry: Noted, repository: Repository) -> bool:
    """Return whether a link, relative to its note or to the root, names a missing file of a folder."""
    path = unquote(target.partition("#")[0])
    if (
        not path
        or re.match(r"[a-z][a-z0-9+.-]*:|/|~", path, re.IGNORECASE)
        or _UNREAL.search(path.lstrip("./"))
    ):
        return False
    here, root = repository.workspace.root, repository.root
    bases = (here / entry.path.rpartition("/")[0], here, root)
    # To `lexists` there is no file of a name that no file can have, where `Path` would raise.
    places = [os.path.normpath(base / path) for base in bases]
    folders = [Path(place).parent for place in places if is_below(place, str(root))]
    return any(map(os.path.lexists, folders)) and not any(map(os.path.lexists, places))


# Names in code


def _find_missing_names(entries: Sequence[Noted], repository: Repository) -> Iterator[tuple[int, str]]:
    wanted = [
        (at, span, one["name"], _owner(one))
        for at, entry in enumerate(entries)
        if "`" in entry.body and not _says_so(entry.body)
        for span in _CODE.findall(entry.body)
        if (one := _SYMBOL.fullmatch(span)) and _is_of_repository(one, span, entry, repository)
    ]
    names = {name for _, _, name, owner in wanted for name in (name, owner) if name}
    missing = repository.missing_names(names) if names else set()
    for at, span, name, owner in wanted:
        if name in missing and (not owner or owner not in missing or repository.has_module(owner)):
            yield at, span


def _owner(found: re.Match[str]) -> str:
    """Return the module or class that a name is said to be in, if it is said."""
    return re.split(r"\.|::", found["of"])[-1] if found["of"] else ""


def _is_of_repository(found: re.Match[str], span: str, entry: Noted, repository: Repository) -> bool:
    """Return whether a word looks like code, and something says that it may be code of this repository."""
    name, owner = found["name"], _owner(found)
    is_code = _LIKE_CODE.search(name) is not None
    if _UNREAL.search(name):
        return False
    if owner:
        is_class = _LIKE_CODE.search(owner) is not None
        return is_class or ((is_code or found["call"] is not None) and repository.has_module(owner))
    if not is_code:
        return False
    before, _, behind = entry.body.lower().partition(f"`{span.lower()}`")
    kinds = alternatives("tidy", "code")
    if (found["call"] and "_" in name) or re.search(rf"\b(?:{kinds}) $", before):
        return True
    if re.match(rf" (?:{kinds})\b", behind):
        return True
    return any(repository.holds(path) for path in _paths_in(entry.body.replace(f"`{span}`", " ")))


# Days


@cache
def _due() -> re.Pattern[str]:
    leads = f"(?:[:,]? (?:{alternatives('tidy', 'leads')}))*"
    return re.compile(rf"(?<!\w)(?:{alternatives('tidy', 'due')}){leads}[:,]? +")


def _find_passed(entry: Noted, now: datetime) -> date | None:
    """Return the last day that an entry was true on, if that has passed."""
    if entry.is_task and _CHECKED.match(entry.body):
        return None
    words = entry.body.lower()
    if len(words) != len(entry.body):
        return None  # a letter that is two in lower case: places would not be the same
    for cue in _due().finditer(words):
        rest = entry.body[cue.end() : cue.end() + _READ_ON]
        until = _last_day(rest, entry.day, now)
        if until is None or until >= now.date():
            continue
        # What was written after that day, or says that it was so, tells of the past.
        is_told = entry.day is not None and entry.day > until
        if not is_told and not any_language("tidy", "past").search(words[: cue.start()]):
            return until
    return None


def _last_day(rest: str, day: date | None, now: datetime) -> date | None:
    """Return the day that words begin with, as seen from the day of the entry; nothing if that is open."""
    seen = now if day is None else datetime(day.year, day.month, day.day, tzinfo=now.tzinfo)
    # A month alone is understood behind a preposition.
    span = next(iter(spans_of(rest, seen) or spans_of(f"in {rest}", seen)), None)
    if span is None or rest.find(span.text.removeprefix("in ")) not in range(_NEAR):
        return None
    if span.said_only_time:
        return span.last if day is not None else None
    if re.search(r"\d{4}", span.text):
        return span.last
    # Without a year it is the next such day; dates are understood as the last one before a moment.
    later = next(iter(spans_of(f"in {span.text}", seen + timedelta(days=364))), None)
    return later.last if later is not None and day is not None else None

"""Find secrets in a text and put placeholders in their place."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from itertools import chain
from typing import NamedTuple

from recollect.redaction import own, private
from recollect.redaction.copies import PLACEHOLDER, values_in, without_copies
from recollect.redaction.forms import FORMS
from recollect.redaction.rules import SHORTEST, TOKENS, Rule

_PLACEHOLDER_START = "[redacted:"

_BOUND = 200
_REST = re.compile(r"[^\s\"'`<>\\]*")
"""Patterns have bounds to be fast; what goes on beyond them without a blank or a quote is the same secret."""


class _Span(NamedTuple):
    """Where a secret is, and where that begins by which it was told."""

    start: int
    end: int
    kind: str
    begin: int


@dataclass(frozen=True, slots=True)
class Redacted:
    """A text without its secrets, and how many of each kind it had."""

    text: str
    counts: Mapping[str, int] = field(default_factory=dict)
    values: Mapping[str, str] = field(default_factory=dict, repr=False, compare=False)
    """What was found and is to be hidden wherever it is said again, with its kind: never kept or shown."""


class Rules:
    """What is taken for a secret: the rules that are built in, and those of a user."""

    def __init__(self, extra: Iterable[Rule] = ()) -> None:
        """Take rules that are checked already; `Rules.of` checks them."""
        self.extra = tuple(extra)
        self._rules = (*TOKENS, *FORMS, *self.extra)
        self._always = [place for place, rule in enumerate(self._rules) if not rule.keywords]
        self._of_tokens = _places(self._rules[: len(TOKENS)], 0)
        self._of_forms = _places(self._rules[len(TOKENS) :], len(TOKENS))

    @classmethod
    def of(cls, pairs: Iterable[tuple[str, str]]) -> Rules:
        """Add a user's own rules: pairs of a kind and a regular expression.

        If the expression has a group, only what it holds is hidden. One that is no regular expression,
        or that could take for ever, is a SettingsError.
        """
        return cls(own.checked(pairs))

    def that_may_match(self, small: str) -> Iterator[Rule]:
        """Yield the rules of which a text in small letters holds a keyword, in their order."""
        words = " ".join([word for word in small.replace('"', " ").split() if len(word) >= SHORTEST])
        held = [places for keyword, places in self._of_tokens.items() if keyword in words]
        held += [places for keyword, places in self._of_forms.items() if keyword in small]
        for place in sorted({*self._always, *chain.from_iterable(held)}):
            yield self._rules[place]


def _places(rules: Sequence[Rule], first: int) -> dict[str, list[int]]:
    """Return by keyword the places of the rules that need it."""
    places: dict[str, list[int]] = {}
    for place, rule in enumerate(rules, first):
        for keyword in rule.keywords.split():
            places.setdefault(keyword, []).append(place)
    return places


@cache
def _built_in() -> Rules:
    return Rules()


@lru_cache(maxsize=16)
def rules_of(pairs: tuple[tuple[str, str], ...]) -> Rules:
    """Return the rules with those of the settings; making them takes time, so they are kept."""
    return Rules.of(pairs)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """Compile a pattern when the first text may match it: most are never needed in a short run."""
    return re.compile(pattern, re.ASCII)


def redact(text: str, rules: Rules | None = None) -> Redacted:
    """Put a placeholder such as `[redacted:github-token]` in the place of every secret, and of its copies.

    Lines keep their numbers: a secret of several lines leaves its line breaks behind. Text that was redacted
    stays as it is, because the last look finds nothing more. That there is a last one is sure: every look
    that finds something leaves fewer characters that are no placeholder.
    """
    rules = rules or _built_in()
    counts: Counter[str] = Counter()
    if "<" in text:
        text, blocks = private.without_private(text)
        if blocks:
            counts[private.KIND] = blocks
    values: dict[str, str] = {}
    while spans := _secrets(text, rules, values):
        text, copies = without_copies(_replaced(text, spans), values)
        counts.update(span.kind for span in spans)
        counts.update(copies)
    return Redacted(text, dict(counts), values)


def redact_together(
    texts: Iterable[str], rules: Rules | None = None, known: Mapping[str, str] | None = None
) -> list[Redacted]:
    """Redact texts that belong together: what is found in one of them is hidden in all.

    `known` are values that were found before, in texts that are not among these.
    """
    found = [redact(text, rules) for text in texts]
    values = dict(known or {})
    for one in found:
        for value, kind in one.values.items():
            values.setdefault(value, kind)
    if not values:
        return found
    done = []
    for one in found:
        text, copies = without_copies(one.text, values)
        done.append(Redacted(text, merged(one.counts, copies) if copies else one.counts, one.values))
    return done


def merged(counts: Mapping[str, int], more: Mapping[str, int]) -> dict[str, int]:
    """Add up two counts by kind."""
    return {kind: counts.get(kind, 0) + more.get(kind, 0) for kind in sorted({*counts, *more})}


def _secrets(text: str, rules: Rules, values: dict[str, str]) -> list[_Span]:
    """Return where secrets are, in order and apart from each other; the rule that is first names a kind.

    What they are is added to the values.
    """
    small = _small(text)
    found = [span for rule in rules.that_may_match(small) for span in _matches(rule, text, small)]
    if found and _PLACEHOLDER_START in text:
        found = _outside_placeholders(text, found)
    for span in found:
        for value in values_in(text[span.start : span.end], span.kind):
            values.setdefault(value, span.kind)
    apart: list[_Span] = []
    for span in sorted(found, key=lambda span: span.start):  # stable: of two at one place, the first rule's
        if apart and span.start < apart[-1].end:
            last = apart[-1]
            apart[-1] = last._replace(end=max(last.end, span.end))
        else:
            apart.append(span)
    return apart


def _small(text: str) -> str:
    """Return a text in small letters, every one in its place: a few have two letters as their small form."""
    small = text.lower()
    return small if len(small) == len(text) else "".join([sign.lower()[0] for sign in text])


def _matches(rule: Rule, text: str, small: str) -> Iterator[_Span]:
    """Yield where the secrets are that a rule finds, without the line breaks around them."""
    place = 0
    while match := _next_match(rule, text, small, place):
        start, end = match.span(match.lastindex or 0)
        place = match.end()
        if rule.check is None or rule.check(match):
            if rule.check and end - start >= _BOUND:
                place = end = _end_of_run(text, end)
            secret = text[start:end]
            start += len(secret) - len(secret.lstrip("\n"))
            if secret := secret.strip("\n"):
                yield _Span(start, start + len(secret), rule.kind, match.start())
        elif start > match.start():
            place = start  # what looked like a value may itself begin with a name


def _end_of_run(text: str, place: int) -> int:
    rest = _REST.match(text, place)
    return rest.end() if rest else place


def _next_match(rule: Rule, text: str, small: str, place: int) -> re.Match[str] | None:
    pattern = _compiled(rule.pattern)
    if not rule.anchored:
        return pattern.search(text, place)
    while (place := small.find(rule.keywords, place)) >= 0:
        if match := pattern.match(text, place):
            return match
        place += 1
    return None


def _outside_placeholders(text: str, found: list[_Span]) -> list[_Span]:
    """Return the spans that hide more than a placeholder does already, and were not told by one."""
    places = [place.span() for place in PLACEHOLDER.finditer(text)]

    def is_inside(place: int) -> bool:
        before = bisect_left(places, (place, 0)) - 1
        return before >= 0 and place < places[before][1]

    return [
        span
        for span in found
        if not (is_inside(span.begin) or is_inside(span.start) or is_inside(span.end))
        and PLACEHOLDER.sub("", text[span.start : span.end]).strip("\n")
    ]


def _replaced(text: str, spans: list[_Span]) -> str:
    pieces: list[str] = []
    end = 0
    for span in spans:
        breaks = text.count("\n", span.start, span.end)
        pieces += text[end : span.start], f"{_PLACEHOLDER_START}{span.kind}]", "\n" * breaks
        end = span.end
    return "".join([*pieces, text[end:]])

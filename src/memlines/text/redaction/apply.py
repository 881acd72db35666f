"""Replace the secrets of a text by placeholders, and remove what is marked as private.

What is between `<private>` and `</private>` is removed, except its line breaks. A tag may have blanks and
attributes: `<private >`, `<private class="x">`. A block that is never closed continues to the end, because a
wrong guess must not reveal anything. A tag right behind a backtick is only mentioned, and does not count;
neither does `<private/>`, which is empty.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from functools import lru_cache
from itertools import chain
from typing import NamedTuple

from memlines.errors import SecretRefused
from memlines.records import dataclass
from memlines.text.redaction.copies import PLACEHOLDER, values_in, without_copies
from memlines.text.redaction.patterns import FORMS, MARKED, Rule, check_rules
from memlines.text.redaction.tokens import compile_ascii, find_tokens, long_words, without_escapes

KIND = "private"

_TAG = re.compile(r"<(?:(?<!`<)private(?:\s[^<>]{0,500})?(?<!/)|/private\s{0,20})>", re.IGNORECASE)


def without_private(text: str) -> tuple[str, int]:
    """Return a text without its private blocks, and how many there were.

    A block inside another belongs to it. What is left of a block is its line breaks, or a blank: the text
    on its two sides must not grow together into something new.
    """
    kept: list[str] = []
    blocks = depth = 0
    end = start = 0
    for tag in _TAG.finditer(text):
        if tag[0][1] != "/":
            if depth == 0:
                start = tag.start()
            depth += 1
        elif depth:
            depth -= 1
            if depth == 0:
                kept += text[end:start], "\n" * text.count("\n", start, tag.end()) or " "
                end = tag.end()
                blocks += 1
    if depth:
        kept += text[end:start], "\n" * text.count("\n", start) or " "
        end = len(text)
        blocks += 1
    return "".join([*kept, text[end:]]), blocks


_PLACEHOLDER_START = "[redacted:"

_BOUND = 200
_REST = re.compile(r"[^\s\"'`<>\\]*")
"""Patterns have bounds to be fast; what goes on beyond them without a blank or a quote is the same secret."""


class _Span(NamedTuple):
    """Where a secret is, and where the text that gives it away begins."""

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
    """What was found and must be hidden wherever it is said again, with its kind: never kept or shown."""


class Rules:
    """What counts as a secret: the rules that are built in, and those of a user.

    A user's rules are pairs of a kind and a regular expression. If the expression has a group, only what it
    holds is hidden. One that is not a regular expression, or that could take for ever, is a SettingsError.
    """

    def __init__(self, pairs: Iterable[tuple[str, str]] = ()) -> None:
        """Check the rules that a user adds."""
        self.extra = check_rules(pairs)
        self._rules = (*MARKED, *FORMS, *self.extra)
        self._always = [place for place, rule in enumerate(self._rules) if not rule.keywords]
        self._of_marked = _places(self._rules[: len(MARKED)], 0)
        self._of_forms = _places(self._rules[len(MARKED) :], len(MARKED))

    def that_may_match(self, small: str, words: str) -> Iterator[Rule]:
        """Yield the rules with a keyword in a text or its long words, which are in small letters."""
        held = _held(self._of_marked, words) + _held(self._of_forms, small)
        for place in sorted({*self._always, *chain.from_iterable(held)}):
            yield self._rules[place]


_Keywords = dict[str, dict[str, list[int]]]


def _places(rules: Sequence[Rule], first: int) -> _Keywords:
    """Return by keyword the places of the rules that need it, under what a text with the keyword must hold.

    So a text without `pass` is not searched for `password`.
    """
    every = sorted({word for rule in rules for word in rule.keywords.split()}, key=len)
    under: _Keywords = {}
    for place, rule in enumerate(rules, first):
        for keyword in rule.keywords.split():
            root = rule.within or next(word for word in every if word in keyword)
            under.setdefault(root, {}).setdefault(keyword, []).append(place)
    return under


def _held(keywords: _Keywords, text: str) -> list[list[int]]:
    return [
        places
        for root, inside in keywords.items()
        if root in text
        for keyword, places in inside.items()
        if keyword == root or keyword in text
    ]


@lru_cache(maxsize=16)
def rules_of(pairs: tuple[tuple[str, str], ...]) -> Rules:
    """Return the rules with those of the settings; building them takes time, so they are kept."""
    return Rules(pairs)


def redact(text: str, rules: Rules | None = None) -> Redacted:
    """Replace every secret, and its copies, by a placeholder such as `[redacted:github-token]`.

    Lines keep their numbers: a secret of several lines leaves its line breaks. Redacted text stays as it is,
    because the last pass finds nothing more. There is a last one: each pass before it leaves fewer characters
    outside of placeholders.
    """
    rules = rules or rules_of(())
    counts: Counter[str] = Counter()
    if "<" in text:
        text, blocks = without_private(text)
        if blocks:
            counts[KIND] = blocks
    values: dict[str, str] = {}
    while spans := _secrets(text, rules, values):
        text, copies = without_copies(_replace(text, spans), values)
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
        done.append(Redacted(text, add_counts(one.counts, copies) if copies else one.counts, one.values))
    return done


def refuse_secrets(text: str, rules: Rules | None = None) -> None:
    """Raise `SecretRefused`, with the kinds, if a text to keep holds secrets.

    A private block is not checked: it stays in the note and goes nowhere.
    """
    kinds = sorted(redact(text, rules).counts.keys() - {KIND})
    if kinds:
        raise SecretRefused(
            f"the text holds what looks like a secret ({', '.join(kinds)}), and was not written",
            todo="Leave the secret out; a person can keep it in clear: "
            "--allow-secret in the shell, allow_secret=True in Python",
        )


def add_counts(counts: Mapping[str, int], more: Mapping[str, int]) -> dict[str, int]:
    """Add up two counts by kind."""
    return {kind: counts.get(kind, 0) + more.get(kind, 0) for kind in sorted({*counts, *more})}


def _secrets(text: str, rules: Rules, values: dict[str, str]) -> list[_Span]:
    """Return where secrets are, in order and apart from each other; the rule that is first names a kind.

    What they are is added to the values.
    """
    small = _small(text)
    words = long_words(without_escapes(text))
    found = [_Span(start, end, kind, start) for start, end, kind in find_tokens(text, words)]
    named: dict[str, list[tuple[int, str]]] = {}
    for rule in rules.that_may_match(small, words.lower()):
        if rule.gate and rule.gate not in named:
            named[rule.gate] = _names(rule, text, small)
        found += _matches(rule, text, named.get(rule.gate, []))
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


def _names(rule: Rule, text: str, small: str) -> list[tuple[int, str]]:
    """Return where the names of secrets are with which a rule begins, and what follows them."""
    gate = compile_ascii(rule.gate)
    names = []
    place = small.find(rule.keywords)
    while place >= 0:
        if match := gate.match(text, place):
            names.append((place, match[match.lastindex] if match.lastindex else "\n"))
        place = small.find(rule.keywords, place + 1)
    return names


def _matches(rule: Rule, text: str, names: list[tuple[int, str]]) -> Iterator[_Span]:
    """Yield where the secrets are that a rule finds, without the line breaks around them."""
    pattern = compile_ascii(rule.pattern)
    place = 0
    starts = iter([start for start, after in names if after in rule.after])
    while match := _next_match(pattern, text, place, starts if rule.gate else None):
        start, end = match.span(match.lastindex or 0)
        place = match.end()
        if rule.check is None or rule.check(match):
            if rule.check and end - start >= _BOUND:
                rest = _REST.match(text, end)
                place = end = rest.end() if rest else end
            secret = text[start:end]
            start += len(secret) - len(secret.lstrip("\n"))
            if secret := secret.strip("\n"):
                yield _Span(start, start + len(secret), rule.kind, match.start())
        elif start > match.start():
            place = start  # what looked like a value may itself begin with a name


def _next_match(
    pattern: re.Pattern[str], text: str, place: int, starts: Iterator[int] | None
) -> re.Match[str] | None:
    if starts is None:
        return pattern.search(text, place)
    for start in starts:
        if start >= place and (match := pattern.match(text, start)):
            return match
    return None


def _outside_placeholders(text: str, found: list[_Span]) -> list[_Span]:
    """Return the spans that hide more than a placeholder does already, and were not found by one."""
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


def _replace(text: str, spans: list[_Span]) -> str:
    pieces: list[str] = []
    end = 0
    for span in spans:
        breaks = text.count("\n", span.start, span.end)
        pieces += text[end : span.start], f"{_PLACEHOLDER_START}{span.kind}]", "\n" * breaks
        end = span.end
    return "".join([*pieces, text[end:]])

"""Other names for the same thing: parse the note that lists them, and say a query with all of them.

    - k8s = Kubernetes
    - pg = Postgres, PostgreSQL

Every list item is one line of names that mean the same. Other text in the note is for people.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from types import MappingProxyType

from memlines.records import dataclass
from memlines.text.entries import entries_of, without_comments
from memlines.text.language import language_of, stop_words
from memlines.text.terms import telling_words, words_of

PATH = "memory/aliases.md"

_ITEM = re.compile(r"\s*(?:[-+*]|\d{1,9}[.)])\s+(.*)", re.DOTALL)
_NAME = re.compile(r"\w(?:[\w .&'\u2019/-]*\w)?")
"""What can be found again by its words; C++ and C# would both be C."""

_LONGEST_NAME = 40
_MOST_WORDS = 4
_MOST_NAMES = 8
_MOST_LINES = 1_000

_NOTHING: Mapping[str, tuple[str, ...]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Expansion:
    """What a query also means: names to add to its text, and how its words count then."""

    added: tuple[str, ...] = ()
    same: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: _NOTHING)
    """Words of the text, in lower case, and others of which each counts as that word."""
    left_out: frozenset[str] = frozenset()
    """Words of the text that others replace."""
    shown: Mapping[str, str] = field(default_factory=dict)
    """What was said in the query, and what it also means."""

    def of(self, text: str) -> str:
        """Return a text with the names that it lacks."""
        return " ".join([text, *self.added])

    def replaced(self, text: str) -> str:
        """Return a text with the first other name in the place of each name in it."""
        for said, others in self.shown.items():
            text = text.replace(said, others.split(", ")[0])
        return text

    def __or__(self, other: Expansion) -> Expansion:
        """Return what both say; what counts as a word that others replace counts as those."""
        same = dict(self.same)
        for word, words in other.same.items():
            instead = [known for known in self.same if word in self.left_out and word in self.same[known]]
            for one in instead or [word]:
                same[one] = tuple(dict.fromkeys((*same.get(one, ()), *words)))
        left_out = (self.left_out | other.left_out) - same.keys()
        return Expansion((*self.added, *other.added), same, left_out, {**self.shown, **other.shown})


NO_EXPANSION = Expansion()


class Aliases:
    """Groups of names that mean the same, to expand queries with."""

    def __init__(self, groups: Iterable[Sequence[str]] = (), problems: Sequence[str] = ()) -> None:
        self.groups = tuple(groups)
        self.problems = tuple(problems)
        """What was ignored, in sentences."""
        self._by_word: dict[str, list[tuple[str, Sequence[str]]]] = {}
        for group in self.groups:
            for name in group:
                self._by_word.setdefault(words_of(name)[0].casefold(), []).append((name, group))

    def expand(self, query: str) -> Expansion:
        """Return what a query also means by its names, whatever their case."""
        written = words_of(query)
        words = [word.casefold() for word in written]
        small = stop_words(language_of(query))
        expansion = NO_EXPANSION
        done: list[Sequence[str]] = []
        for at, word in enumerate(words):
            for name, group in self._by_word.get(word, ()):
                parts = words_of(name)
                said = written[at : at + len(parts)]
                if words[at : at + len(parts)] != [part.casefold() for part in parts] or group in done:
                    continue
                if name.casefold() in small and (name.islower() or said != parts):
                    continue  # "IT" may be a name, "it" in a question is none
                done.append(group)
                expansion |= _expand(query, " ".join(said), name, group)
        return expansion


def _expand(query: str, said: str, name: str, group: Sequence[str]) -> Expansion:
    """Return what a name in a query adds: its other names, each counting as all of its words."""
    others = [other for other in group if other != name]
    split = {one: telling_words(one) for one in (name, *others)}
    full = max(split, key=lambda one: len(split[one]))  # all words of the longest name must be found
    same: dict[str, list[str]] = {word: [] for word in split[full]}
    for one, words in split.items():
        for at, word in enumerate(split[full]):
            if one != full and len(words) in (1, len(split[full])):
                same[word].append(words[at if len(words) > 1 else 0])
    replaced = {word for words in split.values() for word in words} - same.keys()
    present = query.casefold()
    return Expansion(
        tuple(other for other in others if other.casefold() not in present),
        {word: tuple(dict.fromkeys(words)) for word, words in same.items()},
        frozenset(replaced),
        {said: ", ".join(others)},
    )


def parse_aliases(text: str) -> Aliases:
    """Return the aliases that a note lists; a line that makes no sense is ignored and reported."""
    problems: list[str] = []
    groups: list[Sequence[str]] = []
    for entry in entries_of("\n".join(without_comments(text.split("\n")))):
        item = _ITEM.match(entry.text) if entry.kind == "item" else None
        if item is None:
            continue
        names, trouble = _names_in(item[1])
        if not trouble and len(groups) == _MOST_LINES:
            trouble = f"is beyond the first {_MOST_LINES:,}"
        if trouble:
            problems.append(f"line {entry.first} {trouble}")
        else:
            groups.append(names)
    return Aliases(groups, problems)


def _names_in(item: str) -> tuple[Sequence[str], str]:
    """Return the names in an item, or what is wrong with it."""
    name, equals, others = " ".join(item.replace("`", "").split()).partition("=")
    names = [*dict.fromkeys(one.strip() for one in (name, *others.split(",")))]
    if not equals or "=" in others or not all(names):
        return (), "is not of the form 'name = other name, another'"
    if len({one.casefold() for one in names}) < 2:
        return (), "says twice the same"
    if len(names) > _MOST_NAMES:
        return (), f"has more than {_MOST_NAMES} names"
    for one in names:
        if len(one) > _LONGEST_NAME or len(one.split()) > _MOST_WORDS:
            return (), f"has the name {one[:_LONGEST_NAME]!r}, which is longer than a name"
        if not _NAME.fullmatch(one):
            return (), f"has the name {one!r}, which cannot be found by its words"
    return names, ""

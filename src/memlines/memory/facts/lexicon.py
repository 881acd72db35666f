"""The words that distinguish statements, from the section `[contradiction]` of each language's file.

Each line of the section gives a tag and its phrases. A tag is one character, so that a
statement becomes a string of tags and one grammar serves all languages. What follows a colon says which of
several things of that kind is meant, and a star that every phrase means something of its own. Two tags are a
phrase that says both: "usamos" is "we use".

    people    i I, the user · u we · m my · o our · p he, this · k of whom there may be several: son, friend
    small     x a · f for · g of · l in · n at · t to · r from · a as · y by · @ on, every · & and, or
    verbs     b is · h has · q was · L live · W work · U use · P prefer · K like · H hate · C called
              B runs on · V leads · Y deploys · d starts, ends, costs · G needs, required
              M moved · J joined · Q left · E renamed · X cancelled · T replaced
    nouns     S what there is one of at a time: a phone number · R who there is one of: the lead · F favourite
    others    A allowed · O over, than · I instead of · D a day of the week or a month · 0 a number

Tags of several characters mark how a statement is meant, or nothing:

    the       says nothing
    not       denies · gone: it is no longer so · ever: the "more" of "no more"
    now       it is so since lately · since: with a date · always · also: beside what was said before
    doubt     it speaks of the past, of a wish or of a condition

The section also holds words that are opposites, and `any.toml` names of things that take each other's place.
"""

from __future__ import annotations

from functools import cache

from memlines.paths import languages_with
from memlines.text.language import section, stop_words

_OTHER_LISTS = ("opposites", "anything", "small_words")
"""Keys of the section that are not tags."""


def languages() -> tuple[str, ...]:
    """Return the languages whose statements are understood."""
    return languages_with("contradiction")


@cache
def lexicon_of(language: str) -> dict[str, tuple[str, ...]]:
    """Return what tags the words and phrases of a language have, in lower case."""
    return {
        " ".join(phrase.split()): tuple(tags.split())
        for tags, phrases in section(language, "contradiction").items()
        if tags not in _OTHER_LISTS
        for phrase in phrases.split(",")
    }


@cache
def longest_phrases(language: str) -> dict[str, int]:
    """Return how many words the longest phrase has that begins with a word."""
    found: dict[str, int] = {}
    for phrase in lexicon_of(language):
        words = phrase.split(" ")
        found[words[0]] = max(found.get(words[0], 0), len(words))
    return found


@cache
def small_words(language: str) -> frozenset[str]:
    """Return the words that show the language of a short fact."""
    own = section(language, "contradiction").get("small_words", "")
    return frozenset(own.split()) or stop_words(language)


def is_known(name: str) -> bool:
    """Return whether a name in lower case is one of a kind of things that take each other's place."""
    return name in _kinds("kinds")


def same_kind(one: str, other: str, *, of_one_thing: bool = False) -> bool:
    """Return whether two names in lower case are of different things that take each other's place.

    `of_one_thing` counts programming languages as well: a program is written in one, and people use several.
    """
    for table in ("kinds", "programming") if of_one_thing else ("kinds",):
        kind, thing = _kinds(table).get(one, (-1, one))
        other_kind, other_thing = _kinds(table).get(other, (-2, other))
        if kind == other_kind and thing != other_thing:
            return True
    return False


def is_place(name: str) -> bool:
    """Return whether a name in lower case may be a place to move to, and not a thing to use."""
    return not is_known(name) and name not in _names("no_places")


def is_nation(word: str) -> bool:
    """Return whether an English word in lower case names a nationality, and is not a name."""
    return word in _names("nations")


def is_country(word: str) -> bool:
    """Return whether a word in lower case is a country or larger, within which a town may be."""
    return word in _names("countries")


def are_opposites(one: str, other: str) -> bool:
    """Return whether two words in lower case say the opposite of each other."""
    return frozenset((one, other)) in _opposites()


def is_anything(stem: str) -> bool:
    """Return whether a word, cut to its stem, is something that many different things are used for."""
    return any(word.startswith(stem) for word in _anything())


@cache
def _names(key: str) -> frozenset[str]:
    return frozenset(section("any", "contradiction")[key].split())


@cache
def _kinds(key: str) -> dict[str, tuple[int, str]]:
    """Return the kind of a thing, and the one name for all of its names."""
    return {
        name: (number, thing)
        for number, line in enumerate(section("any", "contradiction")[key].strip().split("\n"))
        for thing in line.split()
        for name in thing.split("=")
    }


@cache
def _opposites() -> frozenset[frozenset[str]]:
    lists = [section(code, "contradiction").get("opposites", "") for code in languages()]
    return frozenset(frozenset(pair.split()) for pairs in lists for pair in pairs.split(","))


@cache
def _anything() -> tuple[str, ...]:
    lists = [section(code, "contradiction").get("anything", "") for code in languages()]
    return tuple(" ".join(lists).split())

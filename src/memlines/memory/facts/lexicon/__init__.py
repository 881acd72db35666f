"""The words that statements are told apart by, a table for each language.

Each line of a table gives a tag and the words or phrases it stands for. A tag is one character, so that a
statement becomes a string of tags and one grammar serves all languages. What follows a colon says which of
several things of that kind is meant, and a star that every word means something of its own. A line with two
tags is a word that says both: "usamos" is "we use".

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
    doubt     it tells of the past, of a wish or of a condition
"""

from __future__ import annotations

import re
from functools import cache

LANGUAGES = ("en", "nl", "de", "fr", "es", "cs")


@cache
def lexicon_of(language: str) -> dict[str, tuple[str, ...]]:
    """Return what tags the words and phrases of a language have, in lower case."""
    from memlines.memory.facts.lexicon import cs, de, en, es, fr, nl

    tables = {"en": en.TABLE, "nl": nl.TABLE, "de": de.TABLE, "fr": fr.TABLE, "es": es.TABLE, "cs": cs.TABLE}
    found: dict[str, tuple[str, ...]] = {}
    for line in re.sub(r"\n +", " ", tables[language].strip()).split("\n"):
        tags, _, phrases = line.partition(" = ")
        for phrase in phrases.split(", "):
            found.setdefault(phrase, tuple(tags.split()))
    return found


@cache
def longest_phrases(language: str) -> dict[str, int]:
    """Return how many words the longest phrase has that begins with a word."""
    found: dict[str, int] = {}
    for phrase in lexicon_of(language):
        words = phrase.split(" ")
        found[words[0]] = max(found.get(words[0], 0), len(words))
    return found

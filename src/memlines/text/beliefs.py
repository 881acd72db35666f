"""Recognise a question for what was known at a past time, rather than for what happened then.

"What did we believe in March?" and "which database, as of March?" ask for the state of knowledge; "what did
we do in March?" asks for events. The words are in the section `[belief]` of the languages' files, as plain
regular expressions for text in lower case without accents.
"""

from __future__ import annotations

import re
from functools import cache

from memlines.text.patterns import alternatives, any_language, fold

_USE = "belief"


@cache
def _leading(name: str) -> re.Pattern[str]:
    """Return a class of words at the end of what is before a time."""
    return re.compile(rf"(?<!\w)(?:{alternatives(_USE, name)})(?!\w)[ ,]*$")


def without_belief(question: str, when: str) -> str | None:
    """Return a question without its words for believing and knowing; nothing if it does not ask for that.

    `when` are the words in it that say when.
    """
    folded = fold(question)
    at = question.find(when)
    if at < 0:
        return None
    if any_language(_USE, "asked").search(folded):
        return _without(question, any_language(_USE, "words"))
    before, said = folded[:at], fold(when)
    if any_language(_USE, "as_of").match(said):
        return question
    lead = _leading("as_of").search(before)
    if lead is None and not any_language(_USE, "events").search(folded):
        lead = _leading("back").search(before)
    return question[: lead.start()] + question[lead.end() :] if lead else None


def _without(question: str, words: re.Pattern[str]) -> str:
    """Return a text without some words; both forms of it have the same length."""
    folded = fold(question)
    for found in reversed([*words.finditer(folded)]):
        question = question[: found.start()] + question[found.end() :]
    return " ".join(question.split())

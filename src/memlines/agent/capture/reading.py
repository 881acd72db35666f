"""Read a sentence as a language does: what introduces it, and what it holds."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache, cached_property

from memlines.memory.facts.categories import CONTACTS
from memlines.paths import languages_with
from memlines.records import dataclass
from memlines.text.language import stop_words
from memlines.text.patterns import WordClasses, fold
from memlines.text.speech import HIDDEN, Sentence

LANGUAGES = languages_with("capture")

_WORD = re.compile(r"(?<![\w./-])[^\W\d_]+(?![\w/])")
_TELLING = 2
"""The least stop words that show a language."""
_MOST_LANGUAGES = 2
"""A short message may be in one of two; reading more of them takes long, and finds what no one said."""

_MOST_STARTS = 6
_LONGEST_ANNOUNCEMENT = 60
_LONGEST_NAME = 20
"""Characters in quotation marks; what is longer is no name."""
_SUBORDINATE: dict[str, tuple[str, ...]] = {"de": (" dass", " das"), "nl": (" dat",)}
_MONTHS = (
    r"(?:jan|feb|febr|mar|marz|mars|maart|mrt|marzo|apr|avr|abr|mai|maj|may|mei|mayo|jun|juin|jul|juil|aug|aout"
    r"|ago|sep|sept|set|okt|oct|nov|dez|dec|dic|led|unor|brez|dub|kvet|cervn|cervenc|srp|zari|rij|listopad"
    r"|prosin)\w*"
)
DATES = re.compile(
    rf"(?<![\w.,])(?:\d{{1,2}}(?:st|nd|rd|th|er)?\.? (?:de |of )?{_MONTHS}"
    rf"|{_MONTHS} \d{{1,2}}(?:st|nd|rd|th)?(?!\w)"
    r"|\d{4}-\d\d-\d\d|\d{1,2}[./]\d{1,2}\.(?:\d{2,4})?|\d{1,2}/\d{1,2}/\d{2,4})"
)
HOSTS = re.compile(
    r"(?<![\w.])(?:\d{1,3}(?:\.\d{1,3}){3}|[a-z][\w-]*(?:\.[\w-]+){0,3}\.(?:com|net|org|io|local|int(?:ern|ra|ernal)?|lan|dev|eu"
    r"|example|test|nl|de|fr|es|cz|be|at|ch|co\.uk))(?![\w.]*\w)"
)
"""Where something is on a network; it names a thing, but is no reason to keep a sentence."""


@dataclass(frozen=True, slots=True)
class Reason:
    """A word class that makes a sentence worth keeping: how to say that, and how much it counts."""

    name: str
    said: str
    importance: float


REASONS = (
    Reason("decide", "decision", 0.8),
    Reason("final", "decision", 0.7),
    Reason("prefer", "preference", 0.7),
    Reason("onwards", "standing order", 0.8),
    Reason("rule", "rule", 0.7),
    Reason("habit", "rule", 0.7),
    Reason("named", "name or contact", 0.8),
    Reason("due", "date", 0.7),
    Reason("recurring", "lasting state", 0.6),
    Reason("self", "about the user", 0.8),
    Reason("changed", "change", 0.6),
    Reason("owned", "lasting state", 0.6),
)
STATED = Reason("stated", "lasting statement", 0.5)
"""A statement of how things are, without a word class that says more."""
DATED = Reason("date", "date", 0.7)
CONTACT = Reason("contact", "name or contact", 0.8)


class Reading:
    """A sentence as one language reads it, from `begin` to `end` without what only introduces it."""

    def __init__(self, sentence: Sentence, language: WordClasses) -> None:
        self.sentence = sentence
        self._low = sentence.low
        self.language = language
        self.begin = self._behind_openings()
        self.end = len(self._low)
        self.is_asked = False
        self.may_ask = False
        self._introduce()

    def _behind_openings(self) -> int:
        at = next((place for place, sign in enumerate(self._low) if sign.isalnum()), 0)
        opening = self.language.words("start")
        for _ in range(_MOST_STARTS):
            found = opening.match(self._low, at)
            if not found or found.end() == at:
                break
            at = self._next_word(found.end())
        return at

    def _next_word(self, at: int) -> int:
        while at < len(self._low) and not (self._low[at].isalnum() or self._low[at] == HIDDEN):
            at += 1
        return at

    def _introduce(self) -> None:
        """Find what asks to remember the rest, before it or behind it."""
        lead = self.language.words("lead").match(self._low, self.begin)
        soft = None if lead else self.language.words("soft").match(self._low, self.begin)
        self.lead = lead
        if found := lead or soft:
            self.is_asked = lead is not None
            self.may_ask = self.is_asked and self.heads("asking_to")
            self.begin = self._next_word(found.end())
        else:  # a few words and a colon may announce it: "for next time: …"
            colon = self._low.find(": ", self.begin, self.begin + _LONGEST_ANNOUNCEMENT)
            later = self.language.words("later")
            if (
                colon >= 0
                and not any(self.heads(name) for name in ("task", "asks"))
                and later.search(self._low, self.begin, colon)
            ):
                self.is_asked, self.begin = True, self._next_word(colon)
        tail = self.language.words("tail").search(self._low, self.begin)
        if tail:
            self.is_asked, self.may_ask = True, True
            self.end = tail.start()

    @cached_property
    def is_only_asking(self) -> bool:
        """Whether it asks to remember something that is in another sentence."""
        return self.is_asked and sum(map(str.isalnum, self.said)) < 3

    @cached_property
    def said(self) -> str:
        """Its words in small letters, without what only introduces it."""
        return self._low[self.begin : self.end]

    def holds(self, name: str) -> bool:
        """Return whether a word class occurs."""
        return self.language.words(name).search(self.said) is not None

    def anywhere(self, name: str) -> bool:
        """Return whether a word class occurs, also in what introduces the sentence."""
        return self.language.words(name).search(self._low) is not None

    def heads(self, name: str) -> bool:
        """Return whether a word class begins it."""
        return self.language.words(name).match(self._low, self.begin, self.end) is not None

    def goes_on_with(self, name: str) -> bool:
        """Return whether a word class begins a clause behind a comma."""
        pattern = self.language.words(name)
        commas = re.finditer(r"[,;] (?:(?:and|en|und|et|y|a) )?", self._low[: self.end])
        return any(pattern.match(self._low, comma.end(), self.end) for comma in commas)

    @property
    def is_verb_last(self) -> bool:
        """Whether what follows the wish to remember it is no sentence by itself, as in German and Dutch."""
        return self.lead is not None and self.lead[0].rstrip().endswith(
            _SUBORDINATE.get(self.language.code, ())
        )

    @property
    def notes_a_contact(self) -> bool:
        """Whether it asks to keep how a person is reached: "note the number of the plumber: 020 …"."""
        colon = self.said.find(":")
        return colon > 0 and self.heads("kept") and CONTACTS.search(self.said, colon) is not None

    @property
    def quotes(self) -> bool:
        """Whether a good part of it is a quotation, and so may be the words of someone else."""
        return self.said.count(HIDDEN) > _LONGEST_NAME

    @property
    def is_question(self) -> bool:
        """Whether it ends like a question or begins like one."""
        return (self.sentence.asks and not self.may_ask) or self.heads("asks")

    def reasons(self) -> list[Reason]:
        """Return what speaks for keeping it."""
        found = [reason for reason in REASONS if self.holds(reason.name)]
        if CONTACTS.search(self._low, self.begin, self.end):
            found.insert(0, CONTACT)
        elif found and HOSTS.search(self._low, self.begin, self.end):
            found.append(CONTACT)
        if DATES.search(self._low, self.begin, self.end) and (found or self.is_asked):
            found.append(DATED)
        return found

    def shown(self, *, whole: bool = False) -> str:
        """Return it as it was written, without what only introduces it."""
        begin = 0 if whole else self.begin
        words = self.sentence.shown[begin : self.end].strip(" \t,;:–—-")  # noqa: RUF001
        return words[:1].upper() + words[1:]


def likely_languages(said: Iterable[Sentence]) -> list[str]:
    """Return the languages that some sentences may be in, one or two, the likeliest first."""
    words = [word for sentence in said for word in _WORD.findall(sentence.low)]
    counts = {code: sum([word in _folded_stop_words(code) for word in words]) for code in LANGUAGES}
    most = max(counts.values())
    ranked = sorted(LANGUAGES, key=counts.__getitem__, reverse=True)
    return [code for code in ranked[:_MOST_LANGUAGES] if 2 * counts[code] >= most or most < _TELLING]


@cache
def _folded_stop_words(code: str) -> frozenset[str]:
    return frozenset(map(fold, stop_words(code)))

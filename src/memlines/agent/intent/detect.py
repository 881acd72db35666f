"""Recognise by rules what the writer of a message wants of the memory: without a model, in linear time."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import islice
from typing import Any, Literal, get_args

from memlines.agent.intent.rule_table import RULES, Rule
from memlines.paths import languages_with
from memlines.records import dataclass
from memlines.text.language import stop_words
from memlines.text.patterns import WordClasses, word_classes
from memlines.text.speech import Sentence, sentences

Kind = Literal["remember", "query", "forget", "none"]
KINDS: tuple[Kind, ...] = get_args(Kind)
LANGUAGES = languages_with("intent")

MOST_ENTITIES = 3
LONGEST_ENTITY = 200

_MOST_OPENINGS = 8
_MOST_CLAUSES = 16
_OUTSIDE = ("file", "feature")
_DENIALS = ("negated", "unkept")
_NEAR, _NEXT = 60, 14
"""Within how many characters of a verb the place to keep something is, and of that, what to keep."""
_FEWEST_WORDS = 2
"""How many words must be left of a clause without its verb and its small words to be a statement."""
_CUES = (
    *("keep", "keep_late", "write", "memory", "unforgotten", "forget", "recall", "kept", "earlier"),
    "unknown",
)
"""Classes that are worth a question to a model where the rules find nothing."""
_WORD = re.compile(r"(?<![\w./-])[^\W\d_]{2,}(?![\w/])")
"""A word of two letters at least, and no part of a name in a program."""
_ENOUGH_WORDS = 3
"""The least stop words that show a language."""


@dataclass(frozen=True, slots=True)
class Intent:
    """What a message wants of the memory, what it is about, how sure that is, and in which language.

    `warning` says why a model that should decide did not; it is empty if nothing went wrong.
    """

    intent: Kind
    entities: tuple[str, ...]
    confidence: float
    language: str
    warning: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return it with field names that stay."""
        return {
            "intent": self.intent,
            "entities": list(self.entities),
            "confidence": self.confidence,
            "language": self.language,
            "warnings": [self.warning] if self.warning else [],
        }

    def at_least(self, threshold: float) -> Intent:
        """Return it, or no intent at all if it is less sure than that."""
        if self.intent == "none" or self.confidence >= threshold:
            return self
        return replace(self, intent="none", entities=())


def no_intent(language: str) -> Intent:
    """Return that a message wants nothing of the memory."""
    return Intent("none", (), 0.0, language)


@dataclass(frozen=True, slots=True)
class _Match:
    """A rule that a sentence meets, and where."""

    rule: Rule
    words: re.Match[str]
    place: int
    begins: int
    """Where the clause of its leading class begins."""


class _Reading:
    """A sentence as one language reads it."""

    def __init__(self, sentence: Sentence, before: Sentence | None, language: WordClasses) -> None:
        self.sentence = sentence
        self._before = before.low if before else ""
        self._language = language

    @cached_property
    def clauses(self) -> list[list[int]]:
        """For each clause that its writer says, where a cue may begin: behind each of its opening words."""
        low = self.sentence.low
        first = next((at for at, sign in enumerate(low) if sign.isalnum()), 0)
        found = [self._find_openings(first)]
        reporting = self._language.words("reporting")
        for border in islice(self._language.joining.finditer(low, first), _MOST_CLAUSES):
            if reporting.search(low, first, border.start() + 1):
                break
            start = border.end()
            while start < len(low) and low[start] in "¿¡ ":
                start += 1
            found.append(self._find_openings(start))
        return found

    def holds(self, names: str, *, near: bool = False) -> bool:
        """Return whether one of some classes, written `a|b`, is in the sentence, or in the one before it."""
        for name in names.split("|"):
            pattern = self._language.words(name)
            if name == "asking":
                if self.sentence.asks or self._find_at_beginning(name, self.clauses):
                    return True
            elif pattern.search(self.sentence.low) or (near and pattern.search(self._before)):
                return True
        return False

    def speaks_against(self, name: str, leading: re.Match[str]) -> bool:
        """Return whether a class is where it cancels the meaning of some leading words.

        A denial counts in the clause of these words, and a plain "not" does not count behind them. A program
        or its users count outside of what should be remembered or forgotten, which may be about a program.
        """
        low = self.sentence.low
        start, end = 0, len(low)
        if name in _DENIALS:
            start = self._begin_of_clause(leading)
            end = leading.end() if name == "negated" else end
        elif name in _OUTSIDE:
            content = self._language.words("content").search(low, leading.start())
            end = max(content.end(), leading.end()) if content else end
        return self._language.words(name).search(low, start, end) is not None

    def find_leading(self, rule: Rule) -> tuple[re.Match[str], int] | None:
        """Return where the leading class of a rule is, and where its clause begins."""
        if rule.at == "sentence":
            match = self._language.words(rule.leading).search(self.sentence.low)
            return (match, self._begin_of_clause(match)) if match else None
        return self._find_at_beginning(
            rule.leading, self.clauses if rule.at == "clause" else self.clauses[:1]
        )

    def _begin_of_clause(self, match: re.Match[str]) -> int:
        return max([0, *(clause[0] for clause in self.clauses if clause[0] <= match.start())])

    def _find_at_beginning(
        self, name: str, clauses: Sequence[Sequence[int]]
    ) -> tuple[re.Match[str], int] | None:
        """Return where a class is at the beginning of a clause, and where that begins."""
        pattern = self._language.words(name)
        for places in clauses:
            for at in places:
                if match := pattern.match(self.sentence.low, at):
                    return match, places[0]
        return None

    def _find_openings(self, at: int) -> list[int]:
        """Return where a clause begins, and where it goes on behind each of its opening words."""
        places = [at]
        low, opening = self.sentence.low, self._language.words("opening")
        while len(places) <= _MOST_OPENINGS and (match := opening.match(low, places[-1])):
            end = match.end()
            while end < len(low) and not low[end].isalnum():
                end += 1
            places.append(end)
        return places


def detect(text: str, *, languages: Sequence[str] = LANGUAGES) -> Intent:
    """Return what the writer of a message wants of the memory, by rules alone.

    The surest rule counts, and of several as sure the first. Other words than those of `languages` are not
    understood.
    """
    return detect_in(sentences(text), languages)


def detect_in(said: Sequence[Sentence], languages: Sequence[str]) -> Intent:
    """Return what the writer of some sentences wants of the memory."""
    spoken = _rank_languages(said, languages)
    best = _find_surest(said, spoken)
    if best is None:
        return no_intent(spoken[0] if spoken else "")
    found, language = best
    return Intent(found.rule.intent, _find_entities(found, said, language), found.rule.sure, language.code)


def about_past(text: str, *, languages: Sequence[str] = LANGUAGES) -> bool:
    """Return whether a message is about earlier work, decisions, dates, people, preferences or to-dos.

    That is so if it asks for what is known, or builds on it: "as we discussed". It decides whether the memory
    is searched for a message, so it rather misses one than searches for every prompt.
    """
    said = sentences(text)
    spoken = _rank_languages(said, languages)
    best = _find_surest(said, spoken)
    if best is not None and best[0].rule.intent == "query":
        return True
    patterns = [word_classes(code, "intent").words("earlier") for code in spoken]
    return any(pattern.search(sentence.low) for pattern in patterns for sentence in said)


def has_cue(said: Sequence[Sentence], languages: Sequence[str]) -> bool:
    """Return whether some sentences name the memory or what was said before, though no rule is met."""
    spoken = [word_classes(code, "intent") for code in _rank_languages(said, languages)]
    patterns = [language.words(name) for language in spoken for name in _CUES]
    return any(pattern.search(sentence.low) for pattern in patterns for sentence in said)


def _rank_languages(said: Sequence[Sentence], languages: Sequence[str]) -> list[str]:
    """Return the languages that some sentences may be in, the likeliest first.

    Their stop words decide: a language counts if it has at least half as many of them as the likeliest. If
    there are hardly any, every language counts.
    """
    known = [code for code in languages if code in LANGUAGES]
    words = [word for sentence in said for word in _WORD.findall(sentence.shown.lower())]
    counts = {code: sum([word in stop_words(code) for word in words]) for code in known}
    most = max(counts.values(), default=0)
    ranked = sorted(known, key=counts.__getitem__, reverse=True)
    return [code for code in ranked if 2 * counts[code] >= most or most < _ENOUGH_WORDS]


def _find_surest(said: Sequence[Sentence], spoken: Sequence[str]) -> tuple[_Match, WordClasses] | None:
    """Return the surest rule that some sentences meet in one of the languages, with that language."""
    best: tuple[_Match, WordClasses] | None = None
    for code in spoken:
        language = word_classes(code, "intent")
        for found in _match_rules(said, language):
            if best is None or found.rule.weight > best[0].rule.weight:
                best = found, language
    return best


def _match_rules(said: Sequence[Sentence], language: WordClasses) -> Iterator[_Match]:
    before: Sentence | None = None
    for place, sentence in enumerate(said):
        reading = _Reading(sentence, before, language)
        before = sentence
        for rule in RULES:
            if rule.asks is not None and rule.asks != sentence.asks:
                continue
            leading = reading.find_leading(rule)
            if (
                leading
                and all(reading.holds(names, near=rule.near) for names in rule.beside)
                and not any(reading.speaks_against(name, leading[0]) for name in rule.without)
            ):
                yield _Match(rule, leading[0], place, leading[1])


def _find_entities(found: _Match, said: Sequence[Sentence], language: WordClasses) -> tuple[str, ...]:
    """Return what a message is about: what follows its leading words, or else what was said before them."""
    sentence = said[found.place]
    start, end = found.words.span()
    if found.rule.intent == "remember":
        begins = _behind_place(sentence.low, _behind(found.words, language), language)
        parts = [(sentence, begins, len(sentence.low)), (sentence, 0, found.begins)]
        near = [*said[: found.place][-1:], *said[found.place + 1 :][:1]]
        texts = _clean(parts, language, "connecting")
        if not texts and found.rule.leading.endswith("_late"):  # around a verb: "kannst du dir … merken"
            words = _clean([(sentence, found.begins, len(sentence.low))], language, "clause")
            texts = tuple(text for text in words if len(text.split()) >= _FEWEST_WORDS)
        return (texts or _clean([(one, 0, len(one.low)) for one in near], language, "connecting"))[:1]
    if found.rule.back:
        before = [(one, 0, len(one.low)) for one in said[: found.place][-1:]]
        return _clean([(sentence, 0, start), *before], language, "trimmed")[:1]
    around = [(sentence, found.begins, start), (sentence, end, len(sentence.low))]
    return _clean(around, language, "trimmed") or _clean([(sentence, start, end)], language, "trimmed")


def _behind_place(low: str, start: int, language: WordClasses) -> int:
    """Return where a statement begins behind words that say where, or until when, to keep it."""
    for name in ("memory", "later", "onwards"):
        place = language.words(name).search(low, start, start + _NEAR)
        if place is None:
            continue
        that = language.words("that").search(low, place.end(), place.end() + _NEXT)
        colon = low.find(":", place.end(), place.end() + _NEXT)
        ends = [that.end()] if that else []
        ends += [colon + 1] if colon >= 0 else []
        if ends:
            return min(ends)
    return start


def _behind(match: re.Match[str], language: WordClasses) -> int:
    """Return where a statement begins behind some words: the last of them may be its subject."""
    head, _, last = match[0].rpartition(" ")
    joint, elided, subject = last.rpartition("'")
    if elided and language.before("connecting").fullmatch(joint + elided):
        return match.end() - len(subject)
    is_subject = head and any(language.words(name).fullmatch(last) for name in ("ours", "definite"))
    return match.end() - len(last) if is_subject else match.end()


def _clean(parts: Sequence[tuple[Sentence, int, int]], language: WordClasses, small: str) -> tuple[str, ...]:
    texts = [_trim(sentence, start, end, language, small) for sentence, start, end in parts]
    return tuple(dict.fromkeys(text for text in texts if text))[:MOST_ENTITIES]


def _trim(sentence: Sentence, start: int, end: int, language: WordClasses, small: str) -> str:
    """Return a part of a sentence without small words around it, cut between words if it is too long."""
    if small == "trimmed" and (about := language.words("about").search(sentence.low, start, end)):
        start = about.end()
    opening = language.before(small).match(sentence.low, start, end)
    start = opening.end() if opening else start
    while end > start and (closing := language.behind(small).search(sentence.low, start, end)):
        end = closing.start()
    words = sentence.shown[start:end].strip()
    if len(words) <= LONGEST_ENTITY:
        return words
    return words[:LONGEST_ENTITY].rpartition(" ")[0] or words[:LONGEST_ENTITY]

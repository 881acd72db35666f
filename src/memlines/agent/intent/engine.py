"""Tell by rules what somebody wants of the memory: no model, and time that grows with the text alone."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from memlines.agent.intent.grammar import Grammar
from memlines.agent.intent.rules import RULES, Rule
from memlines.agent.intent.speech import Sentence, sentences
from memlines.agent.intent.tables import TABLES
from memlines.agent.intent.values import LANGUAGES, LONGEST_ENTITY, MOST_ENTITIES, Intent, nothing
from memlines.text.language import STOP_WORDS

_MOST_OPENINGS = 8
_MOST_CLAUSES = 16
_OUTSIDE = ("file", "feature")
_DENIALS = ("negated", "unkept")
_NEAR, _NEXT = 60, 14
"""Within so many characters behind a verb stands where to keep something, and behind that what to keep."""
_FEWEST_WORDS = 2
"""What is left of a clause without its verb and its small words is a statement from so many words on."""
_CUES = (
    "keep",
    "keep_late",
    "write",
    "memory",
    "unforgotten",
    "forget",
    "recall",
    "kept",
    "earlier",
    "unknown",
)
"""Classes that are worth a question to a model where the rules find nothing."""
_WORD = re.compile(r"(?<![\w./-])[^\W\d_]{2,}(?![\w/])")
"""A word of two letters at least, and no part of a name in a program."""
_ENOUGH_WORDS = 3
"""So many small words tell a language."""


@dataclass(frozen=True, slots=True)
class _Found:
    """A rule that a sentence meets, and where."""

    rule: Rule
    match: re.Match[str]
    place: int
    begins: int
    """Where the clause of its leading class begins."""


class _Reading:
    """A sentence as one language reads it."""

    def __init__(self, sentence: Sentence, before: Sentence | None, grammar: Grammar) -> None:
        self.sentence = sentence
        self._before = before.low if before else ""
        self._grammar = grammar
        self._clauses: list[list[int]] | None = None

    def holds(self, names: str, *, near: bool = False) -> bool:
        """Tell whether one of some classes, written `a|b`, is in the sentence, or in the one before it."""
        for name in names.split("|"):
            if name == "asking" and (self.sentence.asks or self.beginning(name, self.clauses)):
                return True
            if name == "asking" or name not in self._grammar:
                continue
            pattern = self._grammar.words(name)
            if pattern.search(self.sentence.low) or (near and pattern.search(self._before)):
                return True
        return False

    def speaks_against(self, name: str, leading: re.Match[str]) -> bool:
        """Tell whether a class is where it takes the meaning from some leading words.

        A denial counts in the clause of these words, and a plain "not" not behind them. A program or its
        users count outside of what is to be remembered or forgotten, which may well be about a program.
        """
        pattern = self._grammar.words(name)
        start, end = 0, len(self.sentence.low)
        if name in _DENIALS:
            start = self.begins(leading)
            end = leading.end() if name == "negated" else end
        elif name in _OUTSIDE:
            content = self._grammar.words("content").search(self.sentence.low, leading.start())
            end = max(content.end(), leading.end()) if content else end
        return pattern.search(self.sentence.low, start, end) is not None

    def leading(self, rule: Rule) -> tuple[re.Match[str], int] | None:
        """Return where the leading class of a rule stands, and where its clause begins."""
        if rule.leading not in self._grammar:
            return None
        if rule.at == "sentence":
            match = self._grammar.words(rule.leading).search(self.sentence.low)
            return (match, self.begins(match)) if match else None
        return self.beginning(rule.leading, self.clauses if rule.at == "clause" else self.clauses[:1])

    def begins(self, match: re.Match[str]) -> int:
        """Return where the clause of some words begins."""
        return max([0, *(clause[0] for clause in self.clauses if clause[0] <= match.start())])

    def beginning(self, name: str, clauses: Sequence[Sequence[int]]) -> tuple[re.Match[str], int] | None:
        """Return where a class stands at the beginning of a clause, and where that begins."""
        pattern = self._grammar.words(name)
        for places in clauses:
            for at in places:
                if match := pattern.match(self.sentence.low, at):
                    return match, places[0]
        return None

    @property
    def clauses(self) -> list[list[int]]:
        """For each clause that its writer says, where a cue may begin: behind each of its opening words."""
        if self._clauses is None:
            self._clauses = list(self._found_clauses())
        return self._clauses

    def _found_clauses(self) -> Iterator[list[int]]:
        low = self.sentence.low
        first = next((at for at, sign in enumerate(low) if sign.isalnum()), 0)
        yield self._openings(first)
        reporting = self._grammar.words("reporting")
        for number, border in enumerate(self._grammar.joining.finditer(low, first)):
            if number == _MOST_CLAUSES or reporting.search(low, first, border.start() + 1):
                break
            start = border.end()
            while start < len(low) and low[start] in "¿¡ ":
                start += 1
            yield self._openings(start)

    def _openings(self, at: int) -> list[int]:
        places = [at]
        opening = self._grammar.words("opening")
        while len(places) <= _MOST_OPENINGS and (match := opening.match(self.sentence.low, places[-1])):
            end = match.end()
            while end < len(self.sentence.low) and not self.sentence.low[end].isalnum():
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
    spoken = spoken_languages(said, languages)
    best = _surest(said, spoken)
    if best is None:
        return nothing(spoken[0] if spoken else "")
    found, grammar = best
    return Intent(found.rule.intent, _entities(found, said, grammar), found.rule.sure, grammar.code)


def _surest(said: Sequence[Sentence], spoken: Sequence[str]) -> tuple[_Found, Grammar] | None:
    """Return the surest rule that some sentences meet in one of the languages, with that language."""
    best: tuple[_Found, Grammar] | None = None
    for code in spoken:
        grammar = grammar_of(code)
        for found in _met_rules(said, grammar):
            if best is None or found.rule.weight > best[0].rule.weight:
                best = found, grammar
    return best


def about_past(text: str, *, languages: Sequence[str] = LANGUAGES) -> bool:
    """Tell whether a message is about earlier work, decisions, dates, people, preferences or to-dos.

    That is so if it asks for what is known, or builds on it: "as we discussed". It decides whether the memory
    is searched for a message, so it rather misses one than searches for every prompt.
    """
    said = sentences(text)
    spoken = spoken_languages(said, languages)
    best = _surest(said, spoken)
    if best is not None and best[0].rule.intent == "query":
        return True
    patterns = [grammar_of(code).words("earlier") for code in spoken]
    return any(pattern.search(sentence.low) for pattern in patterns for sentence in said)


def has_cue(said: Sequence[Sentence], languages: Sequence[str]) -> bool:
    """Tell whether some sentences name the memory or what was said before, though no rule is met."""
    grammars = [grammar_of(code) for code in spoken_languages(said, languages)]
    patterns = [grammar.words(name) for grammar in grammars for name in _CUES if name in grammar]
    return any(pattern.search(sentence.low) for pattern in patterns for sentence in said)


@lru_cache(maxsize=len(LANGUAGES))
def grammar_of(code: str) -> Grammar:
    """Return a language with its word classes, made once."""
    return Grammar(code, TABLES[code])


def spoken_languages(said: Sequence[Sentence], languages: Sequence[str]) -> list[str]:
    """Return the languages that some sentences may be in, the likeliest first.

    Their small words tell: a language counts if it has at least half as many of them as the likeliest.
    If there are hardly any, every language counts.
    """
    known = [code for code in languages if code in TABLES]
    words = [word for sentence in said for word in _WORD.findall(sentence.shown.lower())]
    counts = {code: sum([word in STOP_WORDS[code] for word in words]) for code in known}
    most = max(counts.values(), default=0)
    ranked = sorted(known, key=counts.__getitem__, reverse=True)
    return [code for code in ranked if 2 * counts[code] >= most or most < _ENOUGH_WORDS]


def _met_rules(said: Sequence[Sentence], grammar: Grammar) -> Iterator[_Found]:
    before: Sentence | None = None
    for place, sentence in enumerate(said):
        reading = _Reading(sentence, before, grammar)
        before = sentence
        for rule in RULES:
            if rule.asks is not None and rule.asks != sentence.asks:
                continue
            leading = reading.leading(rule)
            if leading and _is_met(rule, reading, leading[0]):
                yield _Found(rule, leading[0], place, leading[1])


def _is_met(rule: Rule, reading: _Reading, leading: re.Match[str]) -> bool:
    if not all(reading.holds(names, near=rule.near) for names in rule.beside):
        return False
    return not any(reading.speaks_against(name, leading) for name in rule.without)


def _entities(found: _Found, said: Sequence[Sentence], grammar: Grammar) -> tuple[str, ...]:
    """Return what a message is about: what follows its leading words, or else what was said before them."""
    sentence = said[found.place]
    start, end = found.match.span()
    if found.rule.intent == "remember":
        begins = _behind_place(sentence.low, _behind(found.match, grammar), grammar)
        spans = [(begins, len(sentence.low)), (0, found.begins)]
        near = [*said[: found.place][-1:], *said[found.place + 1 :][:1]]
        parts = [(sentence, *span) for span in spans]
        said_before_verb = _before_late_verb(found, sentence, grammar)
        around = [(one, 0, len(one.low)) for one in near]
        return (
            _cleaned(parts, grammar, "connecting")
            or said_before_verb
            or _cleaned(around, grammar, "connecting")
        )[:1]
    if found.rule.back:
        before = [(one, 0, len(one.low)) for one in said[: found.place][-1:]]
        return _cleaned([(sentence, 0, start), *before], grammar, "trimmed")[:1]
    around = [(sentence, found.begins, start), (sentence, end, len(sentence.low))]
    return _cleaned(around, grammar, "trimmed") or _cleaned([(sentence, start, end)], grammar, "trimmed")


def _behind_place(low: str, start: int, grammar: Grammar) -> int:
    """Return where a statement begins behind words that say where, or until when, it is to be kept."""
    for name in ("memory", "later", "onwards"):
        place = grammar.words(name).search(low, start, start + _NEAR)
        if place is None:
            continue
        that = grammar.words("that").search(low, place.end(), place.end() + _NEXT)
        colon = low.find(":", place.end(), place.end() + _NEXT)
        ends = [that.end()] if that else []
        ends += [colon + 1] if colon >= 0 else []
        if ends:
            return min(ends)
    return start


def _before_late_verb(found: _Found, sentence: Sentence, grammar: Grammar) -> tuple[str, ...]:
    """Return what a clause says around its verb, where that stands at the end: "kannst du dir … merken"."""
    if not found.rule.leading.endswith("_late") or "clause" not in grammar:
        return ()
    words = _cleaned([(sentence, found.begins, len(sentence.low))], grammar, "clause")
    return tuple(text for text in words if len(text.split()) >= _FEWEST_WORDS)


def _behind(match: re.Match[str], grammar: Grammar) -> int:
    """Return where a statement begins behind some words: the last of them may be its subject."""
    head, _, last = match[0].rpartition(" ")
    joint, elided, subject = last.rpartition("'")
    if elided and grammar.before("connecting").fullmatch(joint + elided):
        return match.end() - len(subject)
    is_subject = head and any(grammar.words(name).fullmatch(last) for name in ("ours", "definite"))
    return match.end() - len(last) if is_subject else match.end()


def _cleaned(parts: Sequence[tuple[Sentence, int, int]], grammar: Grammar, small: str) -> tuple[str, ...]:
    cleaned = [_trimmed(sentence, start, end, grammar, small) for sentence, start, end in parts]
    return tuple(dict.fromkeys(text for text in cleaned if text))[:MOST_ENTITIES]


def _trimmed(sentence: Sentence, start: int, end: int, grammar: Grammar, small: str) -> str:
    """Return a part of a sentence without small words around it, cut between words if it is too long."""
    if small == "trimmed" and (about := grammar.words("about").search(sentence.low, start, end)):
        start = about.end()
    opening = grammar.before(small).match(sentence.low, start, end)
    start = opening.end() if opening else start
    while end > start and (closing := grammar.behind(small).search(sentence.low, start, end)):
        end = closing.start()
    words = sentence.shown[start:end].strip()
    if len(words) <= LONGEST_ENTITY:
        return words
    return words[:LONGEST_ENTITY].rpartition(" ")[0] or words[:LONGEST_ENTITY]

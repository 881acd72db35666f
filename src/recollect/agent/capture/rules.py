"""Decide by rules what of a user's message is worth keeping as a long-term fact.

The sentence is kept, not the message. It needs a reason (a wish to remember it, a preference, a decision, who
somebody is, a rule, a date), and nothing may speak against it: that it asks, supposes, reports, is about the
task or the moment, is code, holds a secret, or tries to command whatever model reads it later. When in doubt
it is left out, because whoever misses a fact says it again, and junk nobody cleans up.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import datetime

from recollect.agent.capture.injection import is_injection
from recollect.agent.capture.reading import PLAIN, Reading, Reason, category_from
from recollect.agent.capture.shape import is_no_sentence, is_no_speech
from recollect.agent.capture.speech import grammar_of, said_in, spoken
from recollect.agent.capture.values import MOST, Capture
from recollect.agent.intent.engine import detect
from recollect.agent.intent.speech import Sentence, folded
from recollect.text.facts import Category
from recollect.text.quote import without_quotes

_ASKED = "asked to remember"
_ASKED_IMPORTANCE = 0.9
_EXEMPT = frozenset({_ASKED, "standing order"})
"""What may begin like a task."""
_CUSTOM = "own trigger"
_FEWEST_WORDS = 3
_SURE = 0.85
"""What an intent to remember must be at least, if no rule of ours knows its words."""


def captured(
    text: str, *, now: datetime, max_chars: int = 500, triggers: Sequence[str] = ()
) -> tuple[Capture, ...]:
    """Return what of a user's message should be kept, at most three sentences, in their order."""
    said = without_quotes(text)
    if is_no_speech(said, max_chars) or is_injection(said):
        return ()
    every = said_in(said)
    languages = spoken(every)
    intent = detect(said, languages=languages)
    if intent.intent == "forget":
        return ()
    grammars = [grammar_of(code) for code in languages]
    own = _own(triggers)
    readings = [[Reading(sentence, grammar) for grammar in grammars] for sentence in every]
    asked = _asked_places(readings)
    found: list[Capture] = []
    is_talk = not any(_wants_something(reads[0]) for reads in readings)
    for place, reads in enumerate(readings):
        if any(_announces_a_paste(read) for read in reads):
            break
        one = _kept(reads, own, place in asked)
        if one is None and (is_talk or reads[0].anywhere("byway")):
            one = _plain(reads[0])
        if one is not None and one.text not in [other.text for other in found]:
            found.append(one)
    is_unkept = any(read.anywhere("unkept") for reads in readings for read in reads)
    if not found and not is_unkept and intent.intent == "remember" and intent.confidence >= _SURE:
        found.extend(_handed_over(intent.entities))
    best = sorted(found, key=lambda one: -one.importance)[:MOST]
    return tuple(one for one in found if one in best)


def may_last(text: str, *, max_chars: int = 500) -> bool:
    """Tell whether a text that somebody else picked may be kept: nothing but a plain statement is."""
    said = without_quotes(text)
    if is_no_speech(said, max_chars) or is_injection(said):
        return False
    every = said_in(said)
    readings = [
        Reading(sentence, grammar) for grammar in map(grammar_of, spoken(every)[:1]) for sentence in every
    ]
    return bool(readings) and not any(
        _speaks_anywhere(read) or _speaks_against(read, [], asked=True) for read in readings
    )


def category_of(text: str) -> Category:
    """Return the category of a fact by its words."""
    every = said_in(text)
    reasons = [
        reason
        for code in spoken(every)
        for one in every
        for reason in Reading(one, grammar_of(code)).reasons()
    ]
    return category_from(reasons) if reasons else ("fact" if len(text.split()) >= _FEWEST_WORDS else "other")


def _handed_over(entities: Sequence[str]) -> Iterator[Capture]:
    """Yield what a message asks to remember in words that only the rules of intents know."""
    for text in entities:
        words = text[:1].upper() + text[1:]
        if len(words.split()) >= _FEWEST_WORDS and not is_no_sentence(words) and may_last(words):
            yield Capture(words, category_of(words), _ASKED_IMPORTANCE, (_ASKED,))


def _own(triggers: Sequence[str]) -> re.Pattern[str] | None:
    words = [re.escape(" ".join(folded(trigger).split())) for trigger in triggers if trigger.strip()]
    return re.compile(rf"(?<!\w)(?:{'|'.join(words)})(?!\w)") if words else None


def _asked_places(readings: Sequence[Sequence[Reading]]) -> set[int]:
    """Return which sentences another one asks to remember: "remember this: …", or "… Remember that."."""
    places = set()
    for place, reads in enumerate(readings):
        for read in reads:
            if read.is_only_asking and not read.anywhere("unkept"):
                places.add(place + 1 if place == 0 or read.lead else place - 1)
    return places


def _announces_a_paste(read: Reading) -> bool:
    """Tell whether a sentence asks for something to be done with what follows it."""
    low = read.sentence.low.rstrip()
    return low.endswith(":") and not read.is_asked and read.heads("task")


def _kept(readings: Sequence[Reading], own: re.Pattern[str] | None, asked_elsewhere: bool) -> Capture | None:
    """Return a sentence if it should be kept, as the language that has most to say for it reads it."""
    best: Capture | None = None
    for read in readings:
        one = _judged(read, own, asked_elsewhere) or _judged_before_question(read, own)
        if one is not None and (best is None or len(one.why) > len(best.why)):
            best = one
    if best is None or any(_speaks_anywhere(read) for read in readings):
        return None
    likeliest = readings[0]
    if not _EXEMPT.intersection(best.why) and (likeliest.heads("task") or likeliest.heads("asks")):
        return None
    if any(read.holds("unreal") for read in readings):
        return None
    return best


def _wants_something(read: Reading) -> bool:
    return read.is_question or read.sentence.asks or read.heads("task")


def _plain(read: Reading) -> Capture | None:
    """Return a sentence in which somebody says how things are with them, and nothing of the moment."""
    text = read.shown()
    if is_no_sentence(text) or _speaks_anywhere(read):
        return None
    said = read.before("thus")  # what follows from it may well be a task
    is_theirs = (said.holds("plain") or said.heads("every")) and not said.holds("passing")
    if not (is_theirs or _is_bare(said)) or said.holds("moment"):
        return None
    if _speaks_against(said, [PLAIN], asked=False):
        return None
    return Capture(text, PLAIN.category, PLAIN.importance, (PLAIN.said,))


def _is_bare(read: Reading) -> bool:
    """Tell whether a sentence says how it is with the people and things that users speak of as their own."""
    if not read.heads("definite") or read.holds("plain"):
        return False
    return (read.holds("relation") or read.holds("asset")) and read.holds("steady")


def _speaks_anywhere(read: Reading) -> bool:
    return read.anywhere("secret") or read.anywhere("unkept") or read.anywhere("laughter")


def _judged(read: Reading, own: re.Pattern[str] | None, asked_elsewhere: bool = False) -> Capture | None:
    asked = read.is_asked or asked_elsewhere
    text = read.shown(whole=read.is_verb_last)
    if is_no_sentence(text) or len(text.split()) < _FEWEST_WORDS - 1:
        return None
    reasons = read.reasons()
    if read.holds("moment"):  # what somebody likes just now is no preference
        reasons = [reason for reason in reasons if reason.name != "prefer"]
    is_own = own is not None and own.search(read.sentence.low) is not None
    if not (asked or reasons or is_own) or _speaks_against(read, reasons, asked=asked):
        return None
    why = [_ASKED] * asked + [_CUSTOM] * is_own + [reason.said for reason in reasons]
    importance = _ASKED_IMPORTANCE if asked else max([reason.importance for reason in reasons], default=0.7)
    category = category_from(reasons) if reasons else "fact"
    return Capture(text, category, importance, tuple(dict.fromkeys(why)))


def _judged_before_question(read: Reading, own: re.Pattern[str] | None) -> Capture | None:
    """Return what is said before the question that ends a sentence: "my dog is called Rex, can you …?"."""
    low = read.sentence.low
    comma = max(low.rfind(sign) for sign in (", ", "; ", " - "))
    if not read.sentence.asks or comma <= read.begin:
        return None
    before = Reading(Sentence(read.sentence.shown[:comma], low[:comma]), read.grammar)
    return None if before.holds("rule") or before.holds("habit") else _judged(before, own)


def _speaks_against(read: Reading, reasons: Sequence[Reason], *, asked: bool) -> bool:
    """Tell whether a sentence asks, supposes, reports, or is only about the task or the moment."""
    if read.is_question or read.holds("unreal"):
        return True
    if asked:
        return not reasons and not read.is_verb_last and read.holds("infinitive")
    if read.quotes or any(read.holds(name) for name in ("doubt", "told", "here")):
        return True
    if any(reason.name == "onwards" for reason in reasons):
        return False
    if any(read.heads(name) for name in ("task", "vague", "condition")):
        return True
    is_weak = bool(reasons) and all(reason.weak for reason in reasons)
    if not is_weak:
        return False
    is_dated = any(reason.category == "other" for reason in reasons)
    if any(read.holds(name) for name in ("state", "condition")):
        return True
    return not is_dated and (read.goes_on_with("task") or read.holds("moment"))

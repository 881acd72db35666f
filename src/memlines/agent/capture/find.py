"""Decide what of a user's message is worth keeping as a long-term fact.

The sentence is kept, not the message. Rules refuse what asks, supposes, reports, wants something done, is
code, holds a secret, or tries to command a model that reads it later; and rules keep what the user asks to
remember, a standing order, and what contains a trigger of the user's own. Every other sentence gets a score.
When in doubt it is left out, because a user who misses a fact says it again, and no one cleans up junk.

The score uses weights that were fitted to labelled messages. What the rules notice about a sentence becomes
numbers, in the same order for every language. There are two sets of weights: for these signals alone, and
for the signals together with the vector that the builtin model gives a sentence. `bench/fit_capture.py` makes
them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from memlines.agent.capture.filters import is_code, is_pasted
from memlines.agent.capture.reading import DATES, HOSTS, REASONS, STATED, Reading, likely_languages
from memlines.agent.intent.detect import Intent, detect
from memlines.memory.facts.categories import CONTACTS, category_of
from memlines.records import dataclass
from memlines.text.facts import Category
from memlines.text.injection import is_injection, orders_character
from memlines.text.neutral import without_quotes
from memlines.text.patterns import fold, word_classes
from memlines.text.speech import Sentence, sentences

if TYPE_CHECKING:
    from memlines.embed.base import Vectors

Embed: TypeAlias = "Callable[[Sequence[str]], Vectors]"
"""A function from sentences to vectors."""

WEIGHTS = Path(__file__).with_name("weights.json")
NOT_EMBEDDED = "cs"
"""The language that the builtin model does not know."""

HELD = (
    *(reason.name for reason in REASONS),
    *("plain", "every", "steady", "relation", "asset", "byway", "doubt", "condition", "moment", "passing"),
    *("thus", "me", "us", "you", "ought", "only", "did"),
)
"""Word classes that count anywhere behind the words that introduce a sentence."""
ANYWHERE = ("here", "state", "now", "spot")
"""Word classes that count also in the words that introduce it."""
HEADS = ("definite", "vague", "condition", "every", "ought", "only")
"""Word classes that count at the beginning."""
SHAPES = (
    *("contact", "host", "date", "digit", "name", "long", "short", "small", "called", "colon", "goes on"),
    *("introduced", "cut"),
)
PLACES = ("alone", "message asks", "message wants", "first", "last", "sentences", "wish")

NAMES = (
    *HELD,
    *(f"{name}, anywhere" for name in ANYWHERE),
    *(f"{name}, first" for name in HEADS),
    *SHAPES,
    *PLACES,
)

_NAME = re.compile(r"(?<=[\w,:;)] )[A-ZÀ-Ž][\w'’-]+")  # noqa: RUF001
_LONG, _SHORT = 25, 6
"""Words of a long sentence and of a short one."""
_MOST = 6
"""Sentences of a message that make a difference."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a sentence is in its message, and what else the message holds."""

    at: int
    of: int
    asks: bool
    wants: bool
    wish: float = 0.0
    """How surely the message asks to remember something."""
    is_cut: bool = False
    """Whether a question that ended it was cut off."""


def signals(read: Reading, place: Place) -> list[float]:
    """Return the numbers that distinguish lasting statements from others, one for each of `NAMES`."""
    found = [
        *[read.holds(name) for name in HELD],
        *[read.anywhere(name) for name in ANYWHERE],
        *[read.heads(name) for name in HEADS],
    ]
    low, shown = read.said, read.sentence.shown
    words = len(low.split())
    shape = (
        CONTACTS.search(low) is not None,
        HOSTS.search(low) is not None,
        DATES.search(low) is not None,
        any(map(str.isdigit, low)),
        _NAME.search(shown) is not None,
        words >= _LONG,
        words <= _SHORT,
        shown[:1].islower(),
        "!" in low,
        ":" in low,
        read.goes_on_with("task"),
        read.begin > 0,
        place.is_cut,
    )
    where = [place.of == 1, place.asks, place.wants, place.at == 0, place.at == place.of - 1]
    return [*map(float, [*found, *shape, *where]), min(place.of, _MOST) / _MOST, place.wish]


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence that may be kept: its words, their language, and what the rules notice about them."""

    text: str
    language: str
    signals: Sequence[float]


@dataclass(frozen=True, slots=True)
class Weights:
    """The weight of each signal and each number of a vector, and the threshold for keeping a sentence."""

    signals: Sequence[float]
    vector: Sequence[float]
    bias: float
    threshold: float

    def by_signals(self, one: Statement) -> float:
        """Return how far the signals of a sentence put it above the threshold."""
        weighed = zip(self.signals, one.signals, strict=True)
        return self.bias - self.threshold + sum([weight * signal for weight, signal in weighed])


def margins(statements: Sequence[Statement], embed: Embed | None = None) -> list[float]:
    """Return for each sentence how far it is above the threshold; below it the number is negative."""
    alone, together = fitted()
    found = [alone.by_signals(one) for one in statements]
    known = [place for place, one in enumerate(statements) if one.language != NOT_EMBEDDED]
    if embed is None or not known:
        return found
    import numpy as np

    vectors = np.asarray(embed([statements[place].text for place in known]), dtype=np.float64)
    lengths = np.linalg.norm(vectors, axis=1)
    for place, extra in zip(known, vectors @ np.asarray(together.vector) / lengths, strict=True):
        found[place] = together.by_signals(statements[place]) + float(extra)
    return found


@lru_cache(maxsize=1)
def fitted() -> tuple[Weights, Weights]:
    """Return the weights without vectors and those with them."""
    found = json.loads(WEIGHTS.read_text(encoding="utf-8"))
    alone, together = (
        Weights(
            [one["signals"][name] for name in NAMES], one.get("vector", ()), one["bias"], one["threshold"]
        )
        for one in (found["alone"], found["together"])
    )
    return alone, together


MOST = 3
"""The most facts that one turn stores."""

_ASKED = "asked to remember"
_ASKED_IMPORTANCE = 0.9
_CUSTOM = "own trigger"
_FEWEST_WORDS = 3
_SURE = 0.85
"""The least confidence of an intent to remember whose words no rule here knows."""


@dataclass(frozen=True, slots=True)
class Capture:
    """A sentence that is worth keeping, and the reasons for it."""

    text: str
    category: Category
    importance: float
    why: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return it with field names that stay."""
        return {**asdict(self), "why": list(self.why)}


def find_facts(
    text: str,
    *,
    max_chars: int = 500,
    triggers: Sequence[str] = (),
    embed: Embed | None = None,
) -> tuple[Capture, ...]:
    """Return what of a user's message should be kept, at most three sentences, in their order.

    `embed` gives the vectors of the builtin model; without it the rules' own signals are scored.
    """
    message = read(text, max_chars, triggers)
    if message is None:
        return ()
    found = dict(message.asked)
    scores = margins([statement for _, statement in message.open.values()], embed)
    for (place, (reading, statement)), margin in zip(message.open.items(), scores, strict=True):
        if margin >= 0:
            reasons = reading.reasons() or [STATED]
            importance = max(reason.importance for reason in reasons)
            why = tuple(dict.fromkeys(reason.said for reason in reasons))
            found[place] = Capture(statement.text, category_of(statement.text), importance, why)
    kept = list({found[place].text: found[place] for place in sorted(found)}.values())
    if not kept and not message.is_unkept:
        kept = list(_from_intent(message.intent))
    best = sorted(kept, key=lambda one: -one.importance)[:MOST]
    return tuple(one for one in kept if one in best)


@dataclass(frozen=True, slots=True)
class Message:
    """What the rules make of a message: what to keep, and the sentences they leave open, by their place."""

    asked: dict[int, Capture]
    open: dict[int, tuple[Reading, Statement]]
    intent: Intent
    is_unkept: bool


def read(text: str, max_chars: int = 500, triggers: Sequence[str] = ()) -> Message | None:
    """Read a message by the rules; nothing if no part of it may be kept."""
    said = without_quotes(text)
    if is_pasted(said, max_chars) or is_injection(said):
        return None
    every = sentences(said)
    languages = likely_languages(every)
    intent = detect(said, languages=languages)
    if intent.intent == "forget":
        return None
    classes = [word_classes(code, "capture") for code in languages]
    readings = [[Reading(sentence, language) for language in classes] for sentence in every]
    paste = len(readings)  # where a sentence asks for something to be done with what follows it
    for at, reads in enumerate(readings):
        if reads[0].sentence.low.rstrip().endswith(":") and any(
            not reading.is_asked and reading.heads("task") for reading in reads
        ):
            paste = at
            break
    wished = _asked_places(readings)
    words = [re.escape(" ".join(fold(trigger).split())) for trigger in triggers if trigger.strip()]
    own = re.compile(rf"(?<!\w)(?:{'|'.join(words)})(?!\w)") if words else None
    asked, left_open = {}, {}
    asks = any(reads[0].is_question or reads[0].sentence.asks for reads in readings)
    wants = any(reads[0].heads("task") for reads in readings)
    wish = intent.confidence if intent.intent == "remember" else 0.0
    for at, reads in enumerate(readings[:paste]):
        if one := _keep(reads, own, at in wished):
            asked[at] = one
        elif statement := _statement(reads[0], Place(at, len(readings), asks, wants, wish)):
            left_open[at] = (reads[0], statement)
    is_unkept = any(reading.anywhere("unkept") for reads in readings for reading in reads)
    return Message(asked, left_open, intent, is_unkept)


def may_last(text: str, *, max_chars: int = 500) -> bool:
    """Return whether a text that a model picked may be kept: only plain statements are."""
    said = without_quotes(text)
    if is_pasted(said, max_chars) or is_injection(said):
        return False
    every = sentences(said)
    classes = word_classes(likely_languages(every)[0], "capture")
    readings = [Reading(sentence, classes) for sentence in every]
    return bool(readings) and not any(
        _speaks_anywhere(reading) or _is_not_meant(reading) for reading in readings
    )


def is_about_user(text: str, category: Category) -> bool:
    """Return whether a fact is about the user and holds in every project: a preference, or who they are.

    What was decided, and what is said of "us" or of the project, belongs to the project.
    """
    every = sentences(text)
    if category == "decision" or not every:
        return False
    classes = word_classes(likely_languages(every)[0], "capture")
    readings = [Reading(sentence, classes) for sentence in every]
    if any(reading.anywhere("us") or reading.anywhere("project") for reading in readings):
        return False
    return category == "preference" or any(reading.anywhere("me") for reading in readings)


def _from_intent(intent: Intent) -> Iterator[Capture]:
    """Yield what a message asks to remember in words that only the rules of intents know."""
    if intent.intent != "remember" or intent.confidence < _SURE:
        return
    for text in intent.entities:
        words = text[:1].upper() + text[1:]
        if len(words.split()) >= _FEWEST_WORDS and not is_code(words) and may_last(words):
            yield Capture(words, category_of(words), _ASKED_IMPORTANCE, (_ASKED,))


def _asked_places(readings: Sequence[Sequence[Reading]]) -> set[int]:
    """Return which sentences another one asks to remember: "remember this: …", or "… Remember that."."""
    places = set()
    for place, reads in enumerate(readings):
        for reading in reads:
            if reading.is_only_asking and not reading.anywhere("unkept"):
                places.add(place + 1 if place == 0 or reading.lead else place - 1)
    return places


def _keep(reads: Sequence[Reading], own: re.Pattern[str] | None, asked_elsewhere: bool) -> Capture | None:
    """Return a sentence if the user wants it kept, as the language that has most to say for it reads it."""
    if any(_speaks_anywhere(reading) or reading.holds("unreal") for reading in reads):
        return None
    found = [one for reading in reads if (one := _keep_as(reading, own, asked_elsewhere))]
    return max(found, key=lambda one: len(one.why), default=None)


def _keep_as(reading: Reading, own: re.Pattern[str] | None, asked_elsewhere: bool) -> Capture | None:
    text = reading.shown(whole=reading.is_verb_last)
    if is_code(text) or len(text.split()) < _FEWEST_WORDS - 1:
        return None
    asked = reading.is_asked or asked_elsewhere or reading.notes_a_contact
    is_own = own is not None and own.search(reading.sentence.low) is not None
    reasons = reading.reasons()
    is_standing = any(reason.name == "onwards" for reason in reasons)
    if not (asked or is_own or is_standing) or _is_not_meant(reading):
        return None
    if not asked:
        is_reported = reading.quotes or any(reading.holds(name) for name in ("doubt", "told", "here"))
        is_passing = any(reading.heads(name) for name in ("task", "vague", "condition"))
        if is_reported or (is_passing and not is_standing):
            return None
    why = [_ASKED] * asked + [_CUSTOM] * is_own + [reason.said for reason in reasons]
    importance = _ASKED_IMPORTANCE if asked else max([reason.importance for reason in reasons], default=0.7)
    return Capture(text, category_of(text), importance, tuple(dict.fromkeys(why)))


def _statement(reading: Reading, place: Place) -> Statement | None:
    """Return a sentence that may be a lasting statement, without the question that ends it."""
    low = reading.sentence.low
    comma = max(low.rfind(sign) for sign in (", ", "; ", " - "))
    if reading.sentence.asks and comma > reading.begin:
        before = Sentence(reading.sentence.shown[:comma], low[:comma])
        reading = Reading(before, reading.language)
        place = replace(place, is_cut=True)
    text = reading.shown()
    if is_code(text) or len(text.split()) < _FEWEST_WORDS or _speaks_anywhere(reading):
        return None
    if reading.is_question or any(reading.holds(name) for name in ("unreal", "told", "unsure")):
        return None
    if reading.quotes or reading.heads("task"):
        return None
    return Statement(text, reading.language.code, signals(reading, place))


def _speaks_anywhere(reading: Reading) -> bool:
    """Return whether something anywhere in a sentence forbids to keep it."""
    words = ("secret", "unkept", "laughter")
    return orders_character(reading.sentence.low) or any(map(reading.anywhere, words))


def _is_not_meant(reading: Reading) -> bool:
    """Return whether a sentence asks, supposes, or is about something to do once: "remember to …"."""
    if reading.is_question or reading.holds("unreal"):
        return True
    is_rule = any(reason.name in ("onwards", "rule", "habit") for reason in reading.reasons())
    return not is_rule and not reading.is_verb_last and reading.holds("infinitive")

"""Choose which sentences of a conversation should last, without a model.

A message is split into sentences; code, quotations, tables, headings and lines of logs and shells are left
out, because they were pasted or shown. A sentence gets points for each kind of reason in it, and loses some
for doubt; `ENOUGH` points keep it. Few reasons count of what an assistant says. The words are in the section
`[cues]` of the languages' files.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import datetime
from functools import cache

from memlines.records import dataclass
from memlines.text.dates import spans_of
from memlines.text.decisions import compose, is_said
from memlines.text.injection import is_injection
from memlines.text.outline import closes
from memlines.text.patterns import alternatives, any_language, fold
from memlines.text.speech import borders
from memlines.types import Role

SHORTEST = 12
LONGEST = 400
"""Characters of a sentence that may be kept."""

ENOUGH = 3
_DOUBT = 3
_NEAR = 40
"""How far behind the name of a quantity its number may be."""

_FENCE = re.compile(r"(```+|~~~+)")
_ITEM = re.compile(r"(?:[-+*•]|\d{1,3}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?")
_NOT_SAID = re.compile(
    r"[>|#{}\[\]<$%@]|(?:at|File|Traceback|diff|index|commit|\+\+\+|---)[ \t]|\d{4}-\d\d-\d\d[T ]\d\d:\d\d"
    r"|\[?(?:INFO|DEBUG|WARN(?:ING)?|ERROR|TRACE)\b|(?:import|from|def|class|return|const|let|var"
    r"|function)[ \t].*[({;=:]"
)
_SIGNS = re.compile(r"[{}();=<>|\\$^~]")
_SIGNS_SHARE = 20
"""A line with more signs of code than one in this many characters is code."""

_BEGINS = re.compile("[\"'“\u2018«(*_¿¡]*[A-ZÀ-ÖØ-Þ0-9]")
"""How a sentence begins; what is written in small letters goes on."""

_NAME = r"[A-ZÀ-ÖØ-Þ][^\W\d_]+(?:['-][^\W\d_]+)*"
_FULL_NAME = rf"{_NAME}(?: (?:(?:de|van|der|den|von|du|la|le|el|di|da) )*{_NAME}){{0,3}}"
_NAMED = re.compile(rf"(?<!\w){_NAME}")
_NUMBER = re.compile(r"(?<![\w#])[€$£]?\d")
_PATH = re.compile(
    r"(?<![\w/])(?:(?:~|\.{1,2})?/[\w.@+-]+(?:/[\w.@+-]+)+/?|[\w.@+-]+(?:/[\w.@+-]+)+\.\w{1,8}"
    r"|[\w-]+\.(?:py|md|toml|ya?ml|json|ts|tsx|js|go|rs|sql|env|cfg|ini|sh|java|rb|php|css|html)(?!\w)"
    r"|https?://\S+)"
)
_FROM_MEMORY = re.compile(r"\.md#L\d|\.jsonl?#L\d|\[session |<!-- /?session ")
_SAYS_NOTHING = re.compile(r"\[redacted:[^\]]*\]|\[forgotten\]")


def sentences_of(text: str) -> Iterator[str]:
    """Yield the sentences of a message that may be kept, in their order."""
    for paragraph in _paragraphs(text):
        start = 0
        starts = [
            next_start
            for end, next_start in borders(fold(paragraph))
            if end == next_start or _BEGINS.match(paragraph, next_start)
        ]
        for next_start in [*starts, len(paragraph)]:
            words = paragraph[start:next_start].strip().strip("*_ ")
            if SHORTEST <= len(words) <= LONGEST and len(words.split()) > 2:
                yield words
            start = next_start


def _paragraphs(text: str) -> Iterator[str]:
    """Yield runs of lines that belong together, each on one line."""
    run: list[str] = []
    fence = ""
    for line in text.split("\n"):
        words = line.strip()
        mark = _FENCE.match(words)
        if fence:
            fence = "" if closes(words, fence) else fence
            continue
        item = _ITEM.match(words)
        begins = item is not None or (bool(run) and run[-1].endswith((".", "!", "?", ":")))
        if (not words or mark or begins) and run:
            yield " ".join(" ".join(run).split())
            run = []
        if mark:
            fence = mark[1]
        elif words and not _is_code(line, words):
            run.append(words[item.end() :] if item else words)
    if run:
        yield " ".join(" ".join(run).split())


def _is_code(line: str, words: str) -> bool:
    if line.startswith(("    ", "\t")) and not _ITEM.match(words):
        return True
    return bool(_NOT_SAID.match(words)) or len(_SIGNS.findall(words)) * _SIGNS_SHARE > len(words)


@dataclass(frozen=True, slots=True)
class Rating:
    """How many points a sentence has, and for what; the reasons are the explanation."""

    points: int
    reasons: tuple[str, ...]

    @property
    def lasts(self) -> bool:
        """Whether the sentence should be kept."""
        return self.points >= ENOUGH


def rate(sentence: str, role: Role, now: datetime) -> Rating:
    """Rate how much speaks for keeping a sentence."""
    text = compose(sentence)
    low = text.lower()
    asks = text.rstrip("\"'”»)*_ ").endswith(("?", "\uff1f", ":")) or _pattern("question").match(low)
    tells_next_step = role == "assistant" and _pattern("narration").match(low)
    if _FROM_MEMORY.search(text) or asks or tells_next_step:
        return Rating(0, ())
    if len(_SAYS_NOTHING.sub("", text).split()) < 3:
        return Rating(0, ())
    points = {name: weight for name, (weight, holds) in _REASONS.items() if holds(text, low)}
    if role == "assistant":
        points = {name: weight for name, weight in points.items() if name in _FROM_ASSISTANT}
    else:
        points |= _rate_days(text, low, now)
    if not points or is_injection(text):
        return Rating(0, ())
    return Rating(sum(points.values()) - (_DOUBT if _holds("hedge", low) else 0), tuple(points))


def may_be_kept(sentence: str) -> bool:
    """Return whether a text may be kept at all: not an order to a model, and not from the memory itself."""
    return not (_FROM_MEMORY.search(sentence) or is_injection(sentence))


def _holds(name: str, low: str) -> bool:
    return any_language("cues", name).search(low) is not None


@cache
def _pattern(name: str) -> re.Pattern[str]:
    """Return a pattern that puts words of the languages together; made when it is first needed."""

    def words(name: str) -> str:
        return f"(?:{alternatives('cues', name)})"

    my, role = rf"(?i:{alternatives('cues', 'my')})", rf"(?:[\w-]+ ){{0,3}}(?i:{words('roles')})(?!\w)"
    made = {
        "standing": rf"^(?:{words('standing_before')},? )*{words('standing')}",
        "made": rf"^{words('made')}\b",
        "narration": rf"^(?:{words('narration_before')}[,.!:]* )*{words('narration')}(?!\w)",
        "question": rf"^{words('question')}(?!\w)",
        "person": rf"(?<!\w)(?:{_FULL_NAME} {words('becomes')} {my} {role}"
        rf"|{my} {role} (?:{words('is_called')} )?(?:{words('titles')} )?{_NAME})",
        "unit": rf"(?<![\w.#-])(?:[€$£] ?\d[\d.,]*|\d[\d.,]*[ -]?{words('units')})(?!\w)",
    }
    return re.compile(made[name])


def _rate_days(text: str, low: str, now: datetime) -> dict[str, int]:
    """Return points for a date, or for a day to come: more if something happens or must be done on it."""
    spans = spans_of(text, now)
    says_when = any(span.last >= now.date() or not span.said_only_time for span in spans)
    if not says_when and not _holds("weekday", low):
        return {}
    if _holds("duty", low):
        return {"to-do": 3}
    return {"date": 3 if _holds("event", low) else 1}


def _is_about_a_person(text: str, low: str) -> bool:
    if _holds("called", low) or _pattern("person").search(text):
        return True
    in_charge = any_language("cues", "in_charge").search(low)
    return in_charge is not None and _NAMED.search(text, 0, in_charge.start()) is not None


def _is_a_quantity(_: str, low: str) -> bool:
    nouns = any_language("cues", "quantity").finditer(low)
    return any(_NUMBER.search(low, noun.end(), noun.end() + _NEAR) for noun in nouns)


def _cue(name: str) -> Callable[[str, str], bool]:
    return lambda _, low: _holds(name, low)


_REASONS: dict[str, tuple[int, Callable[[str, str], bool]]] = {
    "asked to remember": (4, _cue("remember")),
    "decision": (4, lambda _, low: is_said(any_language("cues", "decision"), low)),
    "intent": (4, lambda _, low: is_said(any_language("cues", "plan"), low)),
    "preference": (3, _cue("preference")),
    "standing order": (3, lambda _, low: _pattern("standing").search(low) is not None),
    "to-do": (3, _cue("todo")),
    "finding": (3, _cue("finding")),
    "person": (3, _is_about_a_person),
    "quantity": (3, _is_a_quantity),
    "place": (3, lambda text, low: _holds("place", low) and _PATH.search(text) is not None),
    "new file": (3, lambda text, low: bool(_pattern("made").search(low) and _PATH.search(text))),
    "number": (1, lambda _, low: _pattern("unit").search(low) is not None),
}

_FROM_ASSISTANT = ("decision", "finding", "new file", "number")
"""What counts if an assistant says it. It explains, proposes and announces its next step all the time; only
what was decided, found out and made is worth keeping."""

"""Tell which sentences of a conversation should last, without a model.

A sentence gets points for each kind of reason in it, and loses some for doubt; `ENOUGH` keep it. Of what an
assistant says few reasons count. The reasons are the explanation.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from memlines.agent.capture.injection import is_injection
from memlines.text import cues
from memlines.text.dates import spans_of
from memlines.text.decisions import composed, is_said
from memlines.types import Role

ENOUGH = 3
_DOUBT = 3
_NEAR = 40
"""How far behind the name of a quantity its number may stand."""

_NAME = r"[A-ZÀ-ÖØ-Þ][^\W\d_]+(?:['-][^\W\d_]+)*"
_FULL_NAME = rf"{_NAME}(?: (?:(?:de|van|der|den|von|du|la|le|el|di|da) )*{_NAME}){{0,3}}"
_MY = (
    r"(?i:our|my|the|an?|onze?|mijn|de|het|een|unsere?|meine?|der|die|das|eine?|notre|nos|mon|ma|l[ea]|une?"
    r"|nuestr[oa]|mi|el|una?)"
)
_ROLE = rf"(?:[\w-]+ ){{0,3}}(?i:{cues.ROLES})(?!\w)"
_CALLED = r"(?:is |ist |est |es |heißt |heet |s'appelle |se llama |is called |named )?"
_TITLE = r"(?:(?:Herr|Frau|Mr\.?|Mrs\.?|Ms\.?|Dr\.?|meneer|mevrouw|M\.|Mme|Sr\.?|Sra\.?) )?"
_PERSON = re.compile(
    rf"(?<!\w)(?:{_FULL_NAME} (?:is|ist|est|es|wordt|wird|becomes|will be) {_MY} {_ROLE}"
    rf"|{_MY} {_ROLE} {_CALLED}{_TITLE}{_NAME})"
)
_NAMED = re.compile(rf"(?<!\w){_NAME}")
_NUMBER = re.compile(r"(?<![\w#])[€$£]?\d")
_WITH_UNIT = re.compile(
    r"(?<![\w.#-])(?:[€$£] ?\d[\d.,]*|\d[\d.,]*[ -]?(?:%|€|\$|£|k€|euros?|dollars?|eur|usd|[kmgt]i?b"
    r"|[kmg]?hz|ms"
    r"|s|sec|seconds?|min|minutes?|h|hours?|days?|weeks?|months?|years?|requests?|users?|px|cm|mm|km|kg"
    r"|tokens?"
    r"|seconden|minuten|uur|dagen|weken|maanden|jaar|verzoeken|gebruikers|sekunden|stunden?|tage?n?"
    r"|wochen?|monaten?"
    r"|jahren?|anfragen|nutzer|secondes|heures?|jours?|semaines?|mois|ans?|requêtes|utilisateurs|segundos"
    r"|minutos"
    r"|horas?|días?|semanas?|meses|años?|peticiones|usuarios))(?!\w)"
)
_PATH = re.compile(
    r"(?<![\w/])(?:(?:~|\.{1,2})?/[\w.@+-]+(?:/[\w.@+-]+)+/?|[\w.@+-]+(?:/[\w.@+-]+)+\.\w{1,8}"
    r"|[\w-]+\.(?:py|md|toml|ya?ml|json|ts|tsx|js|go|rs|sql|env|cfg|ini|sh|java|rb|php|css|html)(?!\w)"
    r"|https?://\S+)"
)
_FROM_MEMORY = re.compile(r"\.md#L\d|\.jsonl?#L\d|\[session |<!-- /?session ")
_SAYS_NOTHING = re.compile(r"\[redacted:[^\]]*\]|\[forgotten\]")


@dataclass(frozen=True, slots=True)
class Judged:
    """How many points a sentence has, and for what."""

    points: int
    reasons: tuple[str, ...]

    @property
    def lasts(self) -> bool:
        """Whether the sentence should be kept."""
        return self.points >= ENOUGH


NOTHING = Judged(0, ())


def judged(sentence: str, role: Role, now: datetime) -> Judged:
    """Return how much there is to say for keeping a sentence."""
    text = composed(sentence)
    low = text.lower()
    if _is_out_of_place(text, low, role):
        return NOTHING
    points = {name: weight for name, (weight, found) in _REASONS.items() if found(text, low)}
    if role == "assistant":
        points = {name: weight for name, weight in points.items() if name in _FROM_ASSISTANT}
    else:
        points |= _days(text, low, now)
    if not points or is_injection(text):
        return NOTHING
    return Judged(sum(points.values()) - (_DOUBT if cues.HEDGE.search(low) else 0), tuple(points))


def may_be_kept(sentence: str) -> bool:
    """Tell whether a text may be kept at all: it is no order to a model, and not taken from the memory."""
    return not (_FROM_MEMORY.search(sentence) or is_injection(sentence))


def _is_out_of_place(text: str, low: str, role: Role) -> bool:
    if (
        _FROM_MEMORY.search(text)
        or text.rstrip("\"'”»)*_ ").endswith(("?", "\uff1f", ":"))
        or cues.QUESTION.match(low)
    ):
        return True
    if role == "assistant" and cues.NARRATION.match(low):
        return True
    return len(_SAYS_NOTHING.sub("", text).split()) < 3


def _days(text: str, low: str, now: datetime) -> dict[str, int]:
    """Return points for a date, or for a day to come: more if something happens or is to be done on it."""
    spans = spans_of(text, now)
    says_when = any(span.last >= now.date() or not span.said_only_time for span in spans)
    if not says_when and not cues.WEEKDAY.search(low):
        return {}
    if cues.DUTY.search(low):
        return {"to-do": 3}
    return {"date": 3 if cues.EVENT.search(low) else 1}


def _is_about_a_person(text: str, low: str) -> bool:
    if cues.CALLED.search(low) or _PERSON.search(text):
        return True
    in_charge = cues.IN_CHARGE.search(low)
    return in_charge is not None and _NAMED.search(text, 0, in_charge.start()) is not None


def _is_a_quantity(text: str, low: str) -> bool:
    return any(_NUMBER.search(low, noun.end(), noun.end() + _NEAR) for noun in cues.QUANTITY.finditer(low))


def _is_a_place(text: str, low: str) -> bool:
    return cues.PLACE.search(low) is not None and _PATH.search(text) is not None


def _is_a_new_file(text: str, low: str) -> bool:
    return cues.MADE.search(low) is not None and _PATH.search(text) is not None


def _cue(pattern: re.Pattern[str]) -> Callable[[str, str], bool]:
    return lambda _, low: pattern.search(low) is not None


_REASONS: dict[str, tuple[int, Callable[[str, str], bool]]] = {
    "asked to remember": (4, _cue(cues.REMEMBER)),
    "decision": (4, lambda _, low: is_said(cues.DECISION, low)),
    "intent": (4, lambda _, low: is_said(cues.INTENT, low)),
    "preference": (3, _cue(cues.PREFERENCE)),
    "standing order": (3, _cue(cues.STANDING)),
    "to-do": (3, _cue(cues.TODO)),
    "finding": (3, _cue(cues.FINDING)),
    "person": (3, _is_about_a_person),
    "quantity": (3, _is_a_quantity),
    "place": (3, _is_a_place),
    "new file": (3, _is_a_new_file),
    "number": (1, _cue(_WITH_UNIT)),
}

_FROM_ASSISTANT = ("decision", "finding", "new file", "number")
"""What counts if an assistant says it. It explains, proposes and tells its next step all the time; what was
settled, found out and made is what is worth keeping of that."""

"""Tell whether a text records a decision, in English, Dutch, German, French and Spanish.

One rule for what a flush writes down as a decision and for what a recall lists as one. A text that says that
nothing was decided, asks who decided, or supposes that somebody decides records none.
"""

from __future__ import annotations

import re
import unicodedata

from memlines.text import cues

_RECORDED = re.compile(
    r"(?<!\w)(?:decided|chose|chosen|agreed|picked|opted (?:for|to)|settled (?:on|for)"
    r"|voted (?:for|to|against)|(?:going|went|gone) with|standardi[sz]ed on|ruled out|signed off on"
    r"|besloten|gekozen|afgesproken|gestemd|overeengekomen|eens geworden|keuze (?:is|viel)"
    r"|(?:we|wij|ik) (?:kiezen|kies|stappen|schakelen)"
    r"|entschieden|beschlossen|vereinbart|geeinigt|gewählt|abgemacht|festgelegt"
    r"|(?:wahl|entscheidung) (?:ist|fiel)|(?:wir|ich) (?:entscheiden|wählen|wechseln|steigen)"
    r"|décidée?s?|décidons|choisie?s?|convenue?s?|opté|tranché|acté|mise?s? d'accord"
    r"|choix (?:est|s'est porté)"
    r"|decidid[oa]s?|acordad[oa]s?|elegid[oa]s?|optado"
    r"|decidió|decidimos|decidí|acordó|acordamos|eligió|elegimos|elegí|optó|optamos|opté)(?!\w)"
)
"""Verbs that record a decision, whatever the subject: "chose Postgres", "Anna decided …"."""

_NOUN = (
    r"(?:decisions?|\w*besluit(?:en)?|\w*beslissing(?:en)?|\w*entscheidung(?:en)?|\w*beschl(?:uss|üsse)"
    r"|décisions?|decisi[oó]n(?:es)?)"
)
_NAMED = re.compile(
    r"(?:^|[.!?;] ?)[-+*\d.:\t ]*(?:(?:the|our|final|new|team|het|de|ons|onze|finale|die|der|unsere?|la|las"
    rf"|les?|nos|notre|nuestra) )*(?:{_NOUN}(?= ?(?:[:–—(-]|$))"  # noqa: RUF001
    r"|(?:choice|choix|keuze|wahl|elección) ?:|\[decision\](?= ))"
    rf"|(?<!\w){_NOUN} (?:is|was|fell|made|taken|genomen|ist|war|fiel|gefallen|est|était|prise|es|fue|tomada)"
    r"(?!\w)",
    re.MULTILINE,
)
"""Nouns that announce a decision ("Decision: tabs", "the decision was to wait"), and the mark of a fact."""

_PATTERNS = (cues.DECISION, cues.INTENT, _RECORDED, _NAMED)

_TITLE = re.compile(
    rf"(?<!\w)(?:{_NOUN}|decided|besloten|entschieden|beschlossen|décidée?s?|decidid[oa]s?)(?!\w)"
)
_OPEN_TITLE = re.compile(
    r"(?<!\w)(?:open|pending|no|undecided|to (?:make|be made|take)|todo|openstaande?|offene?n?"
    r"|en attente|à prendre|pendientes?|por tomar)(?!\w)"
)
"""What a heading says above decisions that are still to be taken."""

_NOT = re.compile(
    r"(?<!\w)(?:not?|never|nothing|nobody|neither|\w+n't|cannot|undecided"
    r"|niet|nooit|niets|geen|nicht|nie|niemals|nichts|keine?[nmrs]?"
    r"|pas|jamais|rien|aucune?|nunca|nada|ningun[oa]|ningún|to be|must be"
    r"|moet(?:en)?|muss|müssen|soll(?:en|te)?|doit|debe|if|whether|unless|until we|once we"
    r"|als (?:we|wij|ik)|of (?:we|wij|ik)|falls|wenn (?:wir|ich)|ob|si)(?!\w)"
)
"""Words before a decision, in its clause, that say that it was not taken, is to be taken, or is supposed."""

_RATHER = re.compile(r"(?<!\w)(?:but|maar|sondern|mais|sino)(?!\w)")
"""Words after a negation that say what was decided instead."""

_PENDING = re.compile(
    r" (?:still |noch |nog |encore |aún )?(?:pending|open(?! source)|outstanding|needed|offen|nodig"
    r"|en attente|pendiente)(?!\w)"
)
_CLAUSE = re.compile(
    r"[,;:.!?\n()–—]"  # noqa: RUF001
    r"|(?<!\w)(?:so|and|but|dus|en|maar|also|und|aber|donc|et|mais|así que|y|pero)(?!\w)"
)
_END = re.compile(r"[.!?\n]")
_NEAR = 300
"""Characters before and behind a decision that belong to its sentence at most."""

_PLACEHOLDER = re.compile(
    r"[\W_]*(?:(?:none|nothing|tbd|todo|n/?a|empty|geen|niets|leer|keine?|nichts|aucune?|rien|ningun[oa]|nada"
    r"|example|date|what|why)(?: (?:yet|so far|nog|noch|encore|aún))?[\W_]*){0,4}"
    r"|[-+* ]*[<\[{(][^<>\[\](){}]*[>\]})]\W*"
)
"""What stands in a template where something is to be written: "(none yet)", "<text>", "TBD"."""


def is_decision(text: str, heading: str = "") -> bool:
    """Tell whether an entry of a note records a decision, by its words or by the headings above it."""
    low = composed(text).lower()
    if any(is_said(pattern, low) for pattern in _PATTERNS):
        return True
    is_left_open = _PLACEHOLDER.fullmatch(low) or may_be_decision(low)
    return not is_left_open and _is_of_decisions(composed(heading).lower())


def may_be_decision(low: str) -> bool:
    """Tell whether words of a decision stand in a text in lower case, if only to say that none was taken."""
    return any(pattern.search(low) for pattern in (_TITLE, *_PATTERNS))


def is_said(pattern: re.Pattern[str], low: str) -> bool:
    """Tell whether a pattern stands in a text in lower case that neither denies, asks nor supposes it."""
    return any(_is_meant(found, low) for found in pattern.finditer(low))


def composed(text: str) -> str:
    """Return a text as the patterns expect it, but for its case: composed, with plain apostrophes."""
    return unicodedata.normalize("NFC", text).replace("\u2019", "'")


def _is_meant(found: re.Match[str], low: str) -> bool:
    near = max(0, found.start() - _NEAR)
    begin = max([border.end() for border in _CLAUSE.finditer(low, near, found.start())], default=near)
    denied = _NOT.search(low, begin, found.end())
    if denied and not _RATHER.search(low, denied.end(), found.end()):
        return False
    if _PENDING.match(low, found.end()):
        return False
    end = _END.search(low, found.end(), found.end() + _NEAR)
    return end is None or end[0] != "?"


def _is_of_decisions(heading: str) -> bool:
    return any(_TITLE.search(title) and not _OPEN_TITLE.search(title) for title in heading.split(" > "))

"""Tell what must never be remembered: orders to whatever model reads the memory later."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from memlines.agent.intent.speech import folded
from memlines.text import cues
from memlines.text.neutral import visible

_KINDS = ("overrides", "roles", "persona", "secretly", "tools", "sending", "behaviour")
_NAME = re.compile(r"\{([a-z_]+)\}")
_WORD = r"\b"
_BRACKETS = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|[()|]")
_BLANKS = re.compile(r"[^\S\n]+")
_READ = 20_000


def is_injection(text: str) -> bool:
    """Tell whether a text tries to command a model that reads it, rather than to say something."""
    plain = unicodedata.normalize("NFKC", visible(text[:_READ]))
    words = _BLANKS.sub(" ", folded(plain))
    commands = _pattern(*_KINDS)
    if commands.search(words) or cues.COMMAND_TO_MODEL.search(words):
        return True
    return "\n" in words and commands.search(words.replace("\n", " ")) is not None


@lru_cache(maxsize=256)  # a sentence is read by several languages
def orders_character(sentence: str) -> bool:
    """Tell whether a sentence, folded, is about what a model is or says, other than its language and form."""
    if not _pattern("character").search(sentence):
        return False
    return not _pattern("format").search(sentence) or bool(_pattern("lawless", "harmful").search(sentence))


@lru_cache
def _pattern(*kinds: str) -> re.Pattern[str]:
    from memlines.agent.capture.words.behaviour import CLASSES
    from memlines.agent.capture.words.commands import COMMANDS

    words = {**COMMANDS, **CLASSES}

    def filled(pattern: str) -> str:
        return _NAME.sub(lambda found: f"(?:{filled(_joined(words[found[1]]))})", pattern)

    every = [one for name in kinds for one in _choices(_joined(words[name]))]
    at_words = [filled(one.removeprefix(_WORD)) for one in every if one.startswith(_WORD)]
    others = [filled(one) for one in every if not one.startswith(_WORD)]
    return re.compile("|".join([*others, f"{_WORD}(?:{'|'.join(at_words)})"] if at_words else others))


def _joined(words: str) -> str:
    return "|".join([line.strip() for line in words.splitlines() if line.strip()])


def _choices(pattern: str) -> list[str]:
    """Return the choices of a pattern that stand in no brackets.

    Those that begin with a word are then looked for at words only, together, which is several times faster.
    """
    found, depth, start = list[str](), 0, 0
    for sign in _BRACKETS.finditer(pattern):
        depth += {"(": 1, ")": -1}.get(sign[0], 0)
        if sign[0] == "|" and depth == 0:
            found.append(pattern[start : sign.start()])
            start = sign.end()
    return [*found, pattern[start:]]

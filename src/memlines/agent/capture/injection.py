"""Tell what must never be remembered: orders to whatever model reads the memory later."""

from __future__ import annotations

import re
import unicodedata
from functools import cache, lru_cache

from memlines.paths import languages_with
from memlines.text import cues
from memlines.text.language import section
from memlines.text.neutral import visible
from memlines.text.patterns import fold, join_lines

_KINDS = ("overrides", "roles", "persona", "secretly", "tools", "sending", "behaviour")
_NAME = re.compile(r"\{([a-z_]+)\}")
_WORD = r"\b"
_BRACKETS = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|[()|]")
_BLANKS = re.compile(r"[^\S\n]+")
_READ = 20_000


def is_injection(text: str) -> bool:
    """Tell whether a text tries to command a model that reads it, rather than to say something."""
    plain = unicodedata.normalize("NFKC", visible(text[:_READ]))
    words = _BLANKS.sub(" ", fold(plain))
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


@cache
def _pattern(*kinds: str) -> re.Pattern[str]:
    words = _word_classes()

    def expand(pattern: str) -> str:
        return _NAME.sub(lambda found: f"(?:{expand(words[found[1]])})", pattern)

    every = [one for name in kinds for one in _choices(words[name])]
    at_words = [expand(one.removeprefix(_WORD)) for one in every if one.startswith(_WORD)]
    others = [expand(one) for one in every if not one.startswith(_WORD)]
    return re.compile("|".join([*others, f"{_WORD}(?:{'|'.join(at_words)})"] if at_words else others))


@cache
def _word_classes() -> dict[str, str]:
    """Return the classes of all languages: `norms_nl` is the Dutch one, `norms` that of every language."""
    found = {name: join_lines(words) for name, words in section("any", "injection").items()}
    for code in languages_with("injection"):
        own = section(code, "injection")
        names = re.compile(rf"\{{({'|'.join(own)})\}}")
        for name, words in own.items():
            pattern = names.sub(rf"{{\1_{code}}}", join_lines(words))
            found[f"{name}_{code}"] = pattern
            found[name] = f"{found[name]}|{pattern}" if name in found else pattern
    return found


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

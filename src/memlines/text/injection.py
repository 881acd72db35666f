"""Recognize a text that commands the model that reads it, however it is hidden.

The words of the languages are in their section `[injection]`.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache, lru_cache

from memlines.errors import UsageError
from memlines.paths import languages_with
from memlines.text.language import section
from memlines.text.neutral import visible
from memlines.text.patterns import fold, join_lines

_ATTACKS = ("overrides", "roles", "persona", "secretly", "tools", "sending", "behaviour")
_NAME = re.compile(r"\{([a-z_]+)\}")
_WORD = r"\b"
_BRACKETS = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|[()|]")
_BLANKS = re.compile(r"[^\S\n]+")
_READ = 20_000


def is_injection(text: str) -> bool:
    """Return whether a text tries to command a model that reads it, rather than to say something."""
    plain = unicodedata.normalize("NFKC", visible(text[:_READ]))
    words = _BLANKS.sub(" ", fold(plain))
    attacks = _attack_pattern(*_ATTACKS)
    if attacks.search(words) or _attack_pattern("orders").search(words):
        return True
    return "\n" in words and attacks.search(words.replace("\n", " ")) is not None


def refuse_order(text: str) -> None:
    """Raise `UsageError` if a text to keep as a fact tries to command a model."""
    if is_injection(text):
        raise UsageError(
            "the text reads like an order to a model, and such texts are not stored as facts",
            todo="Write it as a plain statement; a person can store it as it is: "
            "--force in the shell, force=True in Python",
        )


@lru_cache(maxsize=256)  # a sentence is read by several languages
def orders_character(sentence: str) -> bool:
    """Return whether a folded sentence is about what a model is or says, other than its language and form."""
    if not _attack_pattern("character").search(sentence):
        return False
    is_harmless = _attack_pattern("format").search(sentence)
    return not is_harmless or bool(_attack_pattern("lawless", "harmful").search(sentence))


@cache
def _attack_pattern(*kinds: str) -> re.Pattern[str]:
    words = _attack_words()

    def expand(pattern: str) -> str:
        return _NAME.sub(lambda found: f"(?:{expand(words[found[1]])})", pattern)

    every = [one for name in kinds for one in _choices(words[name])]
    at_words = [expand(one.removeprefix(_WORD)) for one in every if one.startswith(_WORD)]
    others = [expand(one) for one in every if not one.startswith(_WORD)]
    return re.compile("|".join([*others, f"{_WORD}(?:{'|'.join(at_words)})"] if at_words else others))


@cache
def _attack_words() -> dict[str, str]:
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
    """Return the choices of a pattern that are in no brackets.

    Those that begin with a word are then searched at words only, together, which is several times faster.
    """
    found, depth, start = list[str](), 0, 0
    for sign in _BRACKETS.finditer(pattern):
        depth += {"(": 1, ")": -1}.get(sign[0], 0)
        if sign[0] == "|" and depth == 0:
            found.append(pattern[start : sign.start()])
            start = sign.end()
    return [*found, pattern[start:]]

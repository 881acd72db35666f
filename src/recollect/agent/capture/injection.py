"""Tell what must never be remembered: orders to whatever model reads the memory later."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from recollect.agent import cues
from recollect.agent.intent.speech import folded

_KINDS = ("overrides", "roles", "persona", "secretly", "tools", "sending")
_NAME = re.compile(r"\{([a-z]+)\}")
_UNSEEN = re.compile(
    "[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e007f\ufe00-\ufe0f]"
)
_BLANKS = re.compile(r"[^\S\n]+")
_READ = 20_000


def is_injection(text: str) -> bool:
    """Tell whether a text tries to command a model that reads it, rather than to say something."""
    plain = unicodedata.normalize("NFKC", _UNSEEN.sub("", text[:_READ]))
    words = _BLANKS.sub(" ", folded(plain))
    if _commands().search(words) or cues.COMMAND_TO_MODEL.search(words):
        return True
    return "\n" in words and _commands().search(words.replace("\n", " ")) is not None


@lru_cache(maxsize=1)
def _commands() -> re.Pattern[str]:
    from recollect.agent.capture.words.commands import COMMANDS

    def lines(name: str) -> str:
        joined = "|".join([line.strip() for line in COMMANDS[name].strip().splitlines()])
        return _NAME.sub(lambda found: f"(?:{lines(found[1])})", joined)

    return re.compile("|".join([f"(?:{lines(name)})" for name in _KINDS]))

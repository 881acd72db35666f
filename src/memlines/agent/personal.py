"""Tell whether a message is about the user's own world, which facts are about, or about the world at large.

"Where do we keep our secrets?" and "Who painted the Night Watch?" may be as near to some fact as each other;
what tells them apart is how they are said. Each sign below is a class of small words that every language has,
in the section `[personal]` of its file, so that no one's style had to be learned.
"""

from __future__ import annotations

import re
from functools import cache

from memlines.text.patterns import alternatives

_READ = 2_000
"""Characters of a message that are looked at."""

_CODE = re.compile(
    r"```|`[^`\n]+`|[{};]\s*$|[=!<>]=|=>|->|\w\(\)|\w+(?:Error|Exception)\b|Traceback|npm |git "
    r"|\b[\w/-]+\.(?:py|js|jsx|ts|tsx|go|rs|c|h|cpp|cs|vue|sql|java|kt|rb|php|css|html|sh|ya?ml|toml|md)\b",
    re.MULTILINE,
)
_NAME = re.compile(r"(?<=[\w,] )[^\W\d_]\w{2,}")
"""A word within a sentence; it is a name if it begins with a capital letter."""
_WORD = re.compile(r"[^\W\d_]\w{2,}")

_SIGNS = ("asks", "particular", "own", "self", "known", "general", "any")
_WEIGHTS = {
    "asks": 1.7,
    "named": 1.9,
    "particular": 0.7,
    "own": 1.1,
    "self": 0.8,
    "known": 0.9,
    "general": -1.4,
    "any": -0.3,
    "code": -1.6,
}
"""What each sign adds to the log odds that a fact is of use; docs/ranking.md says how that was fitted."""

_QUESTION = 2.6
"""What the signs of a question about the user's own world come to; a recalled fact is the answer to one."""


def personal_log_odds(message: str, fact: str) -> float:
    """Return what the way a message is said adds to the log odds that a fact which fits it is of use.

    It is about nothing for a question about the user's own world, and the less the further a message is from
    one. An order is as good as a question if it names whom or what the fact is about.
    """
    read = message[:_READ]
    low = read.replace("\u2019", "'").lower()
    signs = {name for name in _SIGNS if _pattern(name).search(low)}
    signs |= {"asks"} if "?" in low else set()
    signs |= {"code"} if _CODE.search(read) else set()
    if "asks" not in signs:
        names = {word for word in _NAME.findall(read) if word[0].isupper()}
        signs |= {"named"} if names & set(_WORD.findall(fact)) else set()
    return sum(weight for sign, weight in _WEIGHTS.items() if sign in signs) - _QUESTION


@cache
def _pattern(sign: str) -> re.Pattern[str]:
    before = r"(?:^|[.!?:;,\n(])[\W_]{0,4}" if sign == "asks" else r"(?<![\w'-])"
    return re.compile(rf"{before}(?:{alternatives('personal', sign)})(?!\w)")

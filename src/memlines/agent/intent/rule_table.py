"""Which word classes together make an intent; the same for every language.

A rule has a leading class and where it must be: at the `head` of a sentence (behind opening words such as
"please" or "could you"), at the beginning of any `clause`, or anywhere in a `sentence`. Beside it are classes
that the sentence must hold as well, and classes it must not hold. `a|b` is either of two classes. Names
ending in `_late` are verbs at the end of their clause, as German and Dutch have them; they count where the
agent is asked for something.
"""

from __future__ import annotations

from typing import Literal

from memlines.records import dataclass

EXPLICIT, CLEAR, WEAK = 0.95, 0.85, 0.7

Wanted = Literal["remember", "query", "forget"]
Place = Literal["head", "clause", "sentence"]


@dataclass(frozen=True, slots=True)
class Rule:
    """A combination of word classes that makes an intent, and how sure that is."""

    intent: Wanted
    sure: float
    leading: str
    at: Place
    beside: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    asks: bool | None = None
    """Whether the sentence has to be a question, or must not be one."""
    near: bool = False
    """Whether the classes beside it may also be in the sentence before."""
    back: bool = False
    """Whether the leading words, such as "delete it", point back to what was said before them."""

    @property
    def weight(self) -> tuple[float, int]:
        """How much the rule counts against others that are met as well."""
        return self.sure, _PRIORITY[self.intent]


_PROGRAM = ("file", "feature")
"""What a program should remember or delete, and where, is work and not about the memory."""

_KEPT = "memory|note|kept|told"
"""What is deleted from the memory."""

_PRIORITY: dict[Wanted, int] = {"forget": 2, "remember": 1, "query": 0}
"""People who want something deleted or kept often ask about it in the same message."""

RULES = (
    Rule("remember", EXPLICIT, "keep", "clause", without=("feature", "able", "unkept")),
    Rule("remember", EXPLICIT, "keep_late", "sentence", ("asked",), ("feature", "able", "negated", "unkept")),
    Rule("remember", EXPLICIT, "write", "clause", without=(*_PROGRAM, "unkept")),
    Rule("remember", EXPLICIT, "write_late", "sentence", ("asked",), (*_PROGRAM, "negated")),
    Rule("remember", EXPLICIT, "store", "clause", ("memory|into",), ("unkept", "out")),
    Rule("remember", EXPLICIT, "store_late", "sentence", ("asked", "memory"), ("negated", "out")),
    Rule("remember", CLEAR, "store", "clause", ("later|onwards",), _PROGRAM),
    Rule("remember", CLEAR, "store_late", "sentence", ("asked", "later|onwards"), (*_PROGRAM, "negated")),
    Rule("remember", CLEAR, "mind", "clause", ("later|onwards",), ("feature", "able")),
    Rule("remember", CLEAR, "unforgotten", "clause", without=("feature",)),
    Rule("remember", CLEAR, "ruled", "clause", without=_PROGRAM, asks=False),
    Rule("remember", CLEAR, "informed", "sentence", ("later|onwards",), asks=False),
    Rule("remember", CLEAR, "announced", "sentence", without=("feature", "postponed"), asks=False),
    Rule("remember", CLEAR, "later", "head", ("introduced",), ("feature",), asks=False),
    Rule("remember", CLEAR, "onwards", "head", without=("feature", "postponed"), asks=False),
    Rule("remember", CLEAR, "always", "sentence", ("scope|onwards|later",), ("feature",), asks=False),
    Rule("remember", 0.75, "onwards", "sentence", without=("feature", "postponed", "stated"), asks=False),
    Rule("remember", WEAK, "always", "head", without=("feature", "file", "stated", "postponed"), asks=False),
    Rule("query", EXPLICIT, "recall", "clause", without=("able", "explained", "surely")),
    Rule("query", EXPLICIT, "lookup", "clause", without=("unkept",)),
    Rule("query", 0.9, "shared", "sentence", ("asking",), ("explained", "mistaken", "idiom")),
    Rule("query", 0.9, "kept", "sentence", ("asking",), ("able",)),
    Rule("query", 0.9, "memory", "sentence", ("asking",), ("able",)),
    Rule("query", CLEAR, "remind", "clause", ("shared|ours|ago|kept",), ("explained",)),
    Rule("query", CLEAR, "ago", "sentence", ("asking", "ours"), ("explained", "mistaken")),
    Rule("query", CLEAR, "again", "sentence", ("asking", "definite|ours"), ("explained",)),
    Rule("query", CLEAR, "unknown", "sentence", ("shared|ours",), ("explained",), asks=True, near=True),
    Rule(
        "query", CLEAR, "pointing", "sentence", ("earlier",), ("explained",), asks=True, near=True, back=True
    ),
    Rule("query", CLEAR, "preference", "sentence", ("asking",), ("explained",)),
    Rule("forget", EXPLICIT, "forget", "clause", ("owned",), ("idiom", *_PROGRAM)),
    Rule("forget", EXPLICIT, "forget_late", "sentence", ("asked", "owned"), ("idiom", "negated", *_PROGRAM)),
    Rule("forget", EXPLICIT, "delete", "clause", ("out",)),
    Rule("forget", EXPLICIT, "erase", "clause", (_KEPT,), ("idiom", *_PROGRAM)),
    Rule("forget", CLEAR, "erase", "clause", ("personal",), ("idiom", *_PROGRAM)),
    Rule("forget", EXPLICIT, "delete_late", "sentence", ("asked", "out"), ("negated",)),
    Rule("forget", EXPLICIT, "delete_late", "sentence", ("asked", _KEPT), ("negated", *_PROGRAM)),
    Rule("forget", EXPLICIT, "delete_it", "sentence", ("out",), near=True, back=True),
    Rule("forget", EXPLICIT, "delete_it", "sentence", (_KEPT,), _PROGRAM, near=True, back=True),
    Rule("forget", EXPLICIT, "unkeep", "sentence", without=_PROGRAM),
    Rule("forget", WEAK, "forget", "clause", ("definite|ours",), ("idiom", "instead", *_PROGRAM), asks=False),
)

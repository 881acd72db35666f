"""Recognise what the writer of a message wants of the memory: to remember, to query, to forget.

    detect(text) → Intent                by rules alone
    detect_with(text, settings) → Intent  as the settings say, by a model if they name one
    build_request(text), parse_reply(reply, text)   for a model that a client asks itself
    about_past(text) → bool              whether the memory should be searched for a message

`rule_table.py` says which word classes together make an intent, `detect.py` finds the surest rule that is
met, and `model.py` asks a model. The word classes of each language are in `text/languages/`, not here.
"""

from memlines.agent.intent.detect import Intent, about_past, detect, no_intent
from memlines.agent.intent.model import Request, build_request, detect_with, parse_reply

__all__ = [
    "Intent",
    "Request",
    "about_past",
    "build_request",
    "detect",
    "detect_with",
    "no_intent",
    "parse_reply",
]

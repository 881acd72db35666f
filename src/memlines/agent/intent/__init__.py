"""Tell what somebody wants of the memory who writes to a coding agent: to remember, to query, to forget.

    detect(text) → Intent             by rules alone
    detected(text, settings) → Intent by the settings, and by a model if they name one
    request(text), parsed(reply, text) for a model that a client asks itself
    about_past(text) → bool           whether the memory should be searched for a message

`speech.py` cuts a message into what its writer says, `words/` holds the word classes of each language,
`grammar.py` turns these into patterns, `rules.py` says which classes together make an intent, and `engine.py`
finds the surest rule that is met.
"""

from memlines.agent.intent.engine import about_past, detect
from memlines.agent.intent.model import Request, detected, parsed, request
from memlines.agent.intent.values import Intent, nothing

__all__ = ["Intent", "Request", "about_past", "detect", "detected", "nothing", "parsed", "request"]

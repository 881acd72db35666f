"""What to tell a user whose message sounds like something for the memory."""

from __future__ import annotations

from memlines.agent.intent import Intent
from memlines.text.redaction import Rules, redact

_SENTENCES = {
    "remember": "/remember keeps this for later sessions",
    "query": "/recall looks this up in memory",
    "forget": "/forget removes this from memory",
}
_SHOWN = 60


def suggestion(found: Intent, rules: Rules | None = None) -> str | None:
    """Return a sentence that suggests a command, or nothing; secrets are not in it."""
    sentence = _SENTENCES.get(found.intent)
    if sentence is None:
        return None
    about = redact(" ".join(found.entities[0].split()), rules).text if found.entities else ""
    if len(about) > _SHOWN:
        about = f"{about[: _SHOWN - 1].rstrip()}…"
    return f"{sentence}: {about}" if about else sentence

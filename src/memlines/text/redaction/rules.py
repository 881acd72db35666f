"""Rules for tokens and addresses whose mark is not their beginning, one line a rule.

A rule has the kind that its placeholder names, keywords of which a text must hold one (in small letters, with
blanks between them) before the pattern is tried at all, the pattern, and a check of what matched. The secret
is what the last group of the pattern holds, or all of it where there is none. Tokens that are told by how
they begin are in `tokens.tsv`.

Every pattern begins with a literal or a small set of characters, so that the search for it skips quickly, and
every repetition is bounded or of one set of characters, so that no text can make it slow. What is matched is
part of a long word (see `tokens.py`), so the keywords are looked for in those only.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from memlines.text.redaction.checks import is_jwt, is_token

Check = Callable[[re.Match[str]], bool]


class Rule(NamedTuple):
    """What one kind of secret looks like."""

    kind: str
    keywords: str
    pattern: str
    check: Check | None = is_token
    gate: str = ""
    """If set, the pattern begins with the keyword, which is only one, and is tried where this one matches too
    with a last group that is in `after`: what follows a name. Rules of one name share their gate."""
    after: str = ""
    within: str = ""
    """What a text must hold as well, if many keywords have it in common."""


_H = "[0-9a-f]"

MARKED = (
    Rule("slack-webhook", "slack.com", r"hooks\.slack\.com/[a-z]{1,16}/([\w/+-]{20,})", None),
    Rule("discord-webhook", "api/webhooks/", r"api/webhooks/([0-9]{15,20}/[\w-]{30,})", None),
    Rule("teams-webhook", "webhook.office", r"webhook\.office\.com/webhookb2/([^\s\"'<>\\]{40,})", None),
    Rule("telegram-token", ":aa", r"[0-9]{8,10}:AA[\w-]{32,36}"),
    Rule("airtable-token", "pat", r"pat[A-Za-z0-9]{14}\.[0-9a-f]{64}"),
    Rule("bitwarden-token", "0.", r"0\.[0-9a-f-]{36}\.[A-Za-z0-9]{30}:[\w+/=]{20,}"),
    Rule("mailchimp-key", "-us", rf"{_H}{{32}}-us[0-9]{{1,2}}(?![A-Za-z0-9])"),
    Rule("terraform-token", ".atlasv1.", r"[A-Za-z0-9]{14}\.atlasv1\.[\w-]{60,}"),
    Rule("maxmind-key", "_mmk", r"[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk(?![A-Za-z0-9])"),
    Rule("new-relic-key", "nral", rf"{_H}{{36}}NRAL(?![A-Za-z0-9])"),
    Rule("rapidapi-key", "msh", rf"{_H}{{10}}msh{_H}{{15}}p1{_H}{{6}}jsn{_H}{{12}}(?![A-Za-z0-9])"),
    Rule("asana-token", "1/ 2/", r"[12]/[0-9]{16}(?:/[0-9]{16})?:[0-9a-f]{32}(?![A-Za-z0-9])"),
    Rule("azure-client-secret", "q~", r"[\w~.]{3}[0-9]Q~[\w~.-]{31,34}(?![A-Za-z0-9])"),
    Rule("azure-key", "jqqj9", r"[A-Za-z0-9]{48,56}JQQJ9[A-Za-z0-9]{16,40}"),
    Rule(
        "azure-key", "azfu azse azca acdb aiot", r"[\w+/-]{28,80}(?:Az(?:Fu|Se|Ca)|ACDb|AIoT)[\w+/=-]{6,12}"
    ),
    Rule("azure-devops-token", "azdo", r"[A-Za-z0-9]{70,78}AZDO[A-Za-z0-9]{4}(?![A-Za-z0-9])"),
    Rule("azure-key", "sharedaccesskey=", r"SharedAccessKey=([\w+/=]{40,})", None),
    Rule("azure-key", "accountkey=", r"AccountKey=([\w+/=]{40,})", None),
    Rule("azure-sas", "sig=", r"[?&;]sig=([\w%+/=-]{40,})", None),
    Rule("jwt", "eyj", r"eyJ(?<![\w-]eyJ)[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*){0,3}", is_jwt),
    Rule("password-hash", "$2a$ $2b$ $2y$", r"\$2[aby]\$[0-9]{2}\$[\w./]{53}", None, within="$"),
    Rule("password-hash", "$5$ $6$ $y$ $apr1$", r"\$(?:[56y]|apr1)\$[\w./=$-]{20,}", None, within="$"),
    Rule("password-hash", "$argon2", r"\$argon2(?:id|i|d)\$[\w./=,$+-]{30,}", None, within="$"),
)

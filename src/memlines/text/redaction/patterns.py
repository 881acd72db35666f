"""The rules by which secrets are recognised, one line a rule, and the check of those a user adds.

A rule has the kind that its placeholder names, keywords of which a text must hold one (in small letters, with
blanks between them) before the pattern is tried at all, the pattern, and a check of what matched. The secret
is what the last group of the pattern holds, or all of it where there is none. Tokens that are known by how
they begin are in `tokens.tsv`; `MARKED` has those whose mark is elsewhere, `FORMS` what is known by the text
around it.

Every pattern begins with a literal or a small set of characters, so that the search for it skips quickly, and
every repetition is bounded or of one set of characters, so that no text can make it slow. What `MARKED`
matches is part of a long word (see `tokens.py`), so the keywords are looked for in those only.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import NamedTuple

from memlines.errors import SettingsError
from memlines.text.redaction import assignments
from memlines.text.redaction.tokens import (
    is_basic,
    is_card,
    is_cookie,
    is_credential,
    is_given,
    is_jwt,
    is_key_block,
    is_token,
)

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


_MARKER = r"[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
_WHOLE = rf"(?:[^-]|-(?!----)){{0,20000}}+-----END {_MARKER}"
_BREAK = r"[ \t]{0,8}(?:\r?\n|\\r\\n|\\n)[ \t]{0,40}"
_LINE_OF_A_KEY = r"(?:[\w+/=]{16,}|[\w-]{1,24}:[ ][^\n\\\"]{1,80})"
_LAST_LINE = rf"(?:{_BREAK}[\w+/=]{{1,15}}(?=[\n\\\"']|$))?"
_CUT_OFF = rf"(?:(?:{_BREAK}){{1,2}}{_LINE_OF_A_KEY}){{1,400}}{_LAST_LINE}"

_QUOTE = r"\\{0,4}[\"'`]"
_SAYS = rf"(?:{_QUOTE})?\]?[ \t]{{0,3}}(?:=>|[:=,])[ \t]{{0,3}}\[?[bfru]?(?:{_QUOTE})?[ \t]{{0,3}}"
_SCHEME = r"(?:[A-Za-z][\w-]{1,30}[ \t]{1,3})?(?i:token=[\"']?)?"
_VALUE = r"([\w.~+/=|:%-]{6,})"
_COOKIES = r"([\w.-]{1,64}=[^\s;,\"'\\]{1,4096}(?:;[ ]?[\w.-]{1,64}=[^\s;,\"'\\]{0,4096}){0,64})"
_COMMAND = r"(?:[^\n|;]|(?<=\\)\n){0,240}?"
_GIVEN = r"[\"']?([^\s\"'\\`-][^\s\"'\\`]{3,255})"

_IS = r"[\"']?[ \t]{0,2}[:=][ \t]{0,2}[\"']?"
_QUOTED_GIVEN = r"[\"']([^\"'\n]{4,128})[\"']"
_PASSWORD_FOR = r"[pP](?i:assword for) '[^\n=]{1,80}=[ \t]{0,4}"
_ELEMENT_NAME = r"[pPsStTaA](?i:assword|asswd|ecret|oken|pi_?key)"
_ELEMENT = r"(?:\\[nrt]|\s){0,60}([^<\s\\]{6,256})(?:\\[nrt]|\s){0,60}"
_SECRET_NAME = r"[\w.-]{0,60}(?i:password|passwd|secret|token|api[_-]?key)"
_NAMED_AFTER = rf'(?=,\s{{0,40}}"(?i:name|key)"[ \t]{{0,4}}:[ \t]{{0,4}}"{_SECRET_NAME}")'
_VALUE_FIRST = rf'"value"[ \t]{{0,4}}:[ \t]{{0,4}}"([^"\n]{{6,512}})"{_NAMED_AFTER}'

_URL_PASSWORD = r"://[^\s:/@?#\"'<>\\]{0,128}:([^\s/\"'<>\\]{1,256})@(?=[\w\[$.-])"
_AT_SOCKET = r":([^\s\"'@:/]{1,128})@(?:tcp|udp|unix)\("
_LONE_USER = r"://([\w.~%-]{20,200})@(?=\w)"
_USER = r"(?:-[ua][ \t]{0,2}|--(?:user|proxy-user|auth)[ \t=]{1,2})[\"']?[^\s:\"'-]?[^\s:\"']{0,64}:"
_WITH_USER = rf"[cwh](?:url|get|ttps?)(?=[ \t]){_COMMAND}[ \t]{_USER}"
_MYSQL = r"m(?:ysql|ariadb)[\w-]{0,12}(?=\s)"
_TOOL = r"[sdprmlu](?:shpass|ocker login|odman login|edis-cli|ongo\w{0,8}|qlcmd|dap\w{1,12}|nzip)(?=\s)"
_TOOLS = "sshpass docker podman redis-cli mongo sqlcmd ldap unzip"
_PASSFILE = r":(?:5432|6432):[\w*-]{1,64}:[\w.*-]{1,64}:"
_BY_FOUR = "[2-6][0-9]{3}(?:[0-9]{11,12}|(?: [0-9]{4}){3}|(?:-[0-9]{4}){3}"
_CARD = rf"{_BY_FOUR}| [0-9]{{6}} [0-9]{{5}}|-[0-9]{{6}}-[0-9]{{5}})(?![0-9])"

_STRUCTURED = (
    Rule("private-key", "-----begin", rf"-----BEGIN {_MARKER}(?:{_WHOLE}|{_CUT_OFF})", is_key_block),
    Rule(
        "authorization",
        "authorization",
        rf"[aA](?<![A-Za-z][aA])(?i:uthorization){_SAYS}{_SCHEME}{_VALUE}",
        is_credential,
    ),
    Rule("bearer-token", "bearer", r"[bB](?i:earer)[ \t]{1,3}([\w.~+/=-]{16,})", is_credential),
    Rule("basic-auth", "basic", r"[bB](?i:asic)[ \t]{1,3}([A-Za-z0-9+/]{8,}={0,2})", is_basic),
    Rule("cookie", "cookie", rf"[cC](?i:ookie){_SAYS}{_COOKIES}", is_cookie),
    Rule("url-password", "://", _URL_PASSWORD, is_given),
    Rule("url-password", "://", _LONE_USER, is_credential),
    Rule("url-password", "@tcp( @unix( @udp(", _AT_SOCKET, is_given, within="@"),
    Rule("password", "identified", rf"[iI](?i:dentified[ \t]{{1,4}}by)[ \t]{{1,4}}{_QUOTED_GIVEN}", is_given),
    Rule("password", "'@'", rf"{_PASSWORD_FOR}{_QUOTED_GIVEN}", is_given, within="@"),
    Rule("basic-auth", "auth", rf"auth{_IS}([A-Za-z0-9+/]{{12,}}={{0,2}})(?![\w.(])", is_basic),
    Rule("private-key", "key-data", r"key-data[\"']?:[ \t]{1,4}[\"']?([A-Za-z0-9+/=]{40,})", None),
    Rule("password", '"value"', _VALUE_FIRST, is_given),
    Rule("password", "password", r"[pP](?i:assword)[ \t]{1,4}'([^'\n]{4,128})'", is_given),
    Rule("password", "login", r"[lL](?i:ogin)\s{1,4}\S{1,64}\s{1,8}password\s{1,4}(\S{4,128})", is_given),
    Rule("password", ":5432: :6432:", _PASSFILE + _GIVEN, is_given),
    Rule("password", "passin passout", rf"-pass(?:in|out)[ \t]{{1,2}}[\"']?pass:{_GIVEN}", is_given),
    Rule("password", "</", rf"{_ELEMENT_NAME}>{_ELEMENT}</", is_given, within="<"),
    Rule("payment-card", "", _CARD, is_card),
    Rule("mailgun-key", "mailgun", r"[0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8}(?![\w-])"),
)

_COMMANDS = (
    Rule("cookie", "curl", rf"-(?:b|-cookie)[ \t=]{{1,2}}[\"']?{_COOKIES}", is_cookie, within=" -"),
    Rule("password", "curl wget http", rf"{_WITH_USER}{_GIVEN}", is_given, within=" -"),
    Rule("password", "mysql mariadb", rf"{_MYSQL}{_COMMAND}[ \t]-p{_GIVEN}", is_given, within=" -"),
    Rule("password", _TOOLS, rf"{_TOOL}{_COMMAND}[ \t]-[apPw][ \t]{{0,2}}{_GIVEN}", is_given, within=" -"),
    Rule("password", "login", rf"login(?=\s){_COMMAND}[ \t]-p[ \t]{{0,2}}{_GIVEN}", is_given, within=" -"),
    Rule("password", "smbclient", rf"-U[ \t]{{1,2}}[\"']?[\w.-]{{1,64}}%{_GIVEN}", is_given, within=" -"),
)

_ASSIGNED = tuple(
    Rule(
        kind,
        keyword,
        pattern.replace(assignments.WORD, word),
        check,
        assignments.GATE.replace(assignments.WORD, word) if after else "",
        after,
        within,
    )
    for kind, keyword, word, patterns in assignments.WORDS
    # A single character is looked for much faster than a word, and most texts have none of these.
    for within in [next((sign for sign in keyword if not sign.isascii()), "")]
    for pattern, check, after in patterns
)

FORMS = _STRUCTURED + _COMMANDS + _ASSIGNED


_KIND = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_PIECE = re.compile(
    r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\((?:\?(?:[aiLmsux-]*:|P<\w+>|<?[=!]|>))?|[)|]|.", re.DOTALL
)
_REPEAT = re.compile(r"[*+]|\{(\d*),?(\d*)\}")


def check_rules(pairs: Iterable[tuple[str, str]]) -> tuple[Rule, ...]:
    """Return rules from pairs of a kind and a pattern, or say which one cannot be used."""
    rules = []
    for kind, pattern in pairs:
        if problem := _problem(kind, pattern):
            reason, todo = problem
            raise SettingsError(f"The rule {kind!r} of redaction.rules {reason}", todo=todo)
        rules.append(Rule(kind, "", pattern, None))
    return tuple(rules)


def _problem(kind: str, pattern: str) -> tuple[str, str] | None:
    """Return why a rule cannot be used and what to do, if it cannot."""
    has = f"has the pattern {pattern!r}"
    if not _KIND.fullmatch(kind):
        return "has an invalid kind", "Write the kind in small letters, digits and hyphens"
    try:
        compiled = re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        return f"{has}, which is not a regular expression: {error}", "Correct the pattern"
    if compiled.groups > 1:
        todo = "Keep one around what must be hidden, and write the others as (?:…)"
        return f"{has}, with more than one group", todo
    if compiled.match("") or compiled.search(" "):
        return f"{has}, which matches an empty text or a blank", "Write a pattern that matches secrets only"
    if _repeats_repeats(pattern):
        todo = "Repeat single characters or sets such as [a-z0-9]+ instead of groups that repeat themselves"
        return f"{has}, which could take for ever on some texts", todo
    return None


def _repeats_repeats(pattern: str) -> bool:
    """Return whether a group that repeats something, or chooses, is itself repeated without need.

    Such a pattern has many ways to match the same text and may try all of them before it gives up.
    """
    inside = [False]
    place = 0
    while piece := _PIECE.match(pattern, place):
        place = piece.end()
        if piece[0][0] == "(":
            inside.append(False)
            continue
        ambiguous = piece[0] == ")" and len(inside) > 1 and inside.pop()
        repeat = _REPEAT.match(pattern, place)
        often = False
        if repeat is not None:  # without an end, or with one that is far away
            last = repeat[2] or (repeat[1] if "," not in repeat[0] else "")
            often = not last or int(last) > 10
        if often and ambiguous:
            return True
        inside[-1] |= often or ambiguous or (piece[0] == "|" and len(inside) > 1)
    return False

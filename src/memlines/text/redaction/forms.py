"""The table of secrets that can be told by what stands around them, one rule after the other."""

from __future__ import annotations

from memlines.text.redaction import assignments
from memlines.text.redaction.checks import (
    is_basic,
    is_card,
    is_cookie,
    is_credential,
    is_given,
    is_key_block,
)
from memlines.text.redaction.rules import Rule

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
    Rule(kind, keyword, pattern(word), check, assignments.gate(word) if after else "", after, within)
    for kind, keyword, word, patterns in assignments.WORDS
    # A single character is looked for much faster than a word, and most texts have none of these.
    for within in [next((sign for sign in keyword if not sign.isascii()), "")]
    for pattern, check, after in patterns
)

FORMS = _STRUCTURED + _COMMANDS + _ASSIGNED

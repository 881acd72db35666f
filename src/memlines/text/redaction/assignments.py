r"""Recognise secrets by the name they are given: `API_KEY=…`, `"password": "…"`, `--token …`, `secret: …`.

`apiKey` and `DB_PASSWORD` are names of secrets, `monkey` and `primary_key` are not. The patterns begin at the
last word of the name; `name_at` looks back from there for the rest of it. A secret may be quoted, or quoted
again with backslashes, as in a line of JSON that holds code. What follows a name is often not a secret but a
variable, a type, a call or an example; the checks distinguish them, more strictly the less the name says.
"""

from __future__ import annotations

import re

from memlines.text.redaction.tokens import is_hex, is_mixed, is_path, is_placeholder, is_random, is_wordy

_NOT_OF_A_NAME = re.compile(r"[^\w.-]", re.ASCII)
_LONGEST = 48
_PARTS = re.compile(r"[^A-Za-z0-9]+|(?<=[a-z])(?=[A-Z])")

_OF_SECRET_KEYS = (
    "api", "access", "secret", "private", "auth", "app", "application", "client", "account", "master",
    "signing", "encrypt", "encryption", "decryption", "license", "storage", "shared", "subscription",
    "service", "admin", "root", "deploy", "signature", "consumer", "webhook", "jwt", "hmac", "aes",
    "cipher", "session", "write", "project", "server", "live", "integration", "personal", "prod",
    "production", "ssl",
)  # fmt: skip
_OF_HARMLESS = {
    "key": frozenset((
        "public", "pub", "publishable", "primary", "foreign", "sort", "partition", "cache", "row", "group",
        "dict", "map", "object", "idempotency", "dedupe", "routing", "shard", "index", "lookup",
        "translation", "i18n", "message", "hot", "short", "arrow", "unique", "composite", "natural",
        "surrogate", "range", "hash", "registry", "config", "cfg", "setting", "option", "parent", "child",
        "data", "json", "yaml", "meta", "lock", "s3", "bucket", "host", "known", "ssh", "anon", "site",
    )),
    "token": frozenset((
        "page", "next", "continuation", "sync", "cursor", "pad", "eos", "bos", "sep", "cls", "mask", "unk",
        "stop", "special", "first", "last", "current", "max", "min", "num", "total", "prompt", "completion",
        "cached", "per", "string", "number", "identifier", "operator", "start", "end", "resume",
        "pagination", "publish", "public", "cancel", "cancellation", "key",
    )),
    "secret": frozenset(("open", "no", "top")),
}  # fmt: skip
_SHORT = frozenset(("pass", "passe", "pw", "psk", "clave", "clé", "jeton"))
"""Words that others end with, as `bypass` does."""
_GROWN_TO = {
    "key": (*_OF_SECRET_KEYS, "my"),
    "token": ("auth", "access", "refresh", "bot", "api", "session", "csrf", "id", "my", "bearer", "user"),
    "secret": ("client", "app", "api", "consumer", "shared", "my", "jwt"),
}
"""What a word may be grown together with and still be the word."""


def name_at(match: re.Match[str]) -> str:
    """Return the name whose last word is the group `word` of a match; nothing if it is not a secret's."""
    word, start = match["word"], match.start("word")
    before = match.string[max(0, start - _LONGEST) : start]
    front = _NOT_OF_A_NAME.split(before)[-1]
    if front.startswith(("n", "r", "t")) and before.endswith("\\" + front):
        front = front[1:]  # the escaped line break of a line of JSON
    is_type = before.endswith("::" + front)
    return front + word if not is_type and _may_be(front, word) else ""


def _may_be(front: str, word: str) -> bool:
    grown = front[-1:].isalpha() and (word[0].islower() or front[-1].isupper())
    kind = word.lower()
    if kind not in _OF_HARMLESS:
        return not grown or kind not in _SHORT
    qualifier = _PARTS.split(front.rstrip("_-."))[-1].lower()
    if grown and not qualifier.endswith(_GROWN_TO[kind]):
        return False
    return qualifier not in _OF_HARMLESS[kind]


def says_secret(name: str) -> bool:
    """Return whether a key's name says that it opens something: by a word, or as a variable in capitals."""
    front = name[:-3].rstrip("_-.")
    return front.lower().endswith(_OF_SECRET_KEYS) or (bool(front) and name.isupper())


_SUFFIX = r"(?i:[_-]?(?:base|prod|production|dev|live|staging|value|new|old|v?[0-9]{1,2}))?"
_QUOTE = r"\\{0,4}[\"'`]"
_QUOTED = rf"(?P<quote>{_QUOTE})(?!(?P=quote))(?P<quoted>[^\n]{{1,512}}?)(?<!\\)(?P=quote)"
_PLAIN = r"[^\s\"'`,;&<>|(){}\[\]\\]"
_BARE = rf"(?P<bare>{_PLAIN}{{1,512}}(?:\\(?![nrtu\"'`\\]){_PLAIN}{{0,256}}){{0,8}})"
_RUN = r"(?P<bare>[^\s\"'`\\-][^\s\"'`\\]{3,511})"
_TYPE = r":[ \t]{0,4}[&A-Za-z][\w.\[\]|<>&']{0,40}[ \t]{0,4}=|[ \t]string[ \t]{0,4}="
_ASSIGNS = rf"(?:(?:{_TYPE})(?=[ \t]{{0,8}}[\"'`])|=>|:=|\?=|={{1,3}}|:|(?P<comma>,)(?=[ \t]{{0,8}}{_QUOTE}))"

_GAP = r"[ \t]{0,4},?(?:\\[nrt]|\s){0,40}"
_IS = r"[ \t]{0,4}[:=][ \t]{0,4}"
_FIELD = rf"(?:{_QUOTE})?\w{{1,20}}(?:{_QUOTE})?{_IS}(?:{_QUOTE})?[\w.-]{{0,40}}(?:{_QUOTE})?{_GAP}"
_BETWEEN = r"(?P<between>(?:[ \t][^\s.,;:!?\"'`=]{1,24}){0,5}?)"
_NOW = r"(?:[ \t](?:now|still|set[ \t]to|jetzt|nu|maintenant|ahora))?"
_VERB = (
    rf"(?i:(?:is|was|ist|war|lautet|luidt|est|était|es|era){_NOW}"
    r"|(?:set|changed|reset|updated)[ \t]to|(?P<to>to))"
)

_LINE_START = re.compile(r"(?:^|\n|\\n|[\"'`])[ \t>+-]*(?:(?:export|set|env|ENV|ARG|declare -x)[ \t]+)?\Z")
_DOTTED_NAME = re.compile(r"[A-Za-z_]\w*(?:(?:\.|::|->)[A-Za-z_]\w*)+")
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
_SECRET_WORD = re.compile(r"pass|pwd|token|secret|key|hash|auth|cred|digest", re.IGNORECASE)
_SIGN = re.compile(r"[^\w\s.,:;/\\'\"()\[\]{}<>-]")


_NAMES_OF_MUCH = frozenset(("key", "token", "secret", "schlüssel", "sleutel", "clé", "jeton", "clave"))
"""Words that name much else as well."""
_NAMES_OF_KEYS = ("key", "token", "secret", "schlüssel", "sleutel", "clé", "jeton")

_ENOUGH = 128
"""Characters of a value that are enough to judge it."""


WORD = "%WORD%"
"""In the patterns below, the place of the word that a name ends with."""

_NAMED = rf"(?P<word>{WORD})"
_NAME = rf"{_NAMED}{_SUFFIX}(?:{_QUOTE})?"
_GIVEN = rf"(?:{_QUOTED}|{_RUN})"

GATE = (
    rf"{WORD}{_SUFFIX}(?:{_QUOTE})?\]?"
    r"(?:[ \t]{0,8}(?:([:=,])|[?](?=(=)))|\\[nr]|\r?(?=(\n))|(?=([ \t])))"
)
"""A name and what follows it: `=`, `:`, `,`, a line break, or a blank and words."""

_ASSIGNMENT = rf"{_NAME}\]?[ \t]{{0,8}}{_ASSIGNS}[ \t]{{0,8}}[bfru@]?(?:{_QUOTED}|(?:{_QUOTE})?{_BARE})"
_ENVIRONMENT_LINE = rf"{_NAMED}{_SUFFIX}={_RUN}"
"""In an environment file, where a value may hold any character."""
_OPTION = rf"--(?<!\w--)(?:[A-Za-z0-9]{{1,24}}-){{0,4}}{_NAMED}[ \t]{{1,4}}{_GIVEN}"
_STATEMENT = rf"{_NAMED}{_BETWEEN}[ \t]{{1,2}}{_VERB}[ \t]{{0,2}}:?[ \t]{{1,2}}{_GIVEN}"
"""A sentence that states a secret, in five languages."""
_MENTION = rf"{_NAMED}[ \t]{{1,2}}{_GIVEN}"
"""A secret right behind its name."""
_PAIR = rf"{_NAME}{_GAP}(?:{_FIELD}){{0,2}}(?:{_QUOTE})?(?i:value)(?:{_QUOTE})?{_IS}(?:{_QUOTED}|{_BARE})"
"""A name and a value that are fields of one thing: `name: …, value: …`."""
_BLOCK = (
    rf"{_NAME}[ \t]{{0,4}}:[ \t]{{0,4}}[|>][-+0-9]{{0,2}}[ \t]{{0,4}}"
    r"(?:\\n|\n)[ \t]{1,40}(?P<quoted>[^\s\\][^\n\\\"]{3,512})"
)
"""A value on the line below its name, as YAML writes it."""


def is_assigned(match: re.Match[str]) -> bool:
    """Return whether what is assigned to a name is a secret."""
    name = name_at(match)
    if not name:
        return False
    if (quoted := match["quoted"]) is not None:
        only_listed = match["comma"] and quoted.isalpha()
        return not only_listed and _is_secret(name, quoted, quoted=True)
    called = match.string.startswith(("(", "[", "{"), match.end())
    return (
        not called and not _is_code(match["bare"][:_ENOUGH]) and _is_secret(name, match["bare"], quoted=False)
    )


def is_environment(match: re.Match[str]) -> bool:
    """Return whether a line of an environment file sets a secret; almost any value counts there."""
    name, value = name_at(match), match["bare"][:_ENOUGH]
    start = match.end("word") - len(name)
    if not name.isupper() or not _LINE_START.search(match.string, max(0, start - 60), start):
        return False
    if is_placeholder(value) or is_path(value) or _is_code(value):
        return False
    if match["word"].startswith("P"):
        return len(value) >= 5
    return len(value) >= 8 and not is_wordy(value)


def is_option(match: re.Match[str]) -> bool:
    """Return whether an option of a command gives a secret away."""
    return _is_password(_value_of(match))


def is_stated(match: re.Match[str]) -> bool:
    """Return whether a sentence gives a secret away; a looser one needs a value that surely is one."""
    value = _value_of(match)
    if not _is_password(value):
        return False
    if match["to"] is None and (not match["between"] or match["word"].lower() not in _NAMES_OF_MUCH):
        return True
    return _is_surely(value)


def is_mentioned(match: re.Match[str]) -> bool:
    """Return whether what directly follows a name can only be a secret."""
    value = _value_of(match)
    if match["word"].lower() == "pass":  # which is a verb
        return False
    if match["word"].lower() in _NAMES_OF_MUCH:
        return is_random(value, 16) and is_mixed(value) and not is_hex(value)
    return len(value) >= 8 and _is_password(value) and _is_surely(value)


def is_value(match: re.Match[str]) -> bool:
    """Return whether the value of a field or of a block is a secret, given the name beside it."""
    name = name_at(match)
    quoted = match["quoted"] is not None
    value = match["quoted"] if quoted else match["bare"]
    return bool(name) and _is_secret(name, value.strip(), quoted=quoted)


def _value_of(match: re.Match[str]) -> str:
    """Return the value that a text gives; nothing if it is only a placeholder."""
    value: str = (match["quoted"] or match["bare"])[:_ENOUGH].rstrip(".,;:!?)")
    return "" if not name_at(match) or is_placeholder(value) or is_path(value) else value


def _is_surely(value: str) -> bool:
    return is_random(value, 8) or (is_mixed(value) and bool(_SIGN.search(value)))


def _is_secret(name: str, value: str, *, quoted: bool) -> bool:
    """Return whether a value that is no code is a secret, given the name it has."""
    value = value[:_ENOUGH]
    if is_placeholder(value) or is_path(value):
        return False
    kind = name.lower()
    if not kind.endswith(_NAMES_OF_KEYS):
        if quoted and value.isalpha():  # labels and types begin with a capital, or are placeholders
            return len(value) >= 6 and value.isascii() and value.islower()
        return _is_password(value)
    if kind.endswith("key") and not says_secret(name):
        return is_random(value, 20) and not is_hex(value) and " " not in value
    if " " in value:
        return False
    return is_random(value, 8) or (kind.endswith("secret") and quoted and _is_password(value))


def _is_password(value: str) -> bool:
    """Return whether a value may be a password: digits and letters, or a sign that words do not have."""
    if len(value) < 6 or value.count(" ") > 1:
        return False
    if value.isdigit():
        return len(value) <= 12
    return is_mixed(value) or bool(_SIGN.search(value))


def _is_code(value: str) -> bool:
    """Return whether a value without quotes is an expression rather than a text."""
    if _DOTTED_NAME.fullmatch(value):
        return is_wordy(value)
    return bool(_IDENTIFIER.fullmatch(value) and _SECRET_WORD.search(value)) and is_wordy(value)


_WRITTEN = (
    (_ASSIGNMENT, is_assigned, "=:, "),
    (_ENVIRONMENT_LINE, is_environment, "="),
    (_STATEMENT, is_stated, " "),
    (_MENTION, is_mentioned, " "),
    (_PAIR, is_value, ",\n "),
    (_BLOCK, is_value, ":"),
    (_OPTION, is_option, ""),
)
_SPOKEN = ((_ASSIGNMENT, is_assigned, "=:"), (_STATEMENT, is_stated, " "))
"""The ways a name is given a value, what says whether it is a secret, and what follows the name."""

WORDS = (
    ("api-key", "key", "(?i:key)", [way for way in _WRITTEN if way[0] is not _MENTION]),
    ("token", "token", "(?i:token)", _WRITTEN),
    ("secret", "secret", "(?i:secret)", _WRITTEN),
    ("password", "pass", "(?i:password|passwd|passphrase|passwort|passcode|passe|pass)", _WRITTEN),
    ("password", "pwd", "(?i:pwd)", _WRITTEN),
    ("password", "pw", "(?i:pw)", _SPOKEN),
    ("password", "kennwort", "(?i:kennwort)", _SPOKEN),
    ("password", "wachtwoord", "(?i:wachtwoord)", _SPOKEN),
    ("password", "contrase", "(?i:contrase[ñn]a)", _SPOKEN),
    ("password", "clave", "(?i:clave)", _SPOKEN),
    ("api-key", "schlüssel", "(?i:schlüssel)", _SPOKEN),
    ("api-key", "sleutel", "(?i:sleutel)", _SPOKEN),
    ("api-key", "clé", "(?i:clé)", _SPOKEN),
    ("token", "jeton", "(?i:jeton)", _SPOKEN),
)
"""By the kind of secret: what a text must contain to have one, how its names end, and how it is recognised.

Words of other languages are hardly ever names in programs, so fewer ways are looked for.
"""

"""Tell which names are those of secrets: `apiKey`, `DB_PASSWORD`, but not `monkey` or `primary_key`."""

from __future__ import annotations

import re

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
    """Tell whether a key's name says that it opens something: by a word, or as a variable in capitals."""
    front = name[:-3].rstrip("_-.")
    return front.lower().endswith(_OF_SECRET_KEYS) or (bool(front) and name.isupper())

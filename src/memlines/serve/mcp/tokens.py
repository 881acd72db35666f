"""The tokens of a team's server: a file that names who may ask, and what each may do.

    [anna]
    sha256 = "…"
    access = "write"
    scopes = ["project"]

The file has the hash of each token, so it cannot be used to ask. It still decides who may: one that
others can write or read, that is damaged, or that says something unknown, lets no one in.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import re
import secrets
import stat
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, get_args

from memlines.errors import PathError, SettingsError, UsageError, reason_of
from memlines.files import atomic
from memlines.folders import PRIVATE_FILE, make_private_folders
from memlines.paths import user_state_dir
from memlines.records import dataclass
from memlines.serve.rpc.messages import log
from memlines.types import Scope

Access = Literal["read", "write"]

_FIELDS = ("sha256", "access", "scopes")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,39}")
_HASH = re.compile(r"[0-9a-f]{64}")
_MOST_BYTES = 1_000_000
_NEW = 'Make one with "memlines serve --http --new-token NAME"'


@dataclass(frozen=True, slots=True)
class Token:
    """Who holds a token, its hash, and what it allows."""

    name: str
    sha256: str
    access: Access
    scopes: tuple[Scope, ...] = ("project",)


class TokenFile:
    """The tokens as the file has them now; it is read again when it changes."""

    def __init__(self, file: Path) -> None:
        """Read the file, or say what is wrong with it."""
        self.file = file
        self._lock = threading.Lock()
        self._seen = self._look()
        self._tokens: Sequence[Token] | SettingsError = load(file)

    def find(self, given: bytes) -> Token | None:
        """Return the token that a client sent, if it is in the file.

        Raises `SettingsError` while the file is wrong: a token may have been removed from it.
        """
        with self._lock:
            self._refresh()
            tokens = self._tokens
        if isinstance(tokens, SettingsError):
            raise tokens
        digest = hashlib.sha256(given).hexdigest()
        # All are compared, so that the time says nothing of which one is nearly right.
        found = [token for token in tokens if hmac.compare_digest(token.sha256, digest)]
        return found[0] if found else None

    def _refresh(self) -> None:
        seen = self._look()
        if seen == self._seen:
            return
        self._seen = seen
        try:
            self._tokens = load(self.file)
        except SettingsError as error:
            self._tokens = error
            log(f"no client is let in until this is repaired: {error}")

    def _look(self) -> tuple[int, ...]:
        """Return what changes with the file; its permissions change the last of these times."""
        try:
            found = self.file.stat()
        except OSError:
            return ()
        return found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def usual_file() -> Path:
    """Return where the tokens are kept unless another file is named."""
    return user_state_dir() / "server-tokens.toml"


def load(file: Path) -> tuple[Token, ...]:
    """Return the tokens in a file; there is at least one."""
    content = _read(file)
    if content is None:
        raise SettingsError(f"there is no token file {str(file)!r}", todo=_NEW)
    tokens = parse(file, content)
    if not tokens:
        raise SettingsError(f"the token file {str(file)!r} holds no token", todo=_NEW)
    return tokens


def add(file: Path, name: str, access: Access, scopes: Sequence[Scope]) -> str:
    """Make a token, write its hash into the file, and return it: it is not kept anywhere."""
    if not _NAME.fullmatch(name):
        raise UsageError(f"{name[:60]!r} is not a name for a token", todo=_naming())
    content = _read(file)
    if any(known.name == name for known in parse(file, content or b"")):
        raise UsageError(
            f"the token file {str(file)!r} has a token {name!r} already",
            todo=f"Choose another name, or delete [{name}] from the file to take that one back",
        )
    secret = secrets.token_urlsafe(32)
    listed = ", ".join(f'"{scope}"' for scope in get_args(Scope) if scope in ("project", *scopes))
    lines = [f"[{name}]", f'sha256 = "{hash_of(secret)}"', f'access = "{access}"', f"scopes = [{listed}]", ""]
    before = content.rstrip() + b"\n\n" if content and content.strip() else b""
    try:
        make_private_folders(file.parent)
        atomic.replace(file, before + "\n".join(lines).encode(), content, mode=PRIVATE_FILE)
    except (OSError, atomic.Changed) as error:
        why = "another program changes it" if isinstance(error, atomic.Changed) else reason_of(error)
        raise SettingsError(
            f"the token file {str(file)!r} cannot be written: {why}",
            todo="Check its permissions, and try again",
        ) from error
    return secret


def hash_of(secret: str) -> str:
    """Return what the file has of a token."""
    return hashlib.sha256(secret.encode()).hexdigest()


def _read(file: Path) -> bytes | None:
    try:
        content = atomic.read(file, _MOST_BYTES)
        mode = stat.S_IMODE(file.stat().st_mode) if content is not None else 0
    except (OSError, PathError) as error:  # a link, which could lead to a file of someone else
        why = error.what if isinstance(error, PathError) else reason_of(error)
        raise SettingsError(
            f"the token file {str(file)!r} cannot be read: {why}", todo="Check its permissions"
        ) from error
    if os.name == "posix" and mode & 0o077:
        raise SettingsError(
            f"others can read or change the token file {str(file)!r}", todo=f"Run chmod 600 {file}"
        )
    if content is not None and len(content) > _MOST_BYTES:
        raise SettingsError(f"{str(file)!r} is too large for a token file", todo="Name another one")
    return content


def parse(file: Path, content: bytes) -> tuple[Token, ...]:
    """Return the tokens that the content of a file names, or say what is wrong with it."""
    import tomllib

    try:
        tables = tomllib.loads(content.decode("utf-8-sig"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise SettingsError(f"the token file {str(file)!r} is not TOML: {error}", todo="Correct it") from None
    tokens: dict[str, Token] = {}
    for name, table in tables.items():
        where = f"[{name[:60]}] in the token file {str(file)!r}"
        token = _token(name, table, where)
        if token.sha256 in tokens:
            what = f"{where} is the same token as [{tokens[token.sha256].name}]"
            raise SettingsError(what, todo="Delete one of the two")
        tokens[token.sha256] = token
    return tuple(tokens.values())


def _token(name: str, table: Any, where: str) -> Token:
    """Return the token of a table, or say what is wrong with it."""
    if not _NAME.fullmatch(name):
        raise SettingsError(f"{where} is not a name", todo=_naming())
    if not isinstance(table, dict):
        raise SettingsError(f"{where} is not a table", todo=f"Below [{name}] are {', '.join(_FIELDS)}")
    if unknown := [field for field in table if field not in _FIELDS]:
        raise SettingsError(
            f"{where} has the unknown field {unknown[0][:60]!r}", todo=f"There are {', '.join(_FIELDS)}"
        )
    sha256 = table.get("sha256")
    if not isinstance(sha256, str) or not _HASH.fullmatch(sha256):
        raise SettingsError(f"{where} has no sha256 of 64 hexadecimal digits", todo=_NEW)
    access: Any = table.get("access")
    if access not in get_args(Access):
        raise SettingsError(f"{where} does not say what it allows", todo='Write access = "read" or "write"')
    scopes = table.get("scopes", ["project"])
    known = get_args(Scope)
    if not isinstance(scopes, list) or "project" not in scopes or any(one not in known for one in scopes):
        raise SettingsError(
            f"{where} has scopes that do not exist",
            todo='Write scopes = ["project"], or ["project", "personal"] for your personal memory as well',
        )
    return Token(name, sha256, access, tuple(scope for scope in known if scope in scopes))


def _naming() -> str:
    return "A name has up to 40 letters, digits, - and _"

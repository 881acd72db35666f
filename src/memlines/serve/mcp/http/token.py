"""The token that clients send: random, and in a file that only its owner can read."""

from __future__ import annotations

import os
import re
import secrets
import stat
from pathlib import Path

from memlines.beneath import PRIVATE_FILE, make_private_folders
from memlines.errors import SettingsError, reason_of
from memlines.files.atomic import create, read
from memlines.paths import user_state_dir

_FORM = re.compile(r"[A-Za-z0-9._~+/=-]{32,512}")
_MOST_BYTES = 4096


def token_file() -> Path:
    """Return where the token is kept unless another file is named."""
    return user_state_dir() / "mcp-token"


def token_in(file: Path) -> str:
    """Return the token in a file; if there is no file, make both."""
    try:
        make_private_folders(file.parent)
        create(file, f"{secrets.token_urlsafe(32)}\n", PRIVATE_FILE)
        if os.name == "posix" and stat.S_IMODE(file.stat().st_mode) & 0o077:
            raise SettingsError(
                f"others can read the token in {str(file)!r}",
                todo=f"Say chmod 600 {file}, or delete the file",
            )
        token = (read(file, _MOST_BYTES) or b"").decode("ascii", "replace").strip()
    except OSError as error:
        raise SettingsError(
            f"the token in {str(file)!r} cannot be used: {reason_of(error)}",
            todo="Check its permissions, or name another file with --token-file",
        ) from error
    if not _FORM.fullmatch(token):
        raise SettingsError(
            f"{str(file)!r} holds no token: that is 32 letters and digits or more",
            todo="Delete the file, and a new one is made",
        )
    return token

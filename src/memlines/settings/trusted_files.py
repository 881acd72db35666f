"""What a project's settings file may set, and which of these files the user has reviewed and trusts.

A file is trusted as it was when it was reviewed: the record holds its path and the hash of its content, so
any later change has to be reviewed again. Settings files are read here, because links are refused.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Literal

from memlines.errors import PathError, SettingsError, reason_of
from memlines.folders import make_own_folder, open_file
from memlines.paths import user_state_dir

Project = Literal["no", "less", "yes"]
"""Whether a project's own file may set a key: never, only to less than it was, or freely.

A project's file comes from a cloned repository, so the author of that repository speaks
through it. It must not be able to read more of the user's files (sources,
extra_paths, store.path), send text or money anywhere (embeddings, spend, cache, which
saves paid calls), run a program (backend), touch another agent's index (agent, store) or
keep more of what the user says (facts). Those are "no", and "no" is what a new key gets.
Ranking, chunking and counting knobs only change how the project's own notes are found;
their limits keep them harmless, so they are "yes". Whether memory is used, how much of a
conversation is kept and how large a file is read are "less": a project may ask for less
than the user's own settings give it, such as switching something off, but never for more.
"""

_RECORD = "trusted.json"
MAX_BYTES = 1_000_000
"""No settings file is longer; one that is was put there by mistake or to do harm."""


def read_user_file(path: Path) -> bytes | None:
    """Return the user's file, or None if there is none; it may be a link, as dotfiles often are."""
    return _read(path, links=True)


def read_project_file(path: Path) -> bytes | None:
    """Return a project's file, or None if there is none.

    Neither it nor its folder may be a link: a cloned repository could point one at any file of the user, and
    messages about that file would then quote it.
    """
    if stat.S_ISLNK(_mode(path.parent, links=False) or 0):
        raise SettingsError(
            f"the folder {str(path.parent)!r} is a symbolic link, so the settings in it are not read",
            todo="Replace the link by a real folder",
        )
    return _read(path, links=False)


def _read(path: Path, *, links: bool) -> bytes | None:
    """Read a small regular file."""
    mode = _mode(path, links=links)
    if mode is None:
        return None
    if stat.S_ISLNK(mode):
        raise _linked(path)
    if not stat.S_ISREG(mode):
        raise SettingsError(
            f"settings file {str(path)!r} is not a regular file", todo="Remove it, or put a YAML file there"
        )
    try:
        # Opened from folder to folder: what was looked at may be a link by now.
        with path.open("rb") if links else os.fdopen(open_file(path, path.parent.parent), "rb") as file:
            content = file.read(MAX_BYTES + 1)
    except PathError:
        raise _linked(path) from None
    except OSError as error:
        raise _unreadable(path, error) from error
    if len(content) > MAX_BYTES:
        raise SettingsError(
            f"settings file {str(path)!r} is larger than {MAX_BYTES} bytes",
            todo="Keep only settings in it",
        )
    return content


def _mode(path: Path, *, links: bool) -> int | None:
    """Return what kind of file a path is, or None if nothing is there."""
    try:
        return path.stat(follow_symlinks=links).st_mode
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError) as error:
        raise _unreadable(path, error) from error


def _linked(path: Path) -> SettingsError:
    return SettingsError(
        f"settings file {str(path)!r} is a symbolic link, so it is not read",
        todo="Replace the link by the file itself",
    )


def _unreadable(path: Path, error: Exception) -> SettingsError:
    """Return the error for a file the system does not let us read."""
    return SettingsError(
        f"settings file {str(path)!r} cannot be read: {reason_of(error)}",
        todo="Check the path and its permissions",
    )


def trust(config_file: Path, content: bytes | None = None) -> str:
    """Record that a project's file, as it is now or with this content, may set every key; return its hash."""
    if content is None:
        content = read_project_file(config_file)
    if content is None:
        raise SettingsError(
            f"there is no settings file {str(config_file)!r} to trust", todo="Check the workspace"
        )
    digest = _digest(content)
    _write_record({**_read_record(), os.path.realpath(config_file): digest})
    return digest


def distrust(config_file: Path) -> bool:
    """Stop trusting a project's file; return whether it was trusted."""
    record = _read_record()
    if record.pop(os.path.realpath(config_file), None) is None:
        return False
    _write_record(record)
    return True


def is_trusted(config_file: Path) -> bool:
    """Return whether a project's file is trusted as it is now."""
    content = read_project_file(config_file)
    return content is not None and is_trusted_content(config_file, content)


def is_trusted_content(config_file: Path, content: bytes) -> bool:
    """Return whether this content of a file is trusted; what was checked is what gets used."""
    return _read_record().get(os.path.realpath(config_file)) == _digest(content)


def _digest(content: bytes) -> str:
    import hashlib

    return hashlib.sha256(content).hexdigest()


def _read_record() -> dict[str, str]:
    """Return the recorded hashes by path."""
    import json

    file = user_state_dir() / _RECORD
    try:
        record = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise SettingsError(
            f"the record of trusted settings {str(file)!r} cannot be read: {reason_of(error)}",
            todo="Check its permissions",
        ) from error
    except (ValueError, RecursionError):
        record = None
    if not isinstance(record, dict) or not all(isinstance(digest, str) for digest in record.values()):
        raise SettingsError(
            f"the record of trusted settings {str(file)!r} is damaged",
            todo="Delete it, then run 'memlines config trust' again where you need it",
        )
    return record


def _write_record(record: dict[str, str]) -> None:
    """Replace the record in one step, so that no reader ever sees half of it."""
    import json
    import tempfile

    file = user_state_dir() / _RECORD
    draft: Path | None = None
    try:
        make_own_folder(file.parent)
        handle, name = tempfile.mkstemp(dir=file.parent, prefix=".trusted-")
        draft = Path(name)
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            stream.write(json.dumps(record, indent=2, sort_keys=True) + "\n")
            stream.flush()
            os.fsync(stream.fileno())
        draft.replace(file)
    except OSError as error:
        if draft is not None:
            draft.unlink(missing_ok=True)
        raise SettingsError(
            f"the record of trusted settings {str(file)!r} cannot be written: {reason_of(error)}",
            todo="Check the permissions of its folder and the space on the disk",
        ) from error

"""Read the bytes of settings files, and record which projects' files the user has reviewed and trusts.

A file is trusted as it was when it was reviewed: the record holds its place and the hash of its content, so
any later change has to be reviewed again.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

from memlines.errors import PathError, SettingsError, reason_of
from memlines.folders import make_own_folder, open_file
from memlines.paths import user_state_dir

MAX_BYTES = 1_000_000
"""No settings file is longer; one that is was put there by mistake or to do harm."""


def read_user_file(path: Path) -> bytes | None:
    """Return the user's file, or None if there is none; it may be a link, as dotfiles often are."""
    return _read(path, links=True)


def read_project_file(path: Path) -> bytes | None:
    """Return a project's file, or None if there is none.

    Neither it nor its folder may be a link: a cloned repository could point one at any
    file of the user, and messages about that file would then quote it.
    """
    folder_mode = _mode(path.parent, links=False)
    if folder_mode is not None and stat.S_ISLNK(folder_mode):
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
    _write_record({**_read_record(), _place(config_file): digest})
    return digest


def distrust(config_file: Path) -> bool:
    """Take the trust back; return whether there was any."""
    record = _read_record()
    if record.pop(_place(config_file), None) is None:
        return False
    _write_record(record)
    return True


def is_trusted(config_file: Path) -> bool:
    """Return whether a project's file is trusted as it is now."""
    content = read_project_file(config_file)
    return content is not None and is_trusted_content(config_file, content)


def is_trusted_content(config_file: Path, content: bytes) -> bool:
    """Return whether this content of a file is trusted; what was checked is what gets used."""
    return _read_record().get(_place(config_file)) == _digest(content)


def _place(config_file: Path) -> str:
    """Return the one path a file is recorded under, however its workspace was spelled."""
    return os.path.realpath(config_file)


def _digest(content: bytes) -> str:
    import hashlib

    return hashlib.sha256(content).hexdigest()


def _record_file() -> Path:
    return user_state_dir() / "trusted.json"


def _read_record() -> dict[str, str]:
    """Return the recorded hashes by path."""
    import json

    file = _record_file()
    try:
        record = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise SettingsError(
            f"the record of trusted settings {str(file)!r} cannot be read: {reason_of(error)}",
            todo="Check its permissions",
        ) from error
    except (ValueError, RecursionError) as error:
        raise _damaged(file) from error
    if not isinstance(record, dict) or not all(isinstance(digest, str) for digest in record.values()):
        raise _damaged(file)
    return record


def _damaged(file: Path) -> SettingsError:
    """Return the error for a record that cannot be understood, which grants no trust."""
    return SettingsError(
        f"the record of trusted settings {str(file)!r} is damaged",
        todo="Delete it, then run 'memlines config trust' again where you need it",
    )


def _write_record(record: dict[str, str]) -> None:
    """Replace the record in one step, so that no reader ever sees half of it."""
    import json
    import tempfile

    file = _record_file()
    text = json.dumps(record, indent=2, sort_keys=True) + "\n"
    try:
        make_own_folder(file.parent)
        handle, name = tempfile.mkstemp(dir=file.parent, prefix=".trusted-")
    except OSError as error:
        raise _unwritable(file, error) from error
    draft = Path(name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        draft.replace(file)
    except OSError as error:
        draft.unlink(missing_ok=True)
        raise _unwritable(file, error) from error


def _unwritable(file: Path, error: OSError) -> SettingsError:
    return SettingsError(
        f"the record of trusted settings {str(file)!r} cannot be written: {reason_of(error)}",
        todo="Check the permissions of its folder and the room on the disk",
    )

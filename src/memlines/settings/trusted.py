"""Remembers which projects' settings files the user has reviewed and trusts.

A file is trusted as it was when it was reviewed: the record holds its place and the hash
of its content, so any later change has to be reviewed again.
"""

from __future__ import annotations

import os
from pathlib import Path

from memlines.beneath import make_own_folder
from memlines.errors import SettingsError, reason_of
from memlines.paths import user_state_dir
from memlines.settings.config_file import read_project_file


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
    """Tell whether a project's file is trusted as it is now."""
    content = read_project_file(config_file)
    return content is not None and is_trusted_content(config_file, content)


def is_trusted_content(config_file: Path, content: bytes) -> bool:
    """Tell whether this content of a file is trusted; what was checked is what gets used."""
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

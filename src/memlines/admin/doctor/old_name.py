"""Check what the project's first name left in the user-wide folders, and move it."""

from __future__ import annotations

from collections.abc import Iterator

from memlines.admin.doctor.checkup import Checkup, Finding, ok, warning
from memlines.errors import WriteError, reason_of
from memlines.paths import old_user_folders


def check_old_name(_: Checkup) -> Iterator[Finding]:
    """Look for user-wide folders of the old name; settings and clients are looked at by their own checks."""
    folders = old_user_folders()
    for kind, old, new in folders:
        if not new.exists():
            yield warning(
                f"{old} is still used by its old name, instead of {new}",
                "Run 'memlines doctor --repair', which moves it",
                "old-name",
            )
        elif kind == "cache":
            yield warning(f"{old} is a cache that is not used any more", "Delete it")
        else:
            yield warning(
                f"{old} is not used, because {new} exists as well",
                "Move what you need of it into the new one yourself, then delete it",
            )
    if not folders:
        yield ok("nothing is left of the old name")


def move_old_folders() -> str:
    """Give the folders their new names, each by one renaming; where both exist, nothing is changed."""
    moved = []
    for _, old, new in old_user_folders():
        if not new.exists():
            try:
                old.rename(new)
            except OSError as error:
                raise WriteError(
                    f"{str(old)!r} cannot be moved to {str(new)!r}: {reason_of(error)}",
                    todo="Check the permissions of the folder that holds it",
                ) from error
            moved.append(f"{old} to {new}")
    return f"moved {', '.join(moved)}" if moved else "moved nothing"

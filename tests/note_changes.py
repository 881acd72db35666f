"""Change notes as the product does: lines by `rewrite`, as of facts, and whole notes as `undo` does."""

from __future__ import annotations

from memlines.files import trash
from memlines.files.atomic import read
from memlines.files.notes import locate_lines, rewrite
from memlines.files.place import attempt, place_of, writing
from memlines.paths import Workspace
from memlines.text.edits import cut, put


def edit(home: Workspace, path: str, first: int, last: int, new: str, expected: str) -> tuple[int, int]:
    """Replace lines that hold the expected text, and return where the new ones are."""

    def change(text: str) -> tuple[str, tuple[int, int]]:
        edited = put(text, *locate_lines(path, text, first, last, expected), new)
        return edited.text, (edited.first, edited.last)

    return rewrite(home, path, change)


def delete(home: Workspace, path: str, first: int, last: int, expected: str) -> None:
    """Take out lines that hold the expected text."""
    rewrite(
        home,
        path,
        lambda text: (cut(text, *locate_lines(path, text, first, last, expected)), None),
    )


def remove_note(home: Workspace, path: str) -> trash.Item:
    """Move a note to the trash, and return what that holds of it."""
    place = place_of(home, path)
    with writing(home):
        attempt(place, lambda: trash.put(home, place, read(place.real, root=place.root) or b""))
    return trash.items(home)[0]


def restore_note(home: Workspace, item: trash.Item) -> None:
    """Move a note from the trash to where it was."""
    place = place_of(home, item.path)
    with writing(home):
        attempt(place, lambda: trash.put_back(home, item.name, place))

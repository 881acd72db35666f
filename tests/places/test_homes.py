"""Without a home, or with one that cannot be used, the notes can be used or one sentence says what to do."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.memories import write
from tests.places.strangers import as_stranger, give_to_stranger

NOT_KNOWN = (
    "Error: the home folder of this user is not known."
    " Set HOME, or set MEMLINES_HOME to a folder for settings and caches\n"
)


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder with a workspace in it, of a user whom the system does not know and who cannot enter ours."""
    with TemporaryDirectory() as folder:
        write(Path(folder, "shop"), {"db.md": "# Database\n\nPostgres listens on port 5433.\n"})
        yield give_to_stranger(Path(folder))


def written(place: Path) -> set[str]:
    """Return what lies beside the workspace."""
    return {path.name for path in place.iterdir()} - {"shop"}


def test_a_user_without_a_home_gets_one_sentence(place: Path) -> None:
    for command, home in (
        (("search", "-w", "shop", "port"), {}),
        (("search", "-w", "shop", "port"), {"HOME": "here"}),
        (("install", "codex", "-w", "shop"), {"HOME": ""}),
    ):
        done = as_stranger(*command, cwd=place, env=home)
        assert (done.returncode, done.stdout, done.stderr) == (3, "", NOT_KNOWN)
    assert written(place) == set()


def test_a_hook_without_a_home_says_nothing_and_leaves_nothing(place: Path) -> None:
    done = as_stranger("hook", "codex", "SessionStart", cwd=place / "shop")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert {path.name for path in (place / "shop").iterdir()} == {"memory"}


def test_one_variable_is_enough_without_a_home(place: Path) -> None:
    home = {"MEMLINES_HOME": str(place / "all")}
    kept = as_stranger("remember", "-w", "shop", "The herons nest in May", cwd=place, env=home)
    found = as_stranger("search", "-w", "shop", "herons", cwd=place, env=home)
    assert (kept.returncode, kept.stderr, found.returncode, found.stderr) == (0, "", 0, "")
    assert "The herons nest in May" in found.stdout


@pytest.mark.parametrize("home", ["/nonexistent/home", "closed"])
def test_a_home_that_cannot_be_written_is_no_hindrance(place: Path, home: str) -> None:
    (place / "closed").mkdir(0o555)
    variables = {"HOME": str(place / home)}
    kept = as_stranger("remember", "-w", "shop", "The herons nest in May", cwd=place, env=variables)
    found = as_stranger("search", "-w", "shop", "herons", cwd=place, env=variables)
    assert (kept.returncode, kept.stderr, found.returncode, found.stderr) == (0, "", 0, "")
    assert "The herons nest in May" in found.stdout
    assert list((place / "closed").iterdir()) == []


def test_where_nothing_can_be_written_notes_are_read_and_the_rest_says_why(place: Path) -> None:
    for folder in (place / "shop" / "memory", place / "shop", place):
        folder.chmod(0o555)
    commands = {"get": "memory/db.md", "search": "port", "remember": "The herons nest in May"}
    done = {
        name: as_stranger(name, "-w", "shop", word, cwd=place, env={"HOME": "/nonexistent"})
        for name, word in commands.items()
    }
    assert {name: one.returncode for name, one in done.items()} == {"get": 0, "search": 5, "remember": 7}
    assert "port 5433" in done["get"].stdout
    for refused in (done["search"], done["remember"]):
        assert refused.stdout == ""
        assert refused.stderr.count("\n") == 1
        assert "cannot be written: permission denied. Check its permissions" in refused.stderr

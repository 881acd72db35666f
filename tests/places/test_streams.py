"""Locales, streams, terminals and folders for temporary files are odd, and the answer is the same."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.memories import write
from tests.programs import MAIN, environment, program

posix_only = pytest.mark.skipif(os.name == "nt", reason="needs a POSIX system")

NOTE = "memory/größe 😀.md"
TEXT = "# Größe\n\nDer Reiher ist ein Meter groß.\n"


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A workspace whose name and note have letters that few encodings know."""
    write(tmp_path / "Läden 店", {NOTE: TEXT})
    return tmp_path / "Läden 店"


@posix_only
@pytest.mark.parametrize(
    "variables",
    [
        {"LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        {"LC_ALL": None, "LC_CTYPE": None, "LANG": "C"},
    ],
)
def test_a_locale_changes_neither_names_nor_letters(shop: Path, variables: dict[str, str | None]) -> None:
    usual = program("search", "-w", shop, "Reiher", "--json")
    odd = program("search", "-w", shop, "Reiher", "--json", env={**variables, "PYTHONIOENCODING": None})
    assert (odd.returncode, odd.stderr) == (0, b"")
    assert odd.stdout == usual.stdout
    assert NOTE in odd.stdout.decode()


@posix_only
def test_a_note_is_written_under_any_locale(shop: Path) -> None:
    ascii_only = {"LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = program("remember", "-w", shop, "Die Möwe 🐦 ist kleiner", "--to", NOTE, env=ascii_only)
    assert (done.returncode, done.stderr) == (0, b"")
    text = (shop / NOTE).read_text(encoding="utf-8")
    assert text.startswith(TEXT)
    assert text.endswith("Die Möwe 🐦 ist kleiner\n")


@posix_only
def test_no_stream_and_no_terminal_is_needed(shop: Path) -> None:
    words = [sys.executable, "-c", MAIN, "search", "-w", str(shop), "Reiher"]
    closed = subprocess.run(
        ["sh", "-c", 'exec "$@" <&- 2>&-', "sh", *words],
        env=environment({"TERM": "dumb"}),
        stdout=subprocess.PIPE,
        start_new_session=True,  # without a controlling terminal
        timeout=60,
        check=False,
    )
    assert closed.returncode == 0
    assert "Der Reiher" in closed.stdout.decode()
    assert b"\x1b" not in closed.stdout


@posix_only
def test_what_needs_a_person_says_so_where_there_is_none(shop: Path) -> None:
    done = program("forget", "-w", shop, NOTE, env={"TERM": "dumb"}, start_new_session=True)
    assert done.returncode == 2
    assert done.stderr.decode().count("\n") == 1
    assert (shop / NOTE).read_text(encoding="utf-8") == TEXT


def test_no_folder_for_temporary_files_is_needed(shop: Path, tmp_path: Path) -> None:
    missing = dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(tmp_path / "missing"))
    done = program("remember", "-w", shop, "Die Möwe ist kleiner", env=missing)
    found = program("search", "-w", shop, "Möwe", env=missing)
    assert (done.returncode, done.stderr, found.returncode, found.stderr) == (0, b"", 0, b"")
    assert "Die Möwe" in found.stdout.decode()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="mounts a file system of its own")
def test_nothing_is_run_from_the_folder_for_temporary_files(shop: Path, tmp_path: Path) -> None:
    """Also not with vectors, whose engine is native code."""
    (folder := tmp_path / "noexec").mkdir()
    words = [sys.executable, "-c", MAIN, "search", "-w", str(shop), "Reiher"]
    script = 'mount -t tmpfs -o noexec,size=1m tmpfs "$TMPDIR" || exit 77; exec "$@"'
    try:
        done = subprocess.run(
            ["unshare", "--mount", "sh", "-c", script, "sh", *words],
            env=environment({"TMPDIR": str(folder), "MEMLINES_EMBEDDINGS__PROVIDER": "builtin"}),
            capture_output=True,
            timeout=110,
            check=False,
        )
    except FileNotFoundError:
        pytest.skip("there is no unshare here")
    if done.returncode == 77 or b"unshare" in done.stderr:
        pytest.skip("no file system can be mounted here")
    assert (done.returncode, done.stderr) == (0, b"")
    assert "Der Reiher" in done.stdout.decode()


@posix_only
@pytest.mark.parametrize("umask", ["077"])
def test_a_umask_changes_only_who_else_may_read(shop: Path, umask: str) -> None:
    words = [sys.executable, "-c", MAIN, "remember", "-w", str(shop), "Die Möwe", "--to", "memory/new.md"]
    script = f'umask {umask}; exec "$@"'
    done = subprocess.run(["sh", "-c", script, "sh", *words], env=environment({}), check=False, timeout=60)
    modes = [path.stat().st_mode & 0o777 for path in (shop / "memory" / "new.md", shop / ".memory")]
    assert (done.returncode, modes) == (0, [0o666 & ~int(umask, 8), 0o700])

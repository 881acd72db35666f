"""Line ends and paths of Windows in the data: lines keep their numbers, and notes their line ends."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.memories import write
from tests.programs import program

CRLF = (
    "\ufeff# Größe\r\n\r\nThe kestrel has 75 cm.\r\n\r\n"
    "## Herons\r\n\r\n- Grey herons: C:\\Users\\ada\\herons.txt\r\n"
)


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A workspace whose notes and settings were written by an editor of Windows."""
    write(tmp_path, {"birds.md": CRLF})
    (tmp_path / ".memory").mkdir()
    settings = "\ufeffquery:\r\n  max_results: 1\r\n"
    (tmp_path / ".memory" / "config.yaml").write_text(settings, encoding="utf-8", newline="")
    return tmp_path


def test_lines_have_the_numbers_that_an_editor_shows(shop: Path) -> None:
    done = program("search", "-w", shop, "Grey herons", "--json")
    assert done.returncode == 0, done.stderr
    results = json.loads(done.stdout)["results"]
    assert len(results) == 1  # by the settings
    assert (results[0]["path"], results[0]["end_line"]) == ("memory/birds.md", 7)
    assert "C:\\Users\\ada\\herons.txt" in results[0]["snippet"]
    assert "\r" not in results[0]["snippet"]
    lines = program("get", "-w", shop, "memory/birds.md", "--from", "3", "--lines", "1")
    assert lines.stdout.replace(b"\r\n", b"\n") == b"The kestrel has 75 cm.\n"


def test_a_path_of_windows_in_the_settings_is_named_if_it_is_not_there(shop: Path) -> None:
    settings = "\ufeffextra_paths:\r\n  - 'C:\\Users\\ada\\notes'\r\n"
    Path(os.environ["MEMLINES_HOME"], "config.yaml").write_text(settings, encoding="utf-8", newline="")
    done = program("sync", "-w", shop)
    assert done.returncode == 0, done.stderr
    said = (done.stdout + done.stderr).decode()
    assert "C:\\Users\\ada\\notes" in said
    assert "does not exist" in said


def test_an_added_entry_and_its_undoing_keep_the_line_ends(shop: Path) -> None:
    note = shop / "memory" / "birds.md"
    before = note.read_bytes()
    done = program("remember", "-w", shop, "Swifts sleep in the air", "--to", "memory/birds.md")
    assert (done.returncode, done.stderr) == (0, b"")
    after = note.read_bytes()
    assert after.startswith(before)
    assert after.count(b"\n") == after.count(b"\r\n") > before.count(b"\n")
    assert program("undo", "-w", shop).returncode == 0
    assert note.read_bytes() == before


def test_forgetting_an_entry_leaves_the_rest_byte_for_byte(shop: Path) -> None:
    program("remember", "-w", shop, "Swifts sleep in the air", "--to", "memory/birds.md")
    done = program("forget", "-w", shop, "memory/birds.md#L7", "--yes")
    assert done.returncode == 0, done.stderr
    left = (shop / "memory" / "birds.md").read_bytes()
    assert left.count(b"\n") == left.count(b"\r\n")
    assert b"herons.txt" not in left
    assert left.startswith(CRLF.split("## Herons", maxsplit=1)[0].encode())
    assert b"Swifts sleep in the air" in left


def test_a_transcript_with_line_ends_and_paths_of_windows_is_read(shop: Path) -> None:
    records = [
        {"type": "session", "timestamp": "2026-03-01T09:30:00Z", "cwd": "C:\\Users\\ada\\shop"},
        {
            "type": "message",
            "timestamp": "2026-03-01T09:31:00Z",
            "message": {
                "role": "user",
                "content": "Is D:\\models\\swift.bin a swift model?",
            },
        },
    ]
    (shop / "sessions").mkdir()
    (shop / "sessions" / "one.jsonl").write_text(
        "\r\n".join(map(json.dumps, records)) + "\r\n", encoding="utf-8", newline=""
    )
    enabled = {"MEMLINES_SOURCES": "memory,sessions", "MEMLINES_SYNC__SESSIONS__DELTA_BYTES": "0"}
    done = program("search", "-w", shop, "swift model", "--json", env=enabled)
    assert done.returncode == 0, done.stderr
    results = json.loads(done.stdout)["results"]
    assert [hit["path"] for hit in results] == ["sessions/one.jsonl"]
    assert "D:\\models\\swift.bin" in results[0]["snippet"]

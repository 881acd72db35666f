"""Names with every letter, names that differ in little, and very long ones lead to the same notes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest

from tests.memories import write
from tests.programs import environment, program

posix_only = pytest.mark.skipif(os.name == "nt", reason="such names do not exist there")

DB = "# Database\n\nPostgres listens on port 5433.\n"


def cited(workspace: Path, query: str) -> list[str]:
    """Return the notes that a search cites."""
    done = program("search", "-w", workspace, query, "--json")
    assert (done.returncode, done.stderr) == (0, b"")
    return [hit["path"] for hit in json.loads(done.stdout)["results"]]


@posix_only
def test_a_workspace_may_have_any_name(tmp_path: Path) -> None:
    shop = tmp_path / "my  notes 😀 'q' \"d\" $HOME `id`; x\\y %PATH% #1\nnext -w é"
    write(shop, {"the plan (1) & more 😀.md": DB})
    kept = program("remember", "The herons nest in May", "--to", "memory/a b's.md", cwd=shop)
    assert (kept.returncode, kept.stderr) == (0, b"")
    assert cited(shop, "herons") == ["memory/a b's.md"]
    assert cited(shop, "Postgres port") == ["memory/the plan (1) & more 😀.md"]
    undone = program("undo", "-w", shop)
    assert (undone.returncode, undone.stderr) == (0, b"")
    assert {path.name for path in (shop / "memory").iterdir()} == {"the plan (1) & more 😀.md"}


@posix_only
def test_a_hook_runs_from_an_installation_with_any_name(tmp_path: Path) -> None:
    shop, home = tmp_path / "it's 😀 $HOME", tmp_path / 'the "home" \\ of `id` é'
    write(shop, {"MEMORY.md": DB})
    variables = {"MEMLINES_HOME": str(home)}
    done = program("install", "codex", "-w", shop, env=variables)
    assert (done.returncode, done.stderr) == (0, b"")
    hooks = json.loads((shop / ".codex" / "hooks.json").read_text(encoding="utf-8"))["hooks"]
    command = hooks["SessionStart"][0]["hooks"][0]["command"]
    answer = subprocess.run(
        ["sh", "-c", command],
        cwd=shop,
        env=environment({"MEMLINES_HOME": None}),
        input=b"{}",
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert (answer.returncode, answer.stderr) == (0, b"")
    assert (home / "state").is_dir()
    assert {path.name for path in tmp_path.iterdir()} == {shop.name, home.name}


def test_a_note_that_was_renamed_by_case_alone_is_one_note(tmp_path: Path) -> None:
    write(tmp_path, {"topic.md": DB})
    assert cited(tmp_path, "Postgres") == ["memory/topic.md"]
    (tmp_path / "memory" / "topic.md").rename(tmp_path / "memory" / "Topic.md")
    assert cited(tmp_path, "Postgres") == ["memory/Topic.md"]


def test_a_name_is_cited_in_the_form_that_the_disk_has(tmp_path: Path) -> None:
    composed, apart = (unicodedata.normalize(form, "café.md") for form in ("NFC", "NFD"))
    write(tmp_path, {composed: DB, apart: "# Other\n\nPostgres was rejected.\n"})
    on_disk = {f"memory/{name}" for name in os.listdir(tmp_path / "memory")}  # noqa: PTH208 (as the disk says)
    assert set(cited(tmp_path, "Postgres")) == on_disk
    for name in on_disk:
        assert program("get", "-w", tmp_path, name).returncode == 0


@posix_only
def test_a_path_that_is_too_long_for_sqlite_has_its_index_in_the_cache(tmp_path: Path) -> None:
    shop = tmp_path.joinpath(*["d" * 180] * (4 if sys.platform == "darwin" else 20))
    write(shop, {"db.md": DB})
    kept = program("remember", "-w", shop, "The herons nest in May")
    assert (kept.returncode, kept.stderr) == (0, b"")
    assert cited(shop, "Postgres port") == ["memory/db.md"]
    assert not (shop / ".memory" / "index.sqlite").exists()

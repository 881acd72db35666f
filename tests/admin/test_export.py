"""An archive holds every note byte by byte."""

from __future__ import annotations

import json
import os
import zipfile
from pathlib import Path

import pytest

from memlines.admin.backup.manifest import digest
from memlines.errors import BackupError, UsageError, WorkspaceError
from memlines.settings.loading import settings_in
from tests.admin.backups import STRANGE, TODAY, export, fill
from tests.programs import Cli, unprivileged_run


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    return fill(tmp_path / "notes", STRANGE)


@pytest.fixture
def archive(notes: Path, tmp_path: Path) -> Path:
    export(notes, tmp_path / "notes.zip")
    return tmp_path / "notes.zip"


@pytest.mark.promise("P2")
def test_every_note_is_in_the_archive_byte_by_byte(archive: Path) -> None:
    with zipfile.ZipFile(archive) as opened:
        inside = {name: opened.read(name) for name in opened.namelist() if name != "manifest.json"}
    assert inside == dict(STRANGE)


def test_the_manifest_describes_each_file(archive: Path, notes: Path) -> None:
    with zipfile.ZipFile(archive) as opened:
        manifest = json.loads(opened.read("manifest.json"))
    assert {(file["path"], file["size"], file["sha256"]) for file in manifest["files"]} == {
        (name, len(content), digest(content)) for name, content in STRANGE.items()
    }
    assert {file["mtime_ns"] for file in manifest["files"]} == {
        (notes / name).stat().st_mtime_ns for name in STRANGE
    }


def test_files_are_in_the_order_of_their_names(archive: Path) -> None:
    with zipfile.ZipFile(archive) as opened:
        names = [name for name in opened.namelist() if name != "manifest.json"]
    assert names == sorted(names)


def test_a_note_too_large_for_the_index_is_exported(notes: Path, tmp_path: Path) -> None:
    fill(notes, {".memory/config.yaml": b"files:\n  max_bytes: 1000\n", "memory/large.md": b"x" * 5000})
    export(notes, tmp_path / "large.zip")
    with zipfile.ZipFile(tmp_path / "large.zip") as opened:
        assert len(opened.read("memory/large.md")) == 5000


@pytest.mark.parametrize(
    ("name", "everything", "taken"),
    [
        (".memory/facts/data/1.lance", False, False),
        (".memory/facts.json", False, False),
        (".memory/snapshots/a.json", False, True),
        (".memory/history/memory/a.md/1.md", False, False),
        (".memory/history/memory/a.md/1.md", True, True),
        (".memory/trash/1/memory/a.md", True, True),
        (".memory/index.sqlite", True, False),
        (".memory/index.sqlite.vectors", True, False),
        (".memory/config.yaml", True, False),
        ("memory/picture.png", True, False),
        ("README.md", True, False),
    ],
)
def test_what_cannot_be_rebuilt_is_taken(
    notes: Path, tmp_path: Path, name: str, everything: bool, taken: bool
) -> None:
    fill(notes, {name: b""})
    export(notes, tmp_path / "a.zip", everything=everything)
    with zipfile.ZipFile(tmp_path / "a.zip") as opened:
        assert (name in opened.namelist()) is taken


def test_extra_paths_inside_the_workspace_are_taken(
    notes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(tmp_path, {"notes/docs/a.md": b"inside", "outside/b.md": b"outside"})
    monkeypatch.setenv("MEMLINES_EXTRA_PATHS", "docs,../outside,missing")
    done = export(notes, tmp_path / "a.zip")
    with zipfile.ZipFile(tmp_path / "a.zip") as opened:
        assert [name for name in opened.namelist() if name.endswith(("a.md", "b.md"))] == ["docs/a.md"]
    assert done.failed == ()


@pytest.mark.promise("P8")
def test_secrets_do_not_leave_with_the_settings(
    notes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = (
        b"embeddings:\n  apiKey: sk-secret-1\n  headers: {X-Key: sk-secret-2}\n  model: small\n"
        b"  base_url: https://me:sk-secret-3@example.org/v1\n# sk-secret-4\nquery.max_results: 3\n"
        b"memory: {remote: {apiKey: sk-secret-1}, search: {minScore: 0.2}, chunkSize: 2048}\n"
        b"agents: {work: {remote: {apiKey: sk-secret-6}, search: {minScore: 0.3}}}\n"
    )
    fill(notes, {".memory/config.yaml": secret})
    monkeypatch.setattr("memlines.settings.loading.is_trusted_content", lambda *_: True)
    done = export(notes, tmp_path / "a.zip")
    with zipfile.ZipFile(tmp_path / "a.zip") as opened:
        text = opened.read("settings.yaml").decode()
    assert done.settings
    assert "secret" not in text
    assert "model: small" in text
    assert "query.max_results: 3" in text
    assert settings_in(text.encode(), "test") | {"embeddings.base_url": ""} == {
        "embeddings.model": "small",
        "embeddings.base_url": "",
        "query.max_results": 3,
        "query.min_score": 0.2,
        "chunking.tokens": 512,
        "agents.work.query.min_score": 0.3,
    }


@pytest.mark.promise("P2")
def test_an_existing_file_is_not_replaced(notes: Path, archive: Path) -> None:
    before = archive.read_bytes()
    fill(notes, {"memory/new.md": b"new"})
    with pytest.raises(UsageError, match="exists already"):
        export(notes, archive)
    assert archive.read_bytes() == before


def test_an_existing_file_is_replaced_if_asked(notes: Path, archive: Path) -> None:
    fill(notes, {"memory/new.md": b"new"})
    assert export(notes, archive, force=True).files == len(STRANGE) + 1


def test_an_export_that_fails_leaves_nothing(
    notes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(zipfile.ZipFile, "writestr", full)
    out = tmp_path / "out"
    out.mkdir()
    with pytest.raises(BackupError, match="no space left on device"):
        export(notes, out / "a.zip")
    assert list(out.iterdir()) == []


def test_an_archive_is_not_named_like_a_note(notes: Path) -> None:
    with pytest.raises(UsageError, match="taken for a note"):
        export(notes, notes / "memory/all.md")


def test_a_folder_without_notes_is_refused(workspace: Path, tmp_path: Path) -> None:
    with pytest.raises(WorkspaceError, match="no notes"):
        export(workspace, tmp_path / "a.zip")
    assert not (tmp_path / "a.zip").exists()


def test_links_are_left_out_and_named(notes: Path, tmp_path: Path) -> None:
    (notes / "memory/link.md").symlink_to("/etc/hostname")
    done = export(notes, tmp_path / "a.zip")
    assert [problem.path for problem in done.left_out] == ["memory/link.md"]
    assert done.failed == ()


@pytest.mark.skipif(os.name == "nt", reason="names are text there")
def test_a_name_that_is_no_text_is_a_failure(notes: Path, tmp_path: Path) -> None:
    try:
        Path(os.fsdecode(os.fsencode(notes) + b"/memory/\xff.md")).write_bytes(b"x")
    except OSError:
        pytest.skip("this disk takes text only")
    assert [problem.path for problem in export(notes, tmp_path / "a.zip").failed] == ["memory/\\xff.md"]


def test_a_note_that_cannot_be_read_is_named_and_the_others_exported(notes: Path, tmp_path: Path) -> None:
    (notes / "memory/empty.md").chmod(0)
    program = (
        "import sys; from memlines.cli.backup import export_command\n"
        "sys.exit(export_command.main(standalone_mode=False))",
        *(str(tmp_path / "a.zip"), "-w", str(notes)),
    )
    done = unprivileged_run(*program)
    assert done.returncode == 1, done.stderr
    assert "memory/empty.md cannot be read: permission denied" in done.stdout
    with zipfile.ZipFile(tmp_path / "a.zip") as opened:
        assert len(opened.namelist()) == len(STRANGE)


def test_a_page_names_the_notes_that_could_not_be_read(cli: Cli, workspace: Path, tmp_path: Path) -> None:
    fill(workspace, {"memory/a.md": b"Anna", "memory/binary.md": b"a\0b", "memory/large.md": b"x" * 2_000})
    fill(workspace, {".memory/config.yaml": b"files: {max_bytes: 1000}"})
    outcome = cli("export", "--html", tmp_path / "a.html", "-w", workspace, "--json")
    page = (tmp_path / "a.html").read_text(encoding="utf-8")
    left_out = {problem["path"]: problem["reason"] for problem in outcome.json["left_out"]}
    assert (outcome.code, outcome.json["files"]) == (0, 1)
    assert {*left_out} == {"memory/binary.md", "memory/large.md"}
    assert all(f"{path}</span> {reason}</li>" in page for path, reason in left_out.items())


# The commands


def test_the_commands_export_and_import(cli: Cli, notes: Path, workspace: Path, tmp_path: Path) -> None:
    exported = cli("export", tmp_path / "a.zip", "-w", notes)
    assert exported.code == 0, exported.err
    assert "10 files (83 bytes, packed" in exported.out
    fill(workspace, {"MEMORY.md": b"mine"})
    imported = cli("import", tmp_path / "a.zip", "-w", workspace)
    assert imported.code == 0, imported.err
    assert "9 created, 1 kept beside another version, 0 the same" in imported.out
    assert f"MEMORY.md differs; imported as memory/MEMORY-imported-{TODAY}.md" in imported.out


def test_the_commands_speak_json(cli: Cli, notes: Path, workspace: Path, tmp_path: Path) -> None:
    exported = cli("export", tmp_path / "a.zip", "-w", notes, "--json").json
    assert set(exported) == {"file", "files", "bytes", "archive_bytes", "settings", "left_out", "failed"}
    imported = cli("import", tmp_path / "a.zip", "-w", workspace, "--json", "--dry-run").json
    assert set(imported) == {
        *("file", "created_at", "created", "kept_both", "same", "failed", "settings", "dry_run"),
        *("forgotten", "unchecked"),
    }


def test_a_refused_archive_has_the_exit_code_of_its_error(cli: Cli, workspace: Path, tmp_path: Path) -> None:
    (tmp_path / "a.zip").write_bytes(b"no zip")
    outcome = cli("import", tmp_path / "a.zip", "-w", workspace, "--json")
    assert (outcome.code, outcome.json["code"]) == (8, "backup")


def test_how_to_look_at_settings_is_told(cli: Cli, notes: Path, workspace: Path, tmp_path: Path) -> None:
    fill(notes, {".memory/config.yaml": b"query:\n  max_results: 3\n"})
    cli("export", tmp_path / "a.zip", "-w", notes)
    assert "settings.yaml" in cli("import", tmp_path / "a.zip", "-w", workspace).out

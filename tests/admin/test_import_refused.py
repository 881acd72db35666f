"""Archives that are damaged or mean harm leave everything as it was."""

from __future__ import annotations

import json
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlines.admin.backup.manifest import digest
from memlines.errors import BackupError
from tests.admin.backups import STRANGE, bring_in, export, fill, tree

pytestmark = pytest.mark.promise("P7")


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    return fill(tmp_path / "notes", STRANGE)


@pytest.fixture
def archive(notes: Path, tmp_path: Path) -> Path:
    export(notes, tmp_path / "notes.zip")
    return tmp_path / "notes.zip"


Rewrite = Callable[[dict[str, bytes]], None]


def rewritten(archive: Path, change: Rewrite) -> None:
    """Write an archive again with other content, and a manifest that agrees with it."""
    with zipfile.ZipFile(archive) as opened:
        files = {name: opened.read(name) for name in opened.namelist() if name != "manifest.json"}
        manifest = json.loads(opened.read("manifest.json"))
    change(files)
    manifest["files"] = [
        {"path": name, "size": len(content), "sha256": digest(content), "mtime_ns": 1}
        for name, content in files.items()
    ]
    with zipfile.ZipFile(archive, "w") as opened:
        for name, content in files.items():
            opened.writestr(zipfile.ZipInfo(name), content)
        opened.writestr("manifest.json", json.dumps(manifest))


@pytest.mark.parametrize(
    "name",
    [
        "../outside.md",
        "memory/../../outside.md",
        "/tmp/outside.md",
        "memory//a.md",
        "./MEMORY.md",
        "memory/a.txt",
        "README.md",
        "AGENTS.md",
        ".git/hooks/pre-commit",
        "memory/.git/x.md",
        ".memory/config.yaml",
        ".memory/index.sqlite",
        ".memory/history",
        ".memory/snapshots/../config.yaml",
        "memory",
        "memory/" + "x" * 300 + ".md",
    ],
)
def test_a_name_that_is_no_note_is_refused(archive: Path, workspace: Path, name: str) -> None:
    rewritten(archive, lambda files: files.update({name: b"harm"}))
    with pytest.raises(BackupError, match=r"holds .* which is not"):
        bring_in(workspace, archive)
    assert tree(workspace) == {}


def test_an_extra_path_of_this_workspace_may_come_in(
    archive: Path, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rewritten(archive, lambda files: files.update({"docs/a.md": b"docs"}))
    monkeypatch.setenv("MEMLINES_EXTRA_PATHS", "docs")
    assert "docs/a.md" in bring_in(workspace, archive).created


def add(archive: Path, name: str | zipfile.ZipInfo, content: bytes) -> None:
    """Add a file that the manifest does not know."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # zipfile warns of a name that is there already
        with zipfile.ZipFile(archive, "a") as opened:
            opened.writestr(name, content)


def link() -> zipfile.ZipInfo:
    info = zipfile.ZipInfo("memory/link.md")
    info.create_system = 3
    info.external_attr = 0o120777 << 16
    return info


@pytest.mark.parametrize(
    ("name", "match"),
    [
        pytest.param("memory/more.md", "not in its manifest", id="unlisted"),
        pytest.param("MEMORY.md", "in it twice", id="twice"),
        pytest.param(link(), "is a link", id="link"),
    ],
)
def test_a_file_beside_the_manifest_is_refused(
    archive: Path, workspace: Path, name: str | zipfile.ZipInfo, match: str
) -> None:
    add(archive, name, b"/etc/passwd")
    with pytest.raises(BackupError, match=match):
        bring_in(workspace, archive)
    assert tree(workspace) == {}


def test_a_folder_entry_of_another_program_does_no_harm(archive: Path, workspace: Path) -> None:
    add(archive, "memory/", b"")
    assert len(bring_in(workspace, archive).created) == len(STRANGE)


def test_an_encrypted_file_is_refused(archive: Path, workspace: Path) -> None:
    content = bytearray(archive.read_bytes())
    content[content.index(b"PK\x01\x02") + 8] |= 1
    archive.write_bytes(content)
    with pytest.raises(BackupError, match="is encrypted"):
        bring_in(workspace, archive)


def test_a_changed_byte_is_noticed_before_anything_is_written(archive: Path, workspace: Path) -> None:
    with zipfile.ZipFile(archive) as opened:
        files = {info.filename: opened.read(info) for info in opened.infolist()}
    files["memory/日本語/ノート.md"] = "忘れた".encode()
    with zipfile.ZipFile(archive, "w") as opened:
        for name, content in files.items():
            opened.writestr(name, content)
    with pytest.raises(BackupError, match="not what was packed; nothing was changed"):
        bring_in(workspace, archive)
    assert tree(workspace) == {}


@pytest.mark.parametrize("kept", [0.0, 0.3, 0.9, 0.999])
def test_an_archive_that_was_cut_off_is_refused(archive: Path, workspace: Path, kept: float) -> None:
    content = archive.read_bytes()
    archive.write_bytes(content[: int(len(content) * kept)])
    with pytest.raises(BackupError, match="is damaged"):
        bring_in(workspace, archive)
    assert tree(workspace) == {}


def test_an_archive_that_unpacks_to_too_much_is_refused(archive: Path, workspace: Path) -> None:
    rewritten(archive, lambda files: files.update({"memory/bomb.md": b"0" * 2_000_000}))
    with pytest.raises(BackupError, match=r"more than the 0\.001 GB that are allowed"):
        bring_in(workspace, archive, max_bytes=1_000_000)
    assert tree(workspace) == {}


def test_a_size_that_differs_from_the_manifest_is_refused(archive: Path, workspace: Path) -> None:
    with zipfile.ZipFile(archive) as opened:
        files = {info.filename: opened.read(info) for info in opened.infolist()}
    files["memory/empty.md"] = b"0" * 1_000_000
    with zipfile.ZipFile(archive, "w") as opened:
        for name, content in files.items():
            opened.writestr(name, content)
    with pytest.raises(BackupError, match="has 1000000 bytes instead of 0"):
        bring_in(workspace, archive)


@pytest.mark.parametrize(
    ("manifest", "match"),
    [
        (b"", "is damaged"),
        (b"[]", "is damaged"),
        (b'{"format": "other"}', "another format"),
        (b'{"format": "recollect-backup", "version": 9}', "Update Memlines"),
        (b'{"format": "recollect-backup", "version": 1}', "'files' is missing"),
        (b'{"format": "recollect-backup", "version": 1, "files": [{"path": 1}]}', "is damaged"),
        (b'{"format": "recollect-backup", "version": 1, "files": [null]}', "is damaged"),
    ],
)
def test_a_manifest_that_is_none_is_refused(
    tmp_path: Path, workspace: Path, manifest: bytes, match: str
) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as opened:
        opened.writestr("manifest.json", manifest)
    with pytest.raises(BackupError, match=match):
        bring_in(workspace, tmp_path / "a.zip")


def test_another_zip_is_refused(tmp_path: Path, workspace: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as opened:
        opened.writestr("MEMORY.md", b"x")
    with pytest.raises(BackupError, match="did not make it"):
        bring_in(workspace, tmp_path / "a.zip")


@given(content=st.binary(max_size=300))
def test_no_bytes_make_an_import_crash(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    folder = tmp_path_factory.mktemp("any")
    (folder / "a.zip").write_bytes(content)
    with pytest.raises(BackupError):
        bring_in(folder, folder / "a.zip")


@given(changes=st.lists(st.tuples(st.floats(0, 0.999), st.integers(0, 255)), min_size=1, max_size=4))
def test_no_changed_bytes_make_an_import_crash_or_write_half(
    tmp_path_factory: pytest.TempPathFactory, changes: list[tuple[float, int]]
) -> None:
    folder = tmp_path_factory.mktemp("any")
    fill(folder / "notes", {"MEMORY.md": b"# Memory\n", "memory/a.md": b"a"})
    export(folder / "notes", folder / "a.zip")
    content = bytearray((folder / "a.zip").read_bytes())
    for place, value in changes:
        content[int(place * len(content))] = value
    (folder / "a.zip").write_bytes(content)
    (folder / "into").mkdir()
    try:
        bring_in(folder / "into", folder / "a.zip")
    except BackupError:
        assert tree(folder / "into") == {}
    else:
        assert tree(folder / "into") == {"MEMORY.md": b"# Memory\n", "memory/a.md": b"a"}

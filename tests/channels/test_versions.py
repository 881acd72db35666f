"""Every file that holds the version of the project holds the same."""

from __future__ import annotations

from pathlib import Path

from release.versions import PLACES, newest_change, read_versions, write_version

from memlines import __version__
from tests.channels.programs import ROOT


def test_every_file_holds_the_version_of_the_package() -> None:
    assert {
        name: versions for name, versions in read_versions(ROOT).items() if versions != {__version__}
    } == {}


def test_the_newest_entry_of_the_changelog_is_about_it() -> None:
    assert newest_change(ROOT)[0] == __version__


def test_every_kind_of_file_is_there() -> None:
    missing = [glob for glob, _ in PLACES if not any(ROOT.glob(glob))]
    assert missing == []


def test_both_versions_of_the_registry_file_and_of_the_bundle_are_read(tmp_path: Path) -> None:
    (tmp_path / "integrations/mcpb").mkdir(parents=True)
    (tmp_path / "server.json").write_text(
        '{"version": "1.0.0", "packages": [{"version": "2.0.0"}]}', encoding="utf-8"
    )
    (tmp_path / "integrations/mcpb/pyproject.toml").write_text(
        'version = "1.0.0"\nrequires-python = ">=3.11"\ndependencies = ["memlines==2.0.0"]\n',
        encoding="utf-8",
    )
    assert read_versions(tmp_path) == {
        "server.json": {"1.0.0", "2.0.0"},
        "integrations/mcpb/pyproject.toml": {"1.0.0", "2.0.0"},
    }


def test_nothing_but_the_version_is_rewritten(tmp_path: Path) -> None:
    text = '{\n  "manifest_version": "0.4",\n  "version": "0.2.0",\n  "needs": "0.2.0"\n}\n'
    manifest = tmp_path / "integrations/mcpb/manifest.json"
    manifest.parent.mkdir(parents=True)
    manifest.write_text(text, encoding="utf-8")
    write_version(tmp_path, "0.3.0rc1")
    assert manifest.read_text(encoding="utf-8") == text.replace('"version": "0.2.0"', '"version": "0.3.0rc1"')


def test_a_package_for_npm_counts_if_it_has_a_version(tmp_path: Path) -> None:
    folder = tmp_path / "integrations/opencode"
    for name, text in {
        "package.json": '{\n  "version": "1.0.0",\n  "dependencies": {\n    "version": "9"\n  }\n}\n',
        "memlines/package.json": '{\n  "private": true\n}\n',
        "node_modules/y/package.json": '{\n  "version": "9.9.9"\n}\n',
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    assert read_versions(tmp_path) == {"integrations/opencode/package.json": {"1.0.0"}}

"""A release, in a clone of a small repository with our files: shown, refused, and really made."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest
from release.__main__ import main, uploads
from release.versions import read_versions

from memlines import __version__
from tests.channels.programs import ROOT

NEXT = "99.1.0"
ENTRY = f"## {NEXT} - 2030-01-01\n\n### Added\n\n- A release.\n\n"
COPIED = (
    "pyproject.toml", "README.md", "LICENSE", "server.json", "integrations/claude-code", "integrations/codex",
    "integrations/mcpb", "docs/teams.md", "src/memlines/version.py", "src/memlines/py.typed", "src/recollect",
)  # fmt: skip
BUILT = {f"memlines-{NEXT}{end}" for end in ("-py3-none-any.whl", ".tar.gz", ".mcpb")}


def git(folder: Path, *words: str) -> str:
    done = subprocess.run(["git", *words], cwd=folder, capture_output=True, check=True, encoding="utf-8")
    return done.stdout.strip()


def write(folder: Path, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository in which the next version may be released."""
    pytest.importorskip("hatchling")
    if shutil.which("git") is None:
        pytest.skip("git is not there")
    folder = tmp_path_factory.mktemp("release") / "original"
    for name in COPIED:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / name).is_dir():
            shutil.copytree(
                ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", "node_modules")
            )
        else:
            shutil.copyfile(ROOT / name, folder / name)
    write(
        folder,
        {"CHANGELOG.md": f"# Changes\n\n## Unreleased\n\n{ENTRY}", ".gitignore": "dist/\n__pycache__/\n"},
    )
    git(folder, "init", "--quiet", "--template=")
    for key, value in {
        "user.name": "Ada",
        "user.email": "ada@example.org",
        "commit.gpgsign": "false",
        "tag.gpgsign": "false",
    }.items():
        git(folder, "config", key, value)
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "Begin")
    return folder


@pytest.fixture
def repository(original: Path, tmp_path: Path) -> Path:
    """A copy for one test."""
    return shutil.copytree(original, tmp_path / "repository")


def state(folder: Path) -> tuple[str, ...]:
    """Return what a repository holds: commits, changes, tags, worktrees and files that are ignored."""
    return tuple(
        git(folder, *words.split())
        for words in ("log --oneline", "status --porcelain --ignored", "tag", "worktree list --porcelain")
    )


def test_without_really_nothing_changes(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = state(repository)
    assert main([NEXT], repository) == 0
    assert state(repository) == before
    shown = capsys.readouterr().out
    assert {name for name in BUILT if f"Built: {name}, " in shown} == BUILT
    assert f"  uv publish dist/memlines-{NEXT}-py3-none-any.whl" in shown


def test_with_really_it_is_committed_tagged_and_kept(repository: Path) -> None:
    before = git(repository, "rev-parse", "HEAD")
    assert main([NEXT, "--really"], repository) == 0
    assert set().union(*read_versions(repository).values()) == {NEXT}
    assert git(repository, "log", "-1", "--format=%s %P") == f"Release {NEXT} {before}"
    assert git(repository, "rev-parse", f"v{NEXT}^{{commit}}") == git(repository, "rev-parse", "HEAD")
    assert git(repository, "status", "--porcelain") == ""
    assert len(git(repository, "worktree", "list").splitlines()) == 1
    assert {file.name for file in (repository / "dist").iterdir()} == BUILT


def test_a_version_that_is_written_already_needs_no_commit(repository: Path) -> None:
    entry = ENTRY.replace(NEXT, __version__)
    write(repository, {"CHANGELOG.md": f"# Changes\n\n{entry}"})
    git(repository, "commit", "--all", "--quiet", "--message", "Say what is new")
    before = git(repository, "rev-parse", "HEAD")
    assert main([__version__, "--really"], repository) == 0
    assert git(repository, "rev-parse", f"v{__version__}^{{commit}}", "HEAD").split() == [before, before]


def test_every_package_for_npm_is_published_but_private_ones(repository: Path) -> None:
    for name, private in (("open", "false"), ("closed", "true")):
        (repository / "integrations" / name).mkdir()
        package = f'{{\n  "version": "{NEXT}",\n  "private": {private}\n}}\n'
        write(repository, {f"integrations/{name}/package.json": package})
    commands = [command for command in uploads(repository, NEXT) if command.startswith("npm")]
    assert commands == ["npm publish ./integrations/open"]


# Refused


def refusal(repository: Path, version: str, capsys: pytest.CaptureFixture[str]) -> str:
    """Return why a release is refused, which changes nothing."""
    before = state(repository)
    capsys.readouterr()
    assert main([version, "--really"], repository) == 1
    assert state(repository) == before
    return capsys.readouterr().err


def test_a_word_is_no_version(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "'next' is not a version" in refusal(repository, "next", capsys)


def test_a_version_without_an_entry_is_refused(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert f"the newest version in CHANGELOG.md is {NEXT}" in refusal(repository, "99.2.0", capsys)


@pytest.mark.parametrize("name", ["README.md", "new.txt"])
def test_a_change_that_is_not_committed_is_refused(
    repository: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    write(repository, {name: "x\n"})
    assert name in refusal(repository, NEXT, capsys)


def test_a_tag_that_exists_is_refused(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    git(repository, "tag", f"v{NEXT}")
    assert f"the tag v{NEXT} exists" in refusal(repository, NEXT, capsys)


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        (
            "CHANGELOG.md",
            f"## {NEXT} - 2030-01-01\n\n## 0.1.0 - 2029-01-01\n\n- The first.\n",
            "says nothing about",
        ),
        ("server.json", "{}\n", "'server.json': set()"),
        ("README.md", "# Memlines\n", "README.md lacks the line <!-- mcp-name"),
        ("pyproject.toml", "", "hatchling build"),
    ],
)
def test_what_is_committed_and_wrong_is_refused(
    repository: Path, name: str, text: str, why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    write(repository, {name: text})
    git(repository, "commit", "--all", "--quiet", "--message", "Spoil it")
    assert why in refusal(repository, NEXT, capsys)

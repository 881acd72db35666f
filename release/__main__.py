"""Make a release: `python -m release 0.3.0` shows it, `python -m release 0.3.0 --really` makes it.

Everything happens in a fresh checkout of what is committed. There the version is written into every file that
holds it, the packages and the bundle are built, and what was built is checked. If all of that went well,
--really commits and tags it here, and puts the packages into dist/. Nothing is ever uploaded: the commands
for that are printed.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from release.bundle import build_bundle
from release.versions import newest_change, read_versions, write_version

ROOT = Path(__file__).resolve().parents[1]
MARK = "<!-- mcp-name: io.github.memlines/memlines -->"
"""What the MCP registry looks for in the README on the package index."""

_VERSION = re.compile(r"\d+\.\d+\.\d+(?:(?:a|b|rc)\d+)?")


class NotReady(Exception):
    """Why there is no release, in words for the person who makes it."""


def main(arguments: list[str] | None = None, root: Path = ROOT) -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(prog="python -m release", description="Make a release.")
    parser.add_argument("version", help="the new version, such as 0.3.0")
    parser.add_argument("--really", action="store_true", help="commit and tag; without it, nothing changes")
    chosen = parser.parse_args(arguments)
    try:
        make_release(root, chosen.version, really=chosen.really)
    except NotReady as reason:
        print(f"No release: {reason}", file=sys.stderr)
        return 1
    return 0


def make_release(root: Path, version: str, *, really: bool) -> None:
    """Build and check a release in a fresh checkout; with `really`, commit, tag and keep it."""
    check_ready(root, version)
    with fresh_checkout(root) as copy:
        write_version(copy, version)
        check_versions(copy, version)
        changed = git(copy, "diff", "--name-only").splitlines()
        print(f"Versions: {len(changed)} files change to {version}")
        built = build(copy, version)
        for file in built:
            print(f"Built: {file.name}, {file.stat().st_size:,} bytes")
        if really:
            publish_here(root, copy, version, built)
            print(f"Tagged: v{version}. The packages are in dist/. Nothing was uploaded. To publish:\n")
        else:
            print("Nothing was changed. --really commits and tags this. To publish it afterwards:\n")
    print("\n".join(f"  {command}" for command in uploads(root, version)))


def check_ready(root: Path, version: str) -> None:
    """Refuse what is no version, a tree with changes, a tag that exists and a changelog without an entry."""
    if not _VERSION.fullmatch(version):
        raise NotReady(f"{version!r} is not a version such as 0.3.0 or 0.3.0rc1")
    if changes := git(root, "status", "--porcelain"):
        raise NotReady(f"these changes are not committed:\n{changes}")
    if git(root, "tag", "--list", f"v{version}"):
        raise NotReady(f"the tag v{version} exists")
    newest, text = newest_change(root)
    if newest != version:
        raise NotReady(f"the newest version in CHANGELOG.md is {newest or 'none'}, not {version}")
    if not text:
        raise NotReady(f"CHANGELOG.md says nothing about {version}")


def check_versions(root: Path, version: str) -> None:
    """Refuse a file that holds another version, or none."""
    if wrong := {name: found for name, found in read_versions(root).items() if found != {version}}:
        raise NotReady(f"these files do not hold {version}: {wrong}")


@contextmanager
def fresh_checkout(root: Path) -> Iterator[Path]:
    """Check out what is committed, in another folder, for as long as the block lasts."""
    with tempfile.TemporaryDirectory(prefix="release-") as folder:
        copy = Path(folder) / "checkout"
        git(root, "worktree", "add", "--detach", str(copy))
        try:
            yield copy
        finally:
            git(root, "worktree", "remove", "--force", str(copy))


def build(root: Path, version: str) -> list[Path]:
    """Build wheel, sdist and bundle of a checkout, and check each."""
    target = root.parent / "dist"
    run(root, sys.executable, "-m", "hatchling", "build", "-d", str(target))
    wheel = target / f"memlines-{version}-py3-none-any.whl"
    sdist = target / f"memlines-{version}.tar.gz"
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        check_metadata(archive.read(f"memlines-{version}.dist-info/METADATA").decode(), version)
    if (
        missing := {"memlines/version.py", "memlines/py.typed", "memlines/integrations/codex/.mcp.json"}
        - names
    ):
        raise NotReady(f"the wheel lacks {missing}")
    with tarfile.open(sdist) as archive:
        held = archive.extractfile(f"memlines-{version}/PKG-INFO")
        check_metadata(held.read().decode() if held else "", version)
    return [wheel, sdist, build_bundle(root, target / f"memlines-{version}.mcpb")]


def check_metadata(metadata: str, version: str) -> None:
    """Refuse a package of another version, and one whose README the MCP registry does not accept."""
    if f"\nVersion: {version}\n" not in metadata:
        raise NotReady(f"a package that was built is not of version {version}")
    if MARK not in metadata:
        raise NotReady(f"README.md lacks the line {MARK}")


def publish_here(root: Path, copy: Path, version: str, built: list[Path]) -> None:
    """Commit and tag in the repository what was made in the copy, and keep what was built."""
    if git(copy, "status", "--porcelain"):
        git(copy, "commit", "--all", "--message", f"Release {version}")
        git(root, "merge", "--ff-only", git(copy, "rev-parse", "HEAD"))
    git(root, "tag", "--annotate", f"v{version}", "--message", f"Memlines {version}")
    (root / "dist").mkdir(exist_ok=True)
    for file in built:
        shutil.copy(file, root / "dist")


def uploads(root: Path, version: str) -> Iterator[str]:
    """Yield the commands that a person runs to publish the release."""
    yield f"git push origin HEAD v{version}"
    yield f"uv publish dist/memlines-{version}-py3-none-any.whl dist/memlines-{version}.tar.gz"
    for name in read_versions(root):
        if name.endswith("/package.json") and not json.loads((root / name).read_text(encoding="utf-8")).get(
            "private"
        ):
            yield f"npm publish ./{Path(name).parent.as_posix()}"
    yield f"gh release create v{version} dist/memlines-{version}.mcpb --verify-tag --notes-from-tag"
    yield "mcp-publisher login github && mcp-publisher publish"
    yield "mkdocs gh-deploy --strict"


def git(folder: Path, *words: str) -> str:
    """Run git in a folder, and return what it prints."""
    return run(folder, "git", *words)


def run(folder: Path, *words: str) -> str:
    """Run a program in a folder, and return what it prints; a release does not go on if it fails."""
    done = subprocess.run(words, cwd=folder, capture_output=True, encoding="utf-8", check=False)
    if done.returncode:
        raise NotReady(f"{' '.join(words)!r} failed:\n{done.stdout}{done.stderr}".rstrip())
    return done.stdout.strip()


if __name__ == "__main__":
    sys.exit(main())

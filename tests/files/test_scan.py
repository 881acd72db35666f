"""Discovery finds the notes, follows no link, and says what it left out."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from memlines.files.scan import IGNORED_DIRS, discover, extra_roots, fingerprint_of
from memlines.paths import PRIVATE_DIR, Workspace
from memlines.types import Discovery, Fingerprint, Problem
from tests.programs import unprivileged_run

LIMIT = 1_000_000
LINK = "is a symbolic link; links are not followed"

posix = pytest.mark.skipif(os.name == "nt", reason="needs POSIX file types")


def write(root: Path, *names: str) -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("note\n", encoding="utf-8")


def scan(root: Path, *extra: str, limit: int = LIMIT) -> Discovery:
    return discover(Workspace.at(root), extra, limit)


def names(found: Discovery) -> list[str]:
    return [file.path for file in found.files]


def skipped(path: str, reason: str = LINK) -> tuple[Problem, ...]:
    return (Problem(path, reason),)


# What is listed, and in which order.


def test_order_is_root_files_notes_then_extra_paths(workspace: Path) -> None:
    write(workspace, "zoo/z.md", "aaa/a.md", "memory/2026-01-01.md", "memory.md", "MEMORY.md")
    assert names(scan(workspace, "zoo", "aaa")) == [
        "MEMORY.md",
        "memory.md",
        "memory/2026-01-01.md",
        "zoo/z.md",
        "aaa/a.md",
    ]


def test_a_folder_lists_its_notes_and_then_its_folders_sorted(workspace: Path) -> None:
    write(
        workspace, *(f"memory/{name}" for name in ("b.md", "a/2.md", "c/1.md", "a.md", "a/b/0.md", "a/1.md"))
    )
    assert names(scan(workspace)) == [
        "memory/a.md",
        "memory/b.md",
        "memory/a/1.md",
        "memory/a/2.md",
        "memory/a/b/0.md",
        "memory/c/1.md",
    ]


def test_an_empty_workspace_has_no_notes_and_no_problems(tmp_path: Path) -> None:
    assert scan(tmp_path) == Discovery(())


def test_other_files_of_the_root_are_not_notes(workspace: Path) -> None:
    write(workspace, "README.md", "AGENTS.md", "docs/x.md")
    assert names(scan(workspace)) == []


@pytest.mark.parametrize(
    "name", ["a.MD", "a.Md", "a.markdown", "a.txt", "a.md.bak", "a.md~", "md", ".memlines-1.tmp"]
)
def test_other_endings_are_not_taken(workspace: Path, name: str) -> None:
    write(workspace, f"memory/{name}")
    assert scan(workspace) == Discovery(())


def test_a_folder_called_like_a_note_is_walked(workspace: Path) -> None:
    write(workspace, "memory/x.md/inner.md")
    assert names(scan(workspace)) == ["memory/x.md/inner.md"]


@pytest.mark.parametrize("folder", sorted(IGNORED_DIRS))
def test_ignored_folders_with_notes_are_told(workspace: Path, folder: str) -> None:
    write(workspace, f"memory/{folder}/a.md", f"memory/deep/{folder}/b.md", "memory/zoo.md")
    found = scan(workspace)
    reason = "holds notes, but a folder of this name is never looked into"
    assert names(found) == ["memory/zoo.md"]
    assert set(found.problems) == {
        Problem(f"memory/{folder}", reason),
        Problem(f"memory/deep/{folder}", reason),
    }


@pytest.mark.parametrize("folder", sorted(IGNORED_DIRS))
def test_ignored_folders_without_notes_are_not_worth_a_word(workspace: Path, folder: str) -> None:
    write(workspace, f"memory/{folder}/a.txt", f"memory/{folder}/package/README.md", "memory/zoo.md")
    found = scan(workspace)
    assert (names(found), found.problems) == (["memory/zoo.md"], ())


def test_a_file_in_the_place_of_the_folder_of_notes_is_told(tmp_path: Path) -> None:
    write(tmp_path, "memory", "MEMORY.md")
    found = scan(tmp_path)
    assert (names(found), found.problems) == (["MEMORY.md"], skipped("memory", "is not a folder"))


def test_the_private_folder_is_among_the_ignored() -> None:
    assert PRIVATE_DIR in IGNORED_DIRS


def test_a_hidden_folder_is_not_ignored(workspace: Path) -> None:
    write(workspace, "memory/.hidden/a.md")
    assert names(scan(workspace)) == ["memory/.hidden/a.md"]


def test_a_found_file_tells_where_it_is(workspace: Path) -> None:
    write(workspace, "memory/a.md")
    found = scan(workspace).files[0]
    real = workspace.resolve() / "memory" / "a.md"
    assert (found.real, found.source, found.fingerprint) == (str(real), "memory", fingerprint_of(real.stat()))


def test_a_name_of_many_languages(workspace: Path) -> None:
    write(workspace, "memory/日記 é😀.md")
    assert names(scan(workspace)) == ["memory/日記 é😀.md"]


# Links.


@pytest.mark.promise("P7")
def test_a_linked_root_file_is_skipped(workspace: Path, tmp_path: Path) -> None:
    write(tmp_path, "outside.md")
    (workspace / "MEMORY.md").symlink_to(tmp_path / "outside.md")
    assert scan(workspace) == Discovery((), skipped("MEMORY.md"))


@pytest.mark.promise("P7")
def test_a_linked_notes_folder_is_skipped(tmp_path: Path) -> None:
    write(tmp_path, "outside/a.md")
    (tmp_path / "workspace").mkdir()
    (tmp_path / "workspace" / "memory").symlink_to(tmp_path / "outside")
    assert scan(tmp_path / "workspace") == Discovery((), skipped("memory"))


@pytest.mark.promise("P7")
def test_a_linked_note_is_skipped(workspace: Path) -> None:
    write(workspace, "memory/real.md")
    (workspace / "memory" / "link.md").symlink_to("real.md")
    found = scan(workspace)
    assert (names(found), found.problems) == (["memory/real.md"], skipped("memory/link.md"))


@pytest.mark.promise("P7")
def test_a_link_to_nothing_is_skipped(workspace: Path) -> None:
    (workspace / "memory" / "link.md").symlink_to("missing")
    assert scan(workspace) == Discovery((), skipped("memory/link.md"))


@pytest.mark.promise("P7")
def test_a_linked_folder_is_skipped(workspace: Path, tmp_path: Path) -> None:
    write(tmp_path, "outside/a.md")
    (workspace / "memory" / "people").symlink_to(tmp_path / "outside")
    assert scan(workspace) == Discovery((), skipped("memory/people"))


def test_a_linked_ignored_folder_is_not_worth_a_word(workspace: Path, tmp_path: Path) -> None:
    (workspace / "memory" / "node_modules").symlink_to(tmp_path)
    assert scan(workspace) == Discovery(())


def test_a_link_that_is_no_note_is_not_worth_a_word(workspace: Path) -> None:
    write(workspace, "photo.png")
    (workspace / "memory" / "photo.png").symlink_to(workspace / "photo.png")
    assert scan(workspace) == Discovery(())


@pytest.mark.promise("P7")
def test_a_loop_ends(workspace: Path) -> None:
    (workspace / "memory" / "loop").symlink_to(workspace / "memory")
    assert scan(workspace) == Discovery((), skipped("memory/loop"))


def test_a_link_to_itself_is_no_failure(workspace: Path) -> None:
    (workspace / "memory" / "self").symlink_to("self")
    (workspace / "memory" / "self.md").symlink_to("self.md")
    assert scan(workspace) == Discovery((), skipped("memory/self.md"))


@pytest.mark.parametrize("target", ["folder", "note.md"])
@pytest.mark.promise("P7")
def test_a_linked_extra_path_is_skipped(workspace: Path, tmp_path: Path, target: str) -> None:
    write(tmp_path, "folder/a.md", "note.md")
    (workspace / "link.md").symlink_to(tmp_path / target)
    assert scan(workspace, "link.md") == Discovery((), skipped("link.md", f"extra path {LINK}"))


def test_an_extra_path_below_a_link_is_where_it_really_is(workspace: Path, tmp_path: Path) -> None:
    write(tmp_path, "real/docs/a.md")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert names(scan(workspace, str(tmp_path / "link" / "docs"))) == ["../real/docs/a.md"]


def test_a_linked_workspace_is_where_it_really_is(workspace: Path, tmp_path: Path) -> None:
    write(workspace, "memory/a.md")
    (tmp_path / "link").symlink_to(workspace)
    assert scan(tmp_path / "link") == scan(workspace)


# What is left out, with the reason.


@posix
@pytest.mark.promise("P7")
def test_a_pipe_is_skipped_and_does_not_block(workspace: Path) -> None:
    os.mkfifo(workspace / "memory" / "p.md")
    assert scan(workspace) == Discovery((), skipped("memory/p.md", "is not a regular file"), unread=1)


def test_a_file_above_the_limit_is_skipped(workspace: Path) -> None:
    (workspace / "memory" / "big.md").write_bytes(b"x" * 2_500_001)
    reason = "is 2.5 MB, above the limit of 2.5 MB (files.max_bytes)"
    assert scan(workspace, limit=2_500_000) == Discovery((), skipped("memory/big.md", reason), unread=1)


def test_a_file_of_exactly_the_limit_is_taken(workspace: Path) -> None:
    (workspace / "memory" / "big.md").write_bytes(b"x" * 1000)
    assert names(scan(workspace, limit=1000)) == ["memory/big.md"]


@pytest.mark.skipif(os.name == "nt" or os.uname().sysname == "Darwin", reason="names are always Unicode here")
def test_a_name_that_is_not_utf8_is_reported(workspace: Path) -> None:
    Path(os.fsdecode(os.fsencode(workspace / "memory") + b"/caf\xe9.md")).write_text("note", encoding="utf-8")
    reason = "has a name that is not valid UTF-8"
    assert scan(workspace) == Discovery((), skipped("memory/caf\\xe9.md", reason), unread=1)


@pytest.mark.skipif(os.name == "nt" or os.uname().sysname == "Darwin", reason="names are always Unicode here")
def test_notes_in_a_folder_whose_name_is_not_utf8_are_reported(workspace: Path) -> None:
    folder = Path(os.fsdecode(os.fsencode(workspace / "memory") + b"/\xff"))
    write(folder, "a.md")
    assert scan(workspace).problems[0].path == "memory/\\xff/a.md"


def test_a_problem_is_told_once(workspace: Path) -> None:
    (workspace / "memory" / "link.md").symlink_to("missing")
    assert scan(workspace, "memory", ".") == Discovery((), skipped("memory/link.md"))


SCAN_AND_TELL = """\
import json, sys
from pathlib import Path
from memlines.files.scan import discover
from memlines.paths import Workspace
found = discover(Workspace.at(sys.argv[1]), tuple(sys.argv[2:]), 1_000_000)
problems = [[p.path, p.reason, p.failed] for p in found.problems]
print(json.dumps({"files": [f.path for f in found.files], "problems": problems, "blind": found.blind}))
"""


def told_without_privileges(closed: Path, root: Path, *extra: str) -> object:
    mode = closed.stat().st_mode
    closed.chmod(0)
    try:
        done = unprivileged_run(SCAN_AND_TELL, root, *extra)
    finally:
        closed.chmod(mode)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_folder_that_cannot_be_listed_is_a_failure_and_blinds(workspace: Path) -> None:
    write(workspace, "memory/a.md", "memory/closed/b.md", "memory/open/c.md")
    assert told_without_privileges(workspace / "memory" / "closed", workspace) == {
        "files": ["memory/a.md", "memory/open/c.md"],
        "problems": [["memory/closed", "cannot be listed: permission denied", True]],
        "blind": ["memory/closed"],
    }


def test_notes_folder_that_cannot_be_listed(workspace: Path) -> None:
    write(workspace, "MEMORY.md", "memory/a.md")
    assert told_without_privileges(workspace / "memory", workspace) == {
        "files": ["MEMORY.md"],
        "problems": [["memory", "cannot be listed: permission denied", True]],
        "blind": ["memory"],
    }


def test_an_extra_path_that_cannot_be_looked_at(workspace: Path, tmp_path: Path) -> None:
    write(tmp_path, "closed/docs/a.md")
    assert told_without_privileges(tmp_path / "closed", workspace, "../closed/docs") == {
        "files": [],
        "problems": [["../closed/docs", "cannot be looked at: permission denied", True]],
        "blind": ["../closed/docs"],
    }


def test_an_unreadable_note_is_found_all_the_same(workspace: Path) -> None:
    write(workspace, "memory/a.md")
    found = told_without_privileges(workspace / "memory" / "a.md", workspace)
    assert found == {"files": ["memory/a.md"], "problems": [], "blind": []}


# Extra paths.


def test_an_extra_folder(workspace: Path) -> None:
    write(workspace, "docs/a.md", "docs/deep/b.md", "docs/c.txt")
    assert names(scan(workspace, "docs")) == ["docs/a.md", "docs/deep/b.md"]


def test_an_extra_file(workspace: Path) -> None:
    write(workspace, "docs/a.md", "docs/b.md")
    assert names(scan(workspace, "docs/a.md")) == ["docs/a.md"]


def test_an_extra_path_outside_is_named_from_the_workspace(workspace: Path, tmp_path: Path) -> None:
    write(tmp_path, "elsewhere/a.md")
    assert names(scan(workspace, "../elsewhere")) == ["../elsewhere/a.md"]


def test_an_absolute_extra_path(workspace: Path, tmp_path: Path) -> None:
    write(tmp_path, "elsewhere/a.md")
    assert names(scan(workspace, str(tmp_path / "elsewhere"))) == ["../elsewhere/a.md"]


def test_an_extra_path_in_the_home_folder(
    workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, "home/notes/a.md")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert names(scan(workspace, "~/notes")) == ["../home/notes/a.md"]


def test_the_home_of_nobody_does_not_exist(workspace: Path) -> None:
    expected = skipped("~no-such-user/notes", "extra path does not exist")
    assert scan(workspace, "~no-such-user/notes") == Discovery((), expected)


@pytest.mark.parametrize("extra", ["missing", "MEMORY.md/below"])
def test_a_missing_extra_path_is_skipped(workspace: Path, extra: str) -> None:
    write(workspace, "MEMORY.md")
    assert scan(workspace, extra).problems == skipped(extra, "extra path does not exist")


def test_an_extra_file_that_is_no_note(workspace: Path) -> None:
    write(workspace, "photo.png")
    reason = "extra path is neither a folder nor a .md file"
    assert scan(workspace, "photo.png") == Discovery((), skipped("photo.png", reason))


@posix
def test_an_extra_pipe(workspace: Path) -> None:
    os.mkfifo(workspace / "p.md")
    assert scan(workspace, "p.md") == Discovery((), skipped("p.md", "is not a regular file"), unread=1)


def test_an_extra_ignored_folder_was_asked_for(workspace: Path) -> None:
    write(workspace, "venv/a.md", "venv/node_modules/b.md")
    assert names(scan(workspace, "venv")) == ["venv/a.md"]


def test_overlapping_extra_paths_find_a_file_once(workspace: Path) -> None:
    write(workspace, "memory/a.md", "docs/deep/b.md")
    found = names(scan(workspace, "docs/deep", "docs", "memory", "."))
    assert found == ["memory/a.md", "docs/deep/b.md"]


def test_the_workspace_itself_as_an_extra_path(workspace: Path) -> None:
    write(workspace, "MEMORY.md", "README.md", "memory/a.md", ".memory/x.md", ".git/y.md")
    assert names(scan(workspace, ".")) == ["MEMORY.md", "memory/a.md", "README.md"]


def test_extra_roots_drop_blanks_and_repetitions(workspace: Path) -> None:
    home = Workspace.at(workspace)
    roots = extra_roots(home, ("", "  ", "docs", " docs/ ", "./docs", "x/../docs", str(home.root / "docs")))
    assert roots == [str(home.root / "docs")]


# Fingerprints.


def test_a_fingerprint_changes_with_the_content(tmp_path: Path) -> None:
    write(tmp_path, "a.md")
    before = fingerprint_of((tmp_path / "a.md").stat())
    (tmp_path / "a.md").write_text("longer than before\n", encoding="utf-8")
    assert fingerprint_of((tmp_path / "a.md").stat()) != before


def test_a_fingerprint_changes_when_the_file_is_replaced(tmp_path: Path) -> None:
    write(tmp_path, "a.md", "b.md")
    old = (tmp_path / "a.md").stat()
    os.utime(tmp_path / "b.md", ns=(old.st_atime_ns, old.st_mtime_ns))
    (tmp_path / "b.md").replace(tmp_path / "a.md")
    assert fingerprint_of((tmp_path / "a.md").stat()) != fingerprint_of(old)


def test_a_fingerprint_fits_signed_integers() -> None:
    info = os.stat_result((0o100644, 2**64 - 1, 0, 1, 0, 0, 5, 0, 0, 0), {"st_mtime_ns": 2**64})
    assert fingerprint_of(info) == Fingerprint(5, 2**63 - 1, 2**63 - 1)

"""Only notes of the memory can be read, however a path is written."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlines.errors import PathError
from memlines.files.read import read_lines
from memlines.files.scan import IGNORED_DIRS, discover
from memlines.paths import Workspace
from memlines.types import Excerpt
from tests.programs import unprivileged_run

pytestmark = pytest.mark.promise("P7")

LIMIT = 1_000_000
CORPORA = Path(__file__).parents[3] / "shared" / "corpora"


@pytest.fixture(autouse=True)
def _notes(workspace: Path) -> None:
    """Put a few notes into the workspace, and a secret beside it."""
    (workspace / "MEMORY.md").write_text("one\ntwo\nthree\n", encoding="utf-8")
    (workspace / "memory" / "a.md").write_text("alpha\n", encoding="utf-8")
    (workspace.parent / "secret.md").write_text("secret\n", encoding="utf-8")


def read(root: Path, path: str, *extra: str) -> Excerpt:
    return read_lines(Workspace.at(root), extra, path, None, None, LIMIT)


def refused(root: Path, path: str, *extra: str) -> str:
    with pytest.raises(PathError) as error:
        read(root, path, *extra)
    assert error.value.todo
    return str(error.value)


# Which paths are part of the memory.


@pytest.mark.parametrize(
    "path", ["MEMORY.md", " MEMORY.md ", "./MEMORY.md", "memory/../MEMORY.md", "MEMORY.md\n"]
)
def test_a_root_file(workspace: Path, path: str) -> None:
    assert read(workspace, path) == Excerpt("MEMORY.md", "one\ntwo\nthree", 1, 3, total_lines=3)


@pytest.mark.parametrize("path", ["memory/a.md", "memory//a.md", "./memory/./a.md", "memory/x/../a.md"])
def test_a_note(workspace: Path, path: str) -> None:
    assert read(workspace, path) == Excerpt("memory/a.md", "alpha", 1, 1, total_lines=1)


def test_an_absolute_path_inside(workspace: Path) -> None:
    assert read(workspace, str(workspace.resolve() / "memory" / "a.md")).path == "memory/a.md"


@pytest.mark.parametrize("path", ["", "  ", "\n", "\0", "memory/a.md\0", "memory/\udcff.md"])
def test_no_usable_path(workspace: Path, path: str) -> None:
    assert "no usable path" in refused(workspace, path)


@pytest.mark.parametrize(
    "path",
    [
        "../secret.md",
        "memory/../../secret.md",
        "/etc/x.md",
        "~/x.md",
        "secret.md",
        "README.md",
        "memoryx/a.md",
    ],
)
def test_a_path_outside(workspace: Path, path: str) -> None:
    assert "lies outside" in refused(workspace, path)


def test_an_absolute_path_outside(workspace: Path) -> None:
    assert "lies outside" in refused(workspace, str(workspace.resolve().parent / "secret.md"))


@pytest.mark.parametrize(
    "path", [".", "memory", "memory/a.txt", "memory/a.MD", "memory/a", "memory/a.md.bak"]
)
def test_a_path_that_is_no_note(workspace: Path, path: str) -> None:
    assert "only .md files are" in refused(workspace, path)


@pytest.mark.parametrize("folder", sorted(IGNORED_DIRS))
def test_ignored_folders_are_not_read(workspace: Path, folder: str) -> None:
    (workspace / "memory" / folder).mkdir()
    (workspace / "memory" / folder / "x.md").touch()
    assert "lies outside" in refused(workspace, f"memory/{folder}/x.md")


def test_the_private_folder_is_not_read_though_the_workspace_is_an_extra_path(workspace: Path) -> None:
    (workspace / ".memory").mkdir()
    (workspace / ".memory" / "x.md").touch()
    assert "lies outside" in refused(workspace, ".memory/x.md", ".")


@pytest.mark.parametrize(
    "path", ["memory/none.md", "memory/deep/none.md", "memory.md", "memory/a.md/below.md"]
)
def test_a_missing_note_is_not_found(workspace: Path, path: str) -> None:
    assert read(workspace, path) == Excerpt(path, "", 1, 0, found=False)


def test_a_note_that_is_only_an_ending(workspace: Path) -> None:
    (workspace / "memory" / ".md").write_text("odd\n", encoding="utf-8")
    assert read(workspace, "memory/.md").text == "odd"


def test_a_folder_called_like_a_note(workspace: Path) -> None:
    (workspace / "memory" / "x.md").mkdir()
    assert "not a regular file" in refused(workspace, "memory/x.md")


@pytest.mark.skipif(os.name == "nt", reason="needs pipes")
def test_a_pipe_does_not_block(workspace: Path) -> None:
    os.mkfifo(workspace / "memory" / "p.md")
    assert "not a regular file" in refused(workspace, "memory/p.md")


@pytest.mark.parametrize("target", ["memory/a.md", "../secret.md", "missing"])
def test_a_linked_note(workspace: Path, target: str) -> None:
    (workspace / "memory" / "link.md").symlink_to(workspace / target)
    assert "symbolic link" in refused(workspace, "memory/link.md")


def test_a_linked_root_file(workspace: Path) -> None:
    (workspace / "memory.md").symlink_to(workspace.parent / "secret.md")
    assert "symbolic link" in refused(workspace, "memory.md")


def test_a_linked_folder_on_the_way(workspace: Path) -> None:
    (workspace / "memory" / "link").symlink_to(workspace.parent)
    assert "symbolic link" in refused(workspace, "memory/link/secret.md")


def test_a_linked_folder_on_the_way_to_nothing(workspace: Path) -> None:
    (workspace / "memory" / "link").symlink_to(workspace.parent)
    assert "symbolic link" in refused(workspace, "memory/link/missing.md")


def test_a_linked_notes_folder(tmp_path: Path) -> None:
    root = tmp_path / "other"
    root.mkdir()
    (root / "memory").symlink_to(tmp_path)
    assert "symbolic link" in refused(root, "memory/secret.md")


def test_a_link_to_itself(workspace: Path) -> None:
    (workspace / "memory" / "loop.md").symlink_to("loop.md")
    refused(workspace, "memory/loop.md")


def test_a_very_long_name(workspace: Path) -> None:
    assert "cannot be read: file name too long" in refused(workspace, "memory/" + "x" * 5000 + ".md")


def test_a_note_without_permission(workspace: Path) -> None:
    (workspace / "memory" / "a.md").chmod(0)
    done = unprivileged_run(
        "import sys\n"
        "from memlines.errors import PathError\n"
        "from memlines.files.read import read_lines\n"
        "from memlines.paths import Workspace\n"
        "try: read_lines(Workspace.at(sys.argv[1]), (), 'memory/a.md', None, None, 1000)\n"
        "except PathError as error: print(error)\n",
        workspace,
    )
    assert done.stdout == "'memory/a.md' cannot be read: permission denied. Check the file's permissions\n"


# Extra paths.


@pytest.fixture
def extra(tmp_path: Path) -> Path:
    """A folder beside the workspace, with a note."""
    folder = tmp_path / "extra"
    (folder / "deep").mkdir(parents=True)
    (folder / "deep" / "x.md").write_text("extra\n", encoding="utf-8")
    return folder


@pytest.mark.parametrize("configured", ["../extra", "../extra/deep", "../extra/deep/x.md", " ../extra/ "])
def test_a_note_in_an_extra_path(workspace: Path, extra: Path, configured: str) -> None:
    assert read(workspace, "../extra/deep/x.md", configured).text == "extra"


def test_a_note_in_an_extra_path_by_its_absolute_name(workspace: Path, extra: Path) -> None:
    assert read(workspace, str(extra / "deep" / "x.md"), str(extra)).path == "../extra/deep/x.md"


def test_an_extra_file_lets_nothing_beside_it_in(workspace: Path, extra: Path) -> None:
    (extra / "deep" / "y.md").touch()
    assert "lies outside" in refused(workspace, "../extra/deep/y.md", "../extra/deep/x.md")


def test_a_linked_extra_path_lets_nothing_in(workspace: Path, extra: Path) -> None:
    (workspace / "link").symlink_to(extra)
    refused(workspace, "link/deep/x.md", "link")


def test_a_link_below_an_extra_path_is_refused(workspace: Path, extra: Path) -> None:
    (extra / "link.md").symlink_to(workspace.parent / "secret.md")
    assert "symbolic link" in refused(workspace, "../extra/link.md", "../extra")


def test_folders_above_an_extra_path_may_be_links(workspace: Path, extra: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path)
    assert read(workspace, "../link/extra/deep/x.md", "../link/extra").path == "../extra/deep/x.md"


def test_an_extra_path_inside_an_ignored_folder_was_asked_for(workspace: Path) -> None:
    (workspace / "memory" / "venv" / "kept").mkdir(parents=True)
    (workspace / "memory" / "venv" / "kept" / "x.md").write_text("kept", encoding="utf-8")
    assert read(workspace, "memory/venv/kept/x.md", "memory/venv/kept").text == "kept"


def test_an_extra_path_below_a_loop_disturbs_no_other_read(workspace: Path, tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    assert read(workspace, "memory/a.md", "../loop/docs").found


def test_everything_that_discovery_finds_can_be_read(workspace: Path, extra: Path, tmp_path: Path) -> None:
    """A search result names a path; reading that path must work, however it was configured."""
    (tmp_path / "link").symlink_to(tmp_path)
    for odd in (
        "memory/.md",
        "memory/ spaced .md",
        "memory/日記.md",
        "memory/.git/kept/x.md",
        "memory/q?.md",
    ):
        (workspace / odd).parent.mkdir(parents=True, exist_ok=True)
        (workspace / odd).touch()
    configured = ("../link/extra", "memory/.git/kept", "../secret.md")
    found = discover(Workspace.at(workspace), configured, LIMIT).files
    assert len(found) == 9
    assert all(read(workspace, file.path, *configured).found for file in found)


# Hostile paths.

READ_EACH = """\
import json, os, sys
from memlines.errors import PathError
from memlines.files.read import read_lines
from memlines.paths import Workspace

opened = []
def watch(event, arguments):
    by_name = event in ("os.listdir", "os.scandir") or (event == "open" and arguments[1] is not None)
    if by_name and watching and not isinstance(arguments[0], int):
        opened.append(os.fsdecode(arguments[0]))
watching = False
sys.addaudithook(watch)

really_open = os.open
def watch_descriptors(*arguments, **options):
    handle = really_open(*arguments, **options)
    if watching:
        opened.append(os.readlink(f"/proc/self/fd/{handle}"))
    return handle
os.open = watch_descriptors

payloads = json.load(sys.stdin)
workspace = Workspace.at(sys.argv[1])
leaks = []
read_lines(workspace, (), "memory/a.md", None, None, 1_000_000)  # whatever is imported late is imported now
watching = True
for payload in payloads:
    try:
        if read_lines(workspace, (), payload, None, None, 1_000_000).found:
            leaks.append(payload)
    except PathError:
        continue
read_lines(workspace, (), "memory/a.md", None, None, 1_000_000)
watching = False
inside = str(workspace.root) + os.sep
outside = [path for path in opened if not f"{path}{os.sep}".startswith(inside)]
files = sum(os.path.isfile(path) for path in opened)
print(json.dumps({"leaks": leaks, "opened": files, "outside": outside}))
"""


@pytest.mark.parametrize("name", ["traversal-a.txt", "traversal-b.txt", "traversal-c.txt"])
def test_known_attacks_read_nothing_and_open_nothing_outside(workspace: Path, name: str) -> None:
    if not (CORPORA / name).exists():
        pytest.skip("the lists of hostile paths are not here")
    if not Path("/proc/self/fd").exists():
        pytest.skip("the system does not tell what a descriptor leads to")
    lines = (CORPORA / name).read_text(encoding="utf-8", errors="replace").splitlines()
    payloads = [
        variant
        for line in lines
        for aimed in (line.replace("{FILE}", "secret.md"),)
        for variant in (
            line,
            aimed,
            f"memory/{aimed}",
            f"{aimed}.md",
            f"memory/{aimed}/secret.md",
            f"{aimed}\0.md",
        )
    ]
    done = subprocess.run(
        [sys.executable, "-c", READ_EACH, str(workspace)],
        input=json.dumps(payloads),
        capture_output=True,
        check=True,
        encoding="utf-8",
        timeout=100,
    )
    assert json.loads(done.stdout) == {"leaks": [], "opened": 1, "outside": []}


@given(
    st.lists(st.sampled_from(["..", ".", "memory", "secret.md", "a.md", "/", "\\", " ", "~", "%2e", "\0"]))
)
def test_no_path_of_any_shape_reaches_the_secret(parts: list[str]) -> None:
    # The workspace need not exist for the rules; nothing is found, or the path is refused.
    root = Workspace(Path(__file__).resolve().parents[1] / "no-such-workspace")
    for path in ("/".join(parts), "".join(parts)):
        try:
            assert not read_lines(root, (), path, None, None, LIMIT).found
        except PathError as error:
            assert error.what  # noqa: PT017 (both outcomes are right)

"""What is private is private whatever the umask, and a group that shares a folder keeps its rights."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from memlines.files.notes import append
from memlines.files.place import ensure_private
from memlines.memory.memory import Memory
from memlines.paths import Workspace
from tests.admin.doctor import look, repair
from tests.indexes import index_file
from tests.note_changes import edit

pytestmark = [
    pytest.mark.promise("P13"),
    pytest.mark.skipif(os.name == "nt", reason="permissions are not like that here"),
]

WORDS_ONLY = {"embeddings.provider": "none"}

ALL_OF_IT = """\
import os, sys
os.umask(int(sys.argv[2], 8))
from datetime import UTC, datetime
from pathlib import Path
from memlines.files import snapshots
from memlines.files.notes import append
from tests.note_changes import edit, remove_note
from memlines.files.snapshots import Said, Snapshot
from memlines.memory.memory import Memory
with Memory(sys.argv[1], {"embeddings.provider": sys.argv[3]}) as memory:
    home = memory.workspace
    append(home, "memory/a.md", "- Anna keeps a heron")
    append(home, "memory/gone.md", "- Bert keeps a kestrel")
    memory.sync()
    edit(home, "memory/a.md", 1, 1, "- Anna keeps two herons", "- Anna keeps a heron")
    remove_note(home, "memory/gone.md")
    snapshots.save(home, Snapshot("s", (Said("user", "heron"),), datetime.now(UTC)))
    memory.sync(force=True)
    memory.search("heron")
"""


def permissions(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


def open_to_others(folder: Path) -> dict[str, str]:
    """Return what is not closed to everybody but its owner, of a folder and all in it."""
    found = [folder, *sorted(folder.rglob("*"))]
    return {str(path): oct(permissions(path)) for path in found if permissions(path) & 0o077}


def run(code: str, *arguments: object) -> str:
    """Run a program in a process of its own, which may set a umask of its own."""
    program = [sys.executable, "-c", code, *map(str, arguments)]
    done = subprocess.run(program, capture_output=True, check=False, encoding="utf-8", timeout=100)
    assert done.returncode == 0, done.stderr
    return done.stdout


def command(umask: str, *arguments: object) -> None:
    code = "import os, sys\nos.umask(int(sys.argv.pop(1), 8))\nfrom memlines.cli.start import main\nmain()\n"
    run(code, umask, *arguments)


@pytest.mark.parametrize("umask", ["000", "022"])
def test_everything_private_is_closed_to_others(workspace: Path, umask: str) -> None:
    run(ALL_OF_IT, workspace, umask, "builtin")
    kept = {path.name for path in (workspace / ".memory").iterdir()}
    assert {"index.sqlite", "history", "trash", "snapshots", "notes.lock"} <= kept
    assert open_to_others(workspace / ".memory") == {}
    assert open_to_others(Path(os.environ["MEMLINES_HOME"]) / "state") == {}
    assert permissions(Path(os.environ["MEMLINES_HOME"]) / "cache") == 0o700


def test_an_export_and_a_backup_are_closed_to_others(workspace: Path, tmp_path: Path) -> None:
    append(Workspace.at(workspace), "memory/a.md", "- Anna keeps a heron")
    command("000", "export", tmp_path / "notes.zip", "--workspace", workspace)
    command("000", "backup", tmp_path / "copies", "--workspace", workspace)
    assert open_to_others(tmp_path / "notes.zip") == {}
    assert open_to_others(tmp_path / "copies") == {}


def test_exported_facts_are_closed_to_others(workspace: Path, tmp_path: Path) -> None:
    command("000", "facts", "store", "Prefers herons over kestrels", "--workspace", workspace)
    command("000", "facts", "export", "-o", tmp_path / "facts.csv", "--workspace", workspace)
    assert open_to_others(tmp_path / "facts.csv") == {}
    assert open_to_others(workspace / ".memory") == {}


def test_what_was_spent_and_its_folder_are_closed_to_others(tmp_path: Path) -> None:
    spend = (
        "import os, sys\nos.umask(0)\nfrom pathlib import Path\n"
        "from memlines.embed.spending.ledger import Ledger\n"
        "Ledger(Path(sys.argv[1]))._change(lambda accounts: accounts)\n"
    )
    run(spend, tmp_path / "deep" / "state" / "spending.json")
    assert open_to_others(tmp_path / "deep") == {}


def test_an_index_is_closed_before_anything_is_in_it(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    append(Workspace.at(workspace), "memory/a.md", "- Anna keeps a heron")
    seen: list[tuple[int, int]] = []

    class Watched(apsw.Connection):
        def __init__(self, name: str, *arguments: object, **options: object) -> None:
            if os.path.exists(name):  # noqa: PTH110
                seen.append((os.stat(name).st_size, stat.S_IMODE(os.stat(name).st_mode)))  # noqa: PTH116
            super().__init__(name, *arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(apsw, "Connection", Watched)
    with Memory(workspace, WORDS_ONLY) as memory:
        memory.sync()
    assert seen[0] == (0, 0o600)


# What was open before


def loosen(folder: Path) -> None:
    for path in [folder, *folder.rglob("*")]:
        path.chmod(0o777 if path.is_dir() else 0o644)


@pytest.mark.parametrize("step", ["write", "sync"])
def test_an_open_workspace_is_closed_by_the_next_write_or_sync(workspace: Path, step: str) -> None:
    run(ALL_OF_IT, workspace, "022", "none")
    loosen(workspace / ".memory")
    if step == "write":
        append(Workspace.at(workspace), "memory/a.md", "- more")
    else:
        with Memory(workspace, WORDS_ONLY) as memory:
            memory.sync()
    assert open_to_others(workspace / ".memory") == {}


def test_doctor_tells_what_is_open_and_closes_it(workspace: Path) -> None:
    run(ALL_OF_IT, workspace, "022", "none")
    index_file(workspace).chmod(0o644)
    found = [one for one in look(workspace).findings if one.check == "workspace"]
    assert [(one.repair, "index.sqlite" in one.message) for one in found] == [("permissions", True)]
    repaired = repair(workspace)
    assert [one.level for one in repaired.findings if one.check == "workspace"] == ["ok"]
    assert open_to_others(workspace / ".memory") == {}


def test_looking_changes_no_permissions(workspace: Path) -> None:
    run(ALL_OF_IT, workspace, "022", "none")
    index_file(workspace).chmod(0o644)
    look(workspace)
    assert permissions(index_file(workspace)) == 0o644


# Notes


def new_note(workspace: Path, umask: str) -> int:
    code = "import os, sys\nos.umask(int(sys.argv[2], 8))\nfrom memlines.files.notes import append\n"
    code += "from memlines.paths import Workspace\n"
    code += "append(Workspace.at(sys.argv[1]), 'memory/people/a.md', '- Anna')\n"
    run(code, workspace, umask)
    return permissions(workspace / "memory/people/a.md")


@pytest.mark.parametrize(("umask", "mode"), [("022", 0o644), ("077", 0o600), ("002", 0o664)])
def test_a_new_note_has_the_permissions_of_any_new_file(workspace: Path, umask: str, mode: int) -> None:
    assert new_note(workspace, umask) == mode


def test_a_new_note_in_a_shared_folder_may_be_written_by_the_group(workspace: Path) -> None:
    (workspace / "memory").chmod(0o2775)
    assert new_note(workspace, "077") == 0o660
    assert permissions(workspace / "memory/people") == 0o2770


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664])
def test_a_changed_note_keeps_its_permissions_in_a_shared_folder(workspace: Path, mode: int) -> None:
    (workspace / "memory").chmod(0o2775)
    home = Workspace.at(workspace)
    append(home, "memory/a.md", "- Anna")
    (workspace / "memory/a.md").chmod(mode)
    edit(home, "memory/a.md", 1, 1, "- Bert", "- Anna")
    assert permissions(workspace / "memory/a.md") == mode


def test_a_shared_workspace_has_a_private_folder_of_its_group(workspace: Path) -> None:
    workspace.chmod(0o2770)
    ensure_private(Workspace.at(workspace))
    assert permissions(workspace / ".memory") == 0o2770
    assert permissions(workspace / ".memory/.gitignore") == 0o660


def test_a_workspace_that_is_shared_no_more_is_closed_to_the_group(workspace: Path) -> None:
    workspace.chmod(0o2770)
    run(ALL_OF_IT, workspace, "022", "none")
    workspace.chmod(0o770)
    append(Workspace.at(workspace), "memory/a.md", "- more")
    assert open_to_others(workspace / ".memory") == {}


# Two users

ANNA, BERT, EVE, GROUP = 54001, 54002, 54003, 54100

AS_USER = """\
import json, os, sys
user, groups, home, workspace, step = sys.argv[1:6]
from datetime import UTC, datetime
from memlines.errors import MemlinesError
from memlines.files import history, snapshots
from memlines.files.notes import append
from memlines.files.snapshots import Said, Snapshot
from memlines.memory.memory import Memory
from tests.note_changes import edit

def work(folder, words):
    with Memory(folder, {"embeddings.provider": "none"}) as memory:
        append(memory.workspace, "memory/shared.md", f"- {words}")
        edit(memory.workspace, "memory/shared.md", 1, 1, f"- {words} first", "- " + open(
            os.path.join(folder, "memory/shared.md"), encoding="utf-8").readline()[2:-1])
        snapshots.save(memory.workspace, Snapshot(words, (Said("user", words),), datetime.now(UTC)))
        report = memory.sync()
        return [len(report.indexed), [hit.snippet for hit in memory.search("kept")]]

def look(folder, words):
    with Memory(folder, {"embeddings.provider": "none"}) as memory:
        return [[hit.snippet for hit in memory.search("kept")], list(memory.search("kept").warnings)]

def share(folder, words):
    with Memory(folder, {"embeddings.provider": "none"}) as memory:
        memory.remember(f"The lantern is {words}", topic="lights", force=True)
        memory.remember(f"The anchor is {words}", force=True)
        first = memory.facts.store(f"The anchor of the boat is {words}", force=True)
        memory.facts.store(f"The anchor of the ship is {words}", replaces=first.line.fact.id, force=True)
        passing = memory.facts.store(f"The parrot is {words}", force=True)
        left = memory.facts.forget([passing.line.fact.id]).left
        gone = memory.remember(f"The pirate is {words}", force=True)
        left += memory.forget(memory.forget_candidates(gone.citation)).left
        found = [" ".join(hit.snippet for hit in memory.search("lantern"))]
        found += [one.text for one in memory.recall(topic="lights")]
        facts = [line.fact.text for line in memory.facts.list()]
        return [found, facts, [*left], [*memory.sync().warnings]]

# Modules may lie where only this user can read them, so all of it is loaded before the user changes.
warm = os.path.join(home, "warm")
os.makedirs(os.path.join(warm, "memory"))
os.environ["MEMLINES_HOME"] = os.path.join(home, "warm-home")
steps = {"work": work, "look": look, "share": share}
work(warm, "warm"), steps[step](warm, "warm")
os.environ["MEMLINES_HOME"] = os.path.join(home, "memlines")
os.umask(0o022)
os.setgroups([int(group) for group in groups.split(",") if group])
os.setgid(int(user))
os.setuid(int(user))
try:
    print(json.dumps(steps[step](workspace, f"kept by {user}")))
except (MemlinesError, OSError) as error:
    print(json.dumps(f"refused: {error}"))
"""


@pytest.fixture
def shared() -> Iterator[Path]:
    """A folder that two users share by their group, where those of the tests are closed to other users."""
    if os.geteuid() != 0:
        pytest.skip("only the superuser can be two users")
    top = Path(tempfile.mkdtemp(prefix="memlines-shared-"))
    top.chmod(0o755)
    (top / "workspace").mkdir()
    (top / "workspace" / "memory").mkdir()
    for folder in (top / "workspace" / "memory", top / "workspace"):
        os.chown(folder, ANNA, GROUP)
        folder.chmod(0o2770)
    for user in (ANNA, BERT, EVE):
        (top / str(user)).mkdir()
        os.chown(top / str(user), user, user)
    yield top
    shutil.rmtree(top)


def as_user(top: Path, user: int, step: str, groups: str = str(GROUP)) -> object:
    home = tempfile.mkdtemp(dir=top / str(user))
    os.chown(home, user, user)
    told = run(AS_USER, user, groups, home, top / "workspace", step)
    shutil.rmtree(Path(home) / "warm")
    return json.loads(told)


def test_two_users_of_a_group_write_and_search_one_workspace(shared: Path) -> None:
    as_user(shared, ANNA, "work")
    as_user(shared, BERT, "work")
    both = as_user(shared, ANNA, "work")
    assert isinstance(both, list)
    assert any(str(BERT) in snippet for snippet in both[1])
    found = as_user(shared, BERT, "look")
    assert isinstance(found, list)
    assert (any(str(ANNA) in snippet for snippet in found[0]), found[1]) == (True, [])
    strangers = [path for path in shared.joinpath("workspace").rglob("*") if path.lstat().st_gid != GROUP]
    assert strangers == []


def test_two_users_of_a_group_remember_and_forget_in_turn(shared: Path) -> None:
    as_user(shared, ANNA, "share")
    as_user(shared, BERT, "share")
    last = as_user(shared, ANNA, "share")
    assert isinstance(last, list), last
    found, facts, left, warnings = last
    assert [sum(str(user) in text for text in found) for user in (ANNA, BERT)] == [3, 2]
    assert sorted(facts) == [f"The anchor of the ship is kept by {user}" for user in (ANNA, ANNA, BERT)]
    assert (left, warnings) == ([], [])
    files = [path.read_bytes() for path in shared.joinpath("workspace").rglob("*") if path.is_file()]
    assert not any(b"parrot" in content or b"pirate" in content for content in files)


def test_who_is_not_in_the_group_reads_nothing(shared: Path) -> None:
    (shared / "workspace").chmod(0o2775)  # others may look into the folder, but not into what is private
    as_user(shared, ANNA, "work")
    told = as_user(shared, EVE, "look", groups="")
    assert isinstance(told, str)
    assert told.startswith("refused")
    private = shared / "workspace" / ".memory"
    assert [path for path in [private, *private.rglob("*")] if permissions(path) & 0o007] == []

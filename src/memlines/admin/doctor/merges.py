"""Check what git does to a workspace: how it merges notes, and what merges left in them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from memlines.admin.doctor.files import within_budget
from memlines.admin.doctor.findings import Checkup, Finding, RepairJob, list_names, ok, warning
from memlines.errors import WorkspaceError
from memlines.files.attributes import FILE_NAME, ensure_union, lacks_union
from memlines.files.git import is_tracked, run_git
from memlines.files.scan import NOTES_DIR, ROOT_FILES
from memlines.files.tombstones import Forgotten
from memlines.memory.facts.note import FactNote
from memlines.memory.memory import Memory
from memlines.memory.notes.entries import text_in
from memlines.memory.notes.proof import find_remaining
from memlines.text.merges import describe_marks
from memlines.worktrees import repository_above

_HOOK = "pre-commit"
_MOST_BYTES = 1_000_000


def check_merges(checkup: Checkup) -> Iterator[Finding]:
    """Look at how git merges the notes, and at what merges left for a person to decide."""
    findings = [*_check_left(checkup), *_check_repository(checkup)]
    yield from findings or [ok("no merge left a conflict")]


def _check_left(checkup: Checkup) -> Iterator[Finding]:
    """Yield conflicts in notes, and lines of facts that other ones of the same id replace."""
    note = FactNote(checkup.workspace, checkup.settings)
    files = [file for file in checkup.discovery.files if file.source == "memory" and file.path != note.path]
    for file in files if checkup.deep else within_budget(files):
        for sentence in describe_marks(text_in(file, checkup.settings), file.path):
            yield warning(sentence, "Keep the lines that are right, and delete the marks")
    for sentence in note.conflicts():
        yield warning(sentence, "Edit the note")
    if lost := note.lost():
        names = list_names(str(line.first) for line in lost)
        yield warning(
            f"lines of {note.path} that do not count, because another line has the same id: {names}",
            "Leave them to the next change of the facts, which takes them out",
        )


def _check_repository(checkup: Checkup) -> Iterator[Finding]:
    workspace = checkup.workspace
    if repository_above(str(workspace.root)) is None:
        return
    try:
        if not is_tracked(workspace.root, NOTES_DIR, *ROOT_FILES):
            return  # its notes are not in git
        missing = lacks_union(workspace, checkup.settings.facts.file)
        hooks = _find_hooks(workspace.root)
    except WorkspaceError as error:
        yield warning(error.what, error.todo)
        return
    if missing:
        yield warning(
            f"git stops with a conflict when two people add lines to {' or '.join(missing)}",
            "Run 'memlines init --team', and commit .gitattributes",
            "attributes",
        )
    elif not any(_calls_check(file) for file in hooks):
        yield warning(
            "the notes are shared in git, and no hook here looks for secrets in them before a commit",
            f"Write 'memlines check --staged || exit 1' into {hooks[0].as_posix()}, and make it executable",
        )
    forgotten = Forgotten.load(workspace)
    again = [*find_remaining(workspace, checkup.settings, forgotten)] if forgotten else []
    if again:
        yield warning(
            f"what was forgotten is in notes again, perhaps by a merge: {list_names(again)}",
            "Forget it again, or leave it if you want it",
        )


def _find_hooks(folder: Path) -> list[Path]:
    """Return the files that may have a commit checked: git's hook, that of husky, and pre-commit's list."""
    top = Path(repository_above(str(folder)) or folder)
    named = run_git(folder, "config", "--type=path", "--get-all", "core.hooksPath")
    *_, chosen, _ours = ["", *os.fsdecode(named).splitlines()]  # the last one is what we start git with
    usual = os.fsdecode(run_git(folder, "rev-parse", "--git-common-dir")).rstrip("\n")
    hooks = top / chosen if chosen else folder / usual / "hooks"
    return [hooks / _HOOK, hooks.parent / _HOOK, top / ".pre-commit-config.yaml"]


def _calls_check(file: Path) -> bool:
    try:
        with file.open("rb") as stream:
            return b"memlines" in stream.read(_MOST_BYTES)
    except OSError:
        return False


def repair_attributes(job: RepairJob) -> str:
    """Have git merge logs and facts by keeping both sides."""
    ensure_union(job.workspace, Memory(job.workspace.root, job.overrides).settings.facts.file)
    return f"extended {FILE_NAME}; commit it"

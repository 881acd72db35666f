"""Run all checks, and the repairs that they ask for.

Only what is derived is repaired; notes are never touched.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Set
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from memlines.admin.doctor.findings import Checkup, Finding, Level, Repair, RepairJob, problem
from memlines.admin.doctor.clients import check_clients
from memlines.admin.doctor.files import (
    check_contents,
    check_facts,
    check_files,
    check_locks,
    check_set_aside,
    check_skipped,
    check_unfinished,
    repair_locks,
    repair_set_aside,
    repair_unfinished,
)
from memlines.admin.doctor.index import (
    check_identity,
    check_index,
    check_orphans,
    check_texts,
    check_words,
    repair_by_rebuild,
    repair_by_sync,
    repair_orphans,
)
from memlines.admin.doctor.places import (
    check_agents,
    check_disk,
    check_kept,
    check_old_name,
    check_settings,
    check_workspace,
    move_old_folders,
    repair_permissions,
    repair_private,
)
from memlines.admin.doctor.vectors import (
    check_cache,
    check_copy,
    check_engines,
    check_provider,
    check_vectors,
    repair_copy,
    repair_model,
    repair_vectors,
)
from memlines.errors import MemlinesError, StoreDamaged, reason_of
from memlines.files.place import ensure_private
from memlines.index.store.sqlite.db import store_errors
from memlines.paths import Workspace
from memlines.types import Progress

Check = Callable[[Checkup], Iterator[Finding]]

CHECKS: tuple[tuple[str, Check], ...] = (
    ("workspace", check_workspace),
    ("settings", check_settings),
    ("old-name", check_old_name),
    ("disk", check_disk),
    ("locks", check_locks),
    ("index", check_index),
    ("texts", check_texts),
    ("words", check_words),
    ("orphans", check_orphans),
    ("vectors", check_vectors),
    ("cache", check_cache),
    ("copy", check_copy),
    ("identity", check_identity),
    ("files", check_files),
    ("contents", check_contents),
    ("skipped", check_skipped),
    ("unfinished", check_unfinished),
    ("set-aside", check_set_aside),
    ("kept", check_kept),
    ("agents", check_agents),
    ("provider", check_provider),
    ("engines", check_engines),
    ("facts", check_facts),
    ("clients", check_clients),
)
"""Every check and its name, in the order of what a person would look at first."""

REPAIRS: tuple[tuple[Repair, Callable[[RepairJob], str]], ...] = (
    ("old-name", lambda job: move_old_folders()),
    ("private", repair_private),
    ("permissions", repair_permissions),
    ("locks", repair_locks),
    ("sweep", repair_unfinished),
    ("model", repair_model),
    ("vectors", repair_vectors),
    ("orphans", repair_orphans),
    ("rebuild", repair_by_rebuild),
    ("sync", repair_by_sync),
    ("copy", repair_copy),
    ("clean", repair_set_aside),
)
"""Every repair and its name, in the order in which they are done."""


@dataclass(frozen=True, slots=True)
class Done:
    """A repair, whether it was done, and what it did or what prevented it."""

    repair: Repair
    done: bool
    message: str


@dataclass(frozen=True, slots=True)
class Examination:
    """What was found, after the repairs that were done."""

    workspace: str
    index_path: str
    findings: tuple[Finding, ...]
    repairs: tuple[Done, ...] = ()

    def count(self, level: Level) -> int:
        """Return how many findings are of a level."""
        return sum(finding.level == level for finding in self.findings)


def examine(
    folder: str | os.PathLike[str],
    overrides: Mapping[str, Any] | None = None,
    *,
    deep: bool = False,
) -> Examination:
    """Check a memory without changing anything; `deep` looks at all of it and tries a remote provider."""
    workspace = Workspace.at(folder)
    with Checkup(workspace, overrides, deep=deep) as checkup:
        findings = tuple(found for name, check in CHECKS for found in _run(name, check, checkup))
        return Examination(str(workspace.root), str(checkup.index_file), findings)


def _run(name: str, check: Check, checkup: Checkup) -> Iterator[Finding]:
    """Yield what a check finds; that it failed is a finding, too."""
    try:
        with store_errors(checkup.index_file):
            for finding in check(checkup):
                yield replace(finding, check=name)
    except MemlinesError as error:
        repair: Repair | None = "rebuild" if isinstance(error, StoreDamaged) else None
        yield replace(problem(error.what, error.todo, repair), check=name)
    except OSError as error:
        what = f"{error.filename} cannot be looked at" if error.filename else "this cannot be looked at"
        todo = "Check its permissions and the disk"
        yield replace(problem(f"{what}: {reason_of(error)}", todo), check=name)


def examine_and_repair(
    folder: str | os.PathLike[str],
    overrides: Mapping[str, Any] | None = None,
    *,
    progress: Progress,
    deep: bool = False,
    clean: bool = False,
) -> Examination:
    """Check a memory, repair what is derived, and check it again; `clean` deletes what was set aside."""
    first = examine(folder, overrides, deep=deep)
    wanted = {finding.repair for finding in first.findings if finding.repair}
    if not clean:
        wanted.discard("clean")
    if not wanted:
        return first
    done = _repair(wanted, RepairJob(Workspace.at(folder), overrides, Path(first.index_path), progress))
    return replace(examine(folder, overrides, deep=deep), repairs=done)


def _repair(wanted: Set[Repair], job: RepairJob) -> tuple[Done, ...]:
    """Do the repairs that are wanted; one that fails does not stop the rest."""
    needed = set(wanted)
    if "vectors" in needed:
        needed.add("sync")  # which makes the vectors again
    if "rebuild" in needed:
        needed -= {"orphans", "sync"}  # a new index has neither
    results = []
    for name, repair in REPAIRS:
        if name not in needed:
            continue
        try:
            ensure_private(job.workspace)  # refuses a link, through which nothing may be written
            with store_errors(job.index_file):
                results.append(Done(name, True, repair(job)))
        except MemlinesError as error:
            results.append(Done(name, False, str(error)))
        except OSError as error:
            where = error.filename or job.workspace.private
            results.append(Done(name, False, f"{where}: {reason_of(error)}"))
    return tuple(results)

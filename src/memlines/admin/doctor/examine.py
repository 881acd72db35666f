"""Run all checks, and the repairs that they ask for. Notes are never changed."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Set
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from memlines.admin.doctor import clients, files, index, merges, places, vectors
from memlines.admin.doctor.findings import Checkup, Finding, Level, Repair, RepairJob, problem
from memlines.errors import MemlinesError, StoreDamaged, reason_of
from memlines.files.place import ensure_private
from memlines.index.store.sqlite.db import store_errors
from memlines.paths import Workspace
from memlines.records import dataclass
from memlines.types import Progress

Check = Callable[[Checkup], Iterator[Finding]]

CHECKS: tuple[tuple[str, Check], ...] = (
    ("workspace", places.check_workspace),
    ("settings", places.check_settings),
    ("old-name", places.check_old_name),
    ("disk", places.check_disk),
    ("locks", files.check_locks),
    ("index", index.check_index),
    ("texts", index.check_texts),
    ("words", index.check_words),
    ("orphans", index.check_orphans),
    ("vectors", vectors.check_vectors),
    ("cache", vectors.check_cache),
    ("identity", index.check_identity),
    ("files", files.check_files),
    ("contents", files.check_contents),
    ("skipped", files.check_skipped),
    ("unfinished", files.check_unfinished),
    ("set-aside", files.check_set_aside),
    ("kept", places.check_kept),
    ("agents", places.check_agents),
    ("provider", vectors.check_provider),
    ("reranker", vectors.check_reranker),
    ("cluster", index.check_cluster),
    ("qmd", index.check_qmd),
    ("engines", vectors.check_engines),
    ("aliases", files.check_aliases),
    ("facts", files.check_facts),
    ("merges", merges.check_merges),
    ("clients", clients.check_clients),
)
"""Every check and its name, in the order of what a person would look at first."""

REPAIRS: tuple[tuple[Repair, Callable[[RepairJob], str]], ...] = (
    ("old-name", lambda job: places.move_old_folders()),
    ("private", places.repair_private),
    ("permissions", places.repair_permissions),
    ("attributes", merges.repair_attributes),
    ("sweep", files.repair_unfinished),
    ("model", vectors.repair_model),
    ("vectors", vectors.repair_vectors),
    ("orphans", index.repair_orphans),
    ("rebuild", partial(index.repair_by_sync, force=True)),
    ("sync", index.repair_by_sync),
    ("clean", files.repair_set_aside),
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
        findings = [replace(found, check=name) for name, check in CHECKS for found in _run(check, checkup)]
        return Examination(str(workspace.root), str(checkup.index_file), tuple(findings))


def _run(check: Check, checkup: Checkup) -> Iterator[Finding]:
    """Yield what a check finds; if it fails, that is a finding, too."""
    try:
        with store_errors(checkup.index_file):
            yield from check(checkup)
    except MemlinesError as error:
        yield problem(error.what, error.todo, "rebuild" if isinstance(error, StoreDamaged) else None)
    except OSError as error:
        what = f"{error.filename or 'this'} cannot be looked at: {reason_of(error)}"
        yield problem(what, "Check its permissions and the disk")


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
    needed = {finding.repair for finding in first.findings if finding.repair}
    if not clean:
        needed.discard("clean")
    if not needed:
        return first
    if "vectors" in needed:
        needed.add("sync")  # which makes the vectors again
    if "rebuild" in needed:
        needed -= {"orphans", "sync"}  # a new index has neither
    done = _repair(needed, RepairJob(Workspace.at(folder), overrides, Path(first.index_path), progress))
    return replace(examine(folder, overrides, deep=deep), repairs=done)


def _repair(needed: Set[Repair], job: RepairJob) -> tuple[Done, ...]:
    """Do the repairs in their order; one that fails does not stop the rest."""
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

"""Run all checks, and the repairs that they ask for."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from memlines.admin.doctor.checkup import Finding, Level, Patient, problem
from memlines.admin.doctor.clients import check_clients
from memlines.admin.doctor.engines import check_engines, check_provider
from memlines.admin.doctor.files import check_contents, check_facts, check_files, check_skipped
from memlines.admin.doctor.index import (
    check_identity,
    check_index,
    check_orphans,
    check_texts,
    check_words,
)
from memlines.admin.doctor.leftovers import check_locks, check_set_aside, check_unfinished
from memlines.admin.doctor.old_name import check_old_name
from memlines.admin.doctor.places import (
    check_agents,
    check_disk,
    check_kept,
    check_settings,
    check_workspace,
)
from memlines.admin.doctor.repairs import Case, Done, carry_out
from memlines.admin.doctor.vectors import check_cache, check_copy, check_vectors
from memlines.errors import MemlinesError, StoreDamaged, reason_of
from memlines.index.store.sqlite.db import store_errors
from memlines.paths import Workspace
from memlines.types import Progress

Check = Callable[[Patient], Iterator[Finding]]

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
    with Patient(workspace, overrides, deep=deep) as patient:
        findings = tuple(found for name, check in CHECKS for found in _findings(name, check, patient))
        return Examination(str(workspace.root), str(patient.index_file), findings)


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
    wanted = {finding.repair for finding in first.findings if finding.repair} - (
        {"clean"} if not clean else set()
    )
    if not wanted:
        return first
    case = Case(Workspace.at(folder), overrides, Path(first.index_path), progress)
    done = carry_out(wanted, case)
    return replace(examine(folder, overrides, deep=deep), repairs=done)


def _findings(name: str, check: Check, patient: Patient) -> Iterator[Finding]:
    """Yield what a check finds; that it could not be made is a finding, too."""
    for finding in _guarded(check, patient):
        yield replace(finding, check=name)


def _guarded(check: Check, patient: Patient) -> Iterator[Finding]:
    try:
        with store_errors(patient.index_file):
            yield from check(patient)
    except MemlinesError as error:
        yield problem(error.what, error.todo, "rebuild" if isinstance(error, StoreDamaged) else None)
    except OSError as error:
        what = f"{error.filename} cannot be looked at" if error.filename else "this cannot be looked at"
        yield problem(f"{what}: {reason_of(error)}", "Check its permissions and the disk")

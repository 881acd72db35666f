"""The check of the facts: their note, and the table that is made of it."""

from __future__ import annotations

from collections.abc import Iterator

from memlines.admin.doctor.finding import Finding, ok, problem, warning
from memlines.admin.doctor.patient import Patient
from memlines.errors import StoreError
from memlines.memory.facts.book import Book
from memlines.memory.facts.derived import INDEX, LANCEDB
from memlines.memory.facts.lance import INSTALL, is_installed, load
from memlines.memory.facts.record import record_of, uri_of
from memlines.paths import MAIN_AGENT


def check_facts(patient: Patient) -> Iterator[Finding]:
    """Read the facts, and compare how many their table holds."""
    settings = patient.settings.facts
    facts = [line.fact for line in Book(patient.workspace, patient.settings).lines()]
    if settings.store == LANCEDB and not is_installed():
        yield problem(
            "facts.store is lancedb, but its package is not installed, so the main index finds the facts",
            INSTALL,
        )
    current = sum(fact.is_current for fact in facts)
    unseen = sum(fact.is_captured and fact.is_current and not fact.reviewed for fact in facts)
    if unseen:
        yield warning(
            f"captured facts that nobody looked at yet: {unseen} of {current}", "Run 'memlines facts review'"
        )
    elif facts:
        yield ok(f"{current} that hold, {len(facts) - current} that are no longer true")
    else:
        yield ok("none yet")
    if settings.store != INDEX and patient.settings.agent == MAIN_AGENT and is_installed():
        yield from _check_table(patient, len(facts))


def _check_table(patient: Patient, facts: int) -> Iterator[Finding]:
    """Compare how many facts the table holds; where LanceDB cannot be loaded, no sync brings it up."""
    record = record_of(uri_of(patient.workspace, patient.settings))
    held = record.count + record.waiting if record else 0
    if not facts or held == facts or patient.index is None or not patient.index.vectors.count():
        return
    behind = f"the table of the facts is behind their note: {held} of {facts}"
    try:
        load()
    except StoreError as error:
        yield warning(f"{behind}, because {error.what}", error.todo)
    else:
        yield warning(behind, "Run 'memlines sync'", "sync")

"""The check of the facts: their note, and the table that is made of it."""

from __future__ import annotations

from collections.abc import Iterator

from recollect.doctor.finding import Finding, ok, problem, warning
from recollect.doctor.patient import Patient
from recollect.facts.book import Book
from recollect.facts.derived import INDEX, LANCEDB
from recollect.facts.lance import is_installed
from recollect.facts.record import record_of, uri_of


def check_facts(patient: Patient) -> Iterator[Finding]:
    """Read the facts, and compare how many their table holds."""
    settings = patient.settings.facts
    facts = [line.fact for line in Book(patient.workspace, patient.settings).lines()]
    if settings.store == LANCEDB and not is_installed():
        yield problem(
            "facts.store is lancedb, but its package is not installed, so the main index finds the facts",
            "Run 'pip install recollect[facts]', or set facts.store to auto",
        )
    current = sum(fact.is_current for fact in facts)
    unseen = sum(fact.is_captured and fact.is_current and not fact.reviewed for fact in facts)
    if unseen:
        yield warning(
            f"captured facts that nobody looked at yet: {unseen} of {current}", "Run 'recollect facts review'"
        )
    elif facts:
        yield ok(f"{current} that hold, {len(facts) - current} that are no longer true")
    else:
        yield ok("none yet")
    if settings.store == INDEX or not is_installed():
        return
    record = record_of(uri_of(patient.workspace, patient.settings))
    held = record.count + record.waiting if record else 0
    if facts and patient.index is not None and patient.index.vectors.count() and held != len(facts):
        yield warning(
            f"the table of the facts is behind their note: {held} of {len(facts)}",
            "Run 'recollect sync'",
            "sync",
        )

"""Checks of what does the work: SQLite, numpy, sqlite-vec, and the provider of vectors."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec

from memlines.admin.doctor.checkup import Finding, Patient, listed, ok, problem, warning
from memlines.embed.base import Provider
from memlines.embed.builtin.files import cache_folder, changed_files
from memlines.embed.select import probed
from memlines.index.store.sqlite.db import Connection
from memlines.index.sync.identity import engine_warning

_SAFE_SQLITE = (3, 51, 3)
"""Before this, two programs that checkpoint at the same instant can damage a database."""


def check_engines(patient: Patient) -> Iterator[Finding]:
    """Look for the libraries that are needed, and for a SQLite that is safe."""
    settings = patient.settings.store.vector
    with closing(Connection(":memory:")) as connection:
        sqlite = str(connection.execute("SELECT sqlite_version()").get)
    findings = [*_safe(sqlite)]
    if settings.enabled and find_spec("numpy") is None:
        findings.append(problem("numpy is not installed, so vectors cannot be searched", "Install numpy"))
    if trouble := engine_warning(patient.settings):
        findings.append(warning(trouble, ""))
    yield from findings
    if not findings:
        yield ok(f"SQLite {sqlite}, numpy {_version('numpy')}, sqlite-vec {_version('sqlite-vec')}")


def _safe(sqlite: str) -> Iterator[Finding]:
    if tuple(int(part) for part in sqlite.split(".")) < _SAFE_SQLITE:
        wanted = ".".join(str(part) for part in _SAFE_SQLITE)
        yield problem(
            f"SQLite {sqlite} can damage an index that two programs write; {wanted} and later cannot",
            "Run 'pip install --upgrade apsw'",
        )


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def check_provider(patient: Patient) -> Iterator[Finding]:
    """Tell who makes vectors, why nobody else does, and whether it works."""
    if patient.choice_trouble is not None:
        raise patient.choice_trouble
    if patient.choice is None:
        return
    provider, requested, reason = patient.choice.provider, patient.choice.requested, patient.choice.reason
    if reason and requested != "auto":
        taken = f"{provider.id} is used instead" if provider else "search goes by words only"
        yield problem(f"{requested} cannot be used, {taken}: {reason}", "Do what it says")
    elif reason and provider is None:
        yield warning(f"search goes by words only: {reason}", "Install it, or leave it so")
    elif reason:
        yield warning(f"{provider.id if provider else ''} is used instead of the first choice: {reason}", "")
    if provider is not None and provider.id == "builtin" and cache_folder().exists():
        changed = changed_files()
        if changed:
            yield problem(
                f"the unpacked model in {cache_folder()} was changed: {listed(changed)}",
                "Delete that folder; the model is unpacked again",
                "model",
            )
            return
    if provider is not None:
        yield _tried(provider, requested, deep=patient.deep)
    elif not reason:
        yield ok("search goes by words, as the settings say")


def _tried(provider: Provider, requested: str, *, deep: bool) -> Finding:
    """Let a provider embed one word, if that neither sends nor writes anything unasked."""
    goes = f"text goes to {provider.sends_to}" if provider.sends_to else "no text leaves this machine"
    name = f"{provider.id} ({provider.model}), chosen by embeddings.provider {requested}; {goes}"
    is_ready = provider.id == "builtin" and cache_folder().is_dir()
    if not deep and not is_ready:
        unasked = "unpacks it for the first time" if provider.id == "builtin" else "gives it one word"
        return ok(f"{name}; not tried (--deep {unasked})")
    return ok(f"{name}; {probed(provider)}")

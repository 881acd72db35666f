"""Checks of what does the work: SQLite, numpy, sqlite-vec, and the provider of vectors."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec

from memlines.admin.doctor.checkup import Checkup, Finding, RepairJob, list_names, ok, problem, warning
from memlines.embed.base import Provider
from memlines.embed.builtin.files import cache_folder, changed_files, remove
from memlines.embed.select import probe
from memlines.index.store.sqlite.db import Connection
from memlines.index.sync.job import engine_warning

_SAFE_SQLITE = (3, 51, 3)
"""Before this, two programs that checkpoint at the same instant can damage a database."""


def check_engines(checkup: Checkup) -> Iterator[Finding]:
    """Look for the libraries that are needed, and for a SQLite that is safe."""
    settings = checkup.settings.store.vector
    with closing(Connection(":memory:")) as connection:
        sqlite = str(connection.execute("SELECT sqlite_version()").get)
    findings = [*_check_sqlite(sqlite)]
    if settings.enabled and find_spec("numpy") is None:
        findings.append(problem("numpy is not installed, so vectors cannot be searched", "Install numpy"))
    if trouble := engine_warning(checkup.settings):
        findings.append(warning(trouble, ""))
    yield from findings
    if not findings:
        yield ok(f"SQLite {sqlite}, numpy {_version('numpy')}, sqlite-vec {_version('sqlite-vec')}")


def _check_sqlite(sqlite: str) -> Iterator[Finding]:
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


def check_provider(checkup: Checkup) -> Iterator[Finding]:
    """Look at what makes vectors, why it was chosen, and whether it works."""
    if checkup.choice_error is not None:
        raise checkup.choice_error
    if checkup.choice is None:
        return
    provider, requested, reason = checkup.choice.provider, checkup.choice.requested, checkup.choice.reason
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
                f"the unpacked model in {cache_folder()} was changed: {list_names(changed)}",
                "Delete that folder; the model is unpacked again",
                "model",
            )
            return
    if provider is not None:
        yield _try_provider(provider, requested, deep=checkup.deep)
    elif not reason:
        yield ok("search goes by words, as the settings say")


def repair_model(job: RepairJob) -> str:
    """Remove the unpacked model."""
    remove(cache_folder())
    return f"removed {cache_folder()}, so the model is unpacked again"


def _try_provider(provider: Provider, requested: str, *, deep: bool) -> Finding:
    """Let a provider embed one word, unless that sends or writes something without `deep`."""
    goes = f"text goes to {provider.sends_to}" if provider.sends_to else "no text leaves this machine"
    name = f"{provider.id} ({provider.model}), chosen by embeddings.provider {requested}; {goes}"
    is_ready = provider.id == "builtin" and cache_folder().is_dir()
    if not deep and not is_ready:
        does = "unpacks it for the first time" if provider.id == "builtin" else "gives it one word"
        return ok(f"{name}; not tried (--deep {does})")
    return ok(f"{name}; {probe(provider)}")

"""A workspace of OpenClaw is searched as it is, and vectors it has are taken over where they are the same."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import struct
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

import pytest

from memlines import Memory
from memlines.admin.backup.gather import beside
from memlines.admin.imports.openclaw import ImportedOpenClaw, find_database, import_openclaw, workspace_of
from memlines.admin.imports.openclaw_vectors import Vectors
from memlines.embed.passages import PASSAGES
from memlines.errors import PathError, ProviderUnreachable, SettingsError, StoreError
from memlines.files.scan import discover
from memlines.paths import Workspace
from memlines.text.chunk import chunk_text
from tests.admin.backups import bring_in as bring_in_archive
from tests.admin.backups import export, fill, tree
from tests.embed.fake_service import ProviderServer, impatient, provider_server, vector_of
from tests.indexes import silent
from tests.memories import WORDS_ONLY

DIMS = 8
MODEL = "some-model"
PLAIN = "The okapi sleeps at noon."
TITLED = "# Boats\n\nPetrel is a yawl."
BELOW = "# Boats\n" + "".join(f"- Line {number} below a heading.\n" for number in range(100))
NOTES = {"memory/plain.md": PLAIN.encode(), "memory/titled.md": TITLED.encode()}

HOLDER = """
import sqlite3, sys
database = sqlite3.connect(sys.argv[1], isolation_level=None)
database.execute("PRAGMA journal_mode = DELETE")
database.execute("BEGIN EXCLUSIVE")
print("held", flush=True)
sys.stdin.read()
"""
"""Another program in the middle of a change."""

Kind = Literal["new", "old"]


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ProviderServer]:
    impatient(monkeypatch, retries=0)
    with provider_server("openai-compatible", dims=DIMS) as server:
        yield server


@pytest.fixture
def notes(workspace: Path) -> Path:
    return fill(workspace, NOTES)


def vectors_of(*texts: str) -> dict[str, list[float]]:
    return {text: vector_of(text, DIMS, MODEL) for text in texts}


def openclaw(
    state: Path,
    vectors: Mapping[str, list[float]],
    kind: Kind = "new",
    *,
    provider: str = "openai-compatible",
) -> Path:
    """Make a database as the versions of OpenClaw do."""
    is_new = kind == "new"
    file = state / ("agents/main/agent/openclaw-agent.sqlite" if is_new else "memory/main.sqlite")
    file.parent.mkdir(parents=True, exist_ok=True)
    table = "memory_embedding_cache" if is_new else "embedding_cache"
    database = sqlite3.connect(file)
    database.execute("PRAGMA journal_mode = WAL")
    database.execute(
        f"CREATE TABLE {table} (provider TEXT NOT NULL, model TEXT NOT NULL, provider_key TEXT NOT NULL,"
        f" hash TEXT NOT NULL, embedding {'BLOB' if is_new else 'TEXT'} NOT NULL, dims INTEGER,"
        " updated_at INTEGER NOT NULL, PRIMARY KEY (provider, model, provider_key, hash))"
    )
    for text, vector in vectors.items():
        kept: Any = struct.pack(f"<{len(vector)}d", *vector) if is_new else json.dumps(vector)
        digest = hashlib.sha256(text.encode()).hexdigest()
        row = (provider, MODEL, "key", digest, kept, len(vector), 1)
        database.execute(f"INSERT INTO {table} VALUES (?, ?, ?, ?, ?, ?, ?)", row)
    database.commit()
    database.close()
    return file


def settings_for(server: ProviderServer, **more: Any) -> dict[str, Any]:
    return {
        "embeddings.provider": "openai-compatible",
        "embeddings.base_url": server.url,
        "embeddings.api_key": server.key,
        "embeddings.model": MODEL,
        **{key.replace("__", "."): value for key, value in more.items()},
    }


def bring_in(folder: Path, state: Path, settings: Mapping[str, Any], **options: Any) -> ImportedOpenClaw:
    with Memory(folder, settings) as memory:
        return import_openclaw(memory, state_dir=state, progress=silent, **options)


def take(folder: Path, state: Path, settings: Mapping[str, Any], **options: Any) -> Vectors:
    vectors = bring_in(folder, state, settings, **options).vectors
    assert vectors is not None
    return vectors


# A workspace of OpenClaw


@pytest.fixture
def openclaw_workspace(workspace: Path) -> Path:
    files = {
        "SOUL.md": b"Be kind.",
        "AGENTS.md": b"Rules.",
        "USER.md": b"Lives in Ghent.",
        "MEMORY.md": b"# Memory\n",
    }
    return fill(workspace, files)


def found(folder: Path) -> list[str]:
    return [file.path for file in discover(Workspace.at(folder), (), 10**7).files]


def test_what_the_agent_knows_about_its_user_is_found(openclaw_workspace: Path) -> None:
    assert found(openclaw_workspace) == ["MEMORY.md", "USER.md"]


def test_elsewhere_a_file_of_that_name_is_no_note(workspace: Path) -> None:
    fill(workspace, {"MEMORY.md": b"x", "USER.md": b"a manual"})
    assert found(workspace) == ["MEMORY.md"]


def test_it_is_searched_and_read(openclaw_workspace: Path) -> None:
    with Memory(openclaw_workspace, WORDS_ONLY) as memory:
        hit = memory.search("Ghent")[0]
        assert (hit.path, memory.read(hit.path).text) == ("USER.md", "Lives in Ghent.")


def test_an_entry_of_it_can_be_forgotten(openclaw_workspace: Path) -> None:
    with Memory(openclaw_workspace, WORDS_ONLY) as memory:
        memory.forget(memory.forget_candidates("Ghent"))
    assert (openclaw_workspace / "USER.md").read_bytes().strip() == b""


def test_it_goes_into_an_archive_and_comes_back(openclaw_workspace: Path, tmp_path: Path) -> None:
    export(openclaw_workspace, tmp_path / "notes.zip")
    other = fill(tmp_path / "other", {"SOUL.md": b"", "USER.md": b"Other."})
    done = bring_in_archive(other, tmp_path / "notes.zip")
    assert [pair.imported_as.rpartition("-imported-")[0] for pair in done.kept_both] == ["memory/USER"]


@pytest.mark.parametrize("path", ["MEMORY.md", "USER.md", "README.md"])
def test_another_version_of_a_file_at_the_top_is_a_note(path: str) -> None:
    assert beside(path)[0] == "memory"


# Vectors


@pytest.mark.parametrize("kind", ["new", "old"])
def test_a_vector_of_the_same_text_is_taken(
    notes: Path, tmp_path: Path, server: ProviderServer, kind: Kind
) -> None:
    openclaw(tmp_path, vectors_of(PLAIN, TITLED), kind)
    done = take(notes, tmp_path, settings_for(server))
    assert (done.there, done.texts, done.matching, done.taken, done.reason) == (2, 2, 2, 2, "")


def test_what_was_taken_is_not_embedded_again(notes: Path, tmp_path: Path, server: ProviderServer) -> None:
    openclaw(tmp_path, vectors_of(PLAIN, TITLED))
    take(notes, tmp_path, settings_for(server))
    server.requests.clear()
    with Memory(notes, settings_for(server)) as memory:
        assert memory.sync().pending == 0
    assert set(server.texts()) <= set(PASSAGES)


def test_a_second_import_takes_nothing(notes: Path, tmp_path: Path, server: ProviderServer) -> None:
    openclaw(tmp_path, vectors_of(PLAIN))
    take(notes, tmp_path, settings_for(server))
    done = take(notes, tmp_path, settings_for(server))
    assert (done.known, done.taken) == (1, 0)


def test_an_index_that_is_there_gets_the_vectors(notes: Path, tmp_path: Path, server: ProviderServer) -> None:
    with Memory(notes, WORDS_ONLY) as memory:
        memory.sync()
    openclaw(tmp_path, vectors_of(PLAIN, TITLED))
    take(notes, tmp_path, settings_for(server))
    server.requests.clear()
    with Memory(notes, settings_for(server)) as memory:
        memory.sync()
    assert set(server.texts()) <= set(PASSAGES)


def test_a_line_break_at_the_end_does_not_matter_if_the_vector_is_the_same(
    notes: Path, tmp_path: Path, server: ProviderServer
) -> None:
    openclaw(tmp_path, {f"{PLAIN}\n": vector_of(PLAIN, DIMS, MODEL)})
    assert take(notes, tmp_path, settings_for(server)).taken == 1


def test_where_it_matters_the_vector_is_left(notes: Path, tmp_path: Path, server: ProviderServer) -> None:
    openclaw(tmp_path, vectors_of(TITLED, f"{PLAIN}\n"))
    done = take(notes, tmp_path, settings_for(server))
    assert (done.matching, done.taken) == (2, 1)
    assert "makes other vectors" in done.reason


def test_vectors_of_another_model_with_the_same_name_are_left(
    notes: Path, tmp_path: Path, server: ProviderServer
) -> None:
    openclaw(tmp_path, {PLAIN: vector_of(PLAIN, DIMS, "another")})
    assert take(notes, tmp_path, settings_for(server)).taken == 0


def test_vectors_of_another_length_are_left(notes: Path, tmp_path: Path, server: ProviderServer) -> None:
    openclaw(tmp_path, {PLAIN: [1.0, 2.0, 3.0]})
    assert take(notes, tmp_path, settings_for(server)).taken == 0


def test_a_text_under_a_heading_is_embedded_otherwise_and_left(
    workspace: Path, tmp_path: Path, server: ProviderServer
) -> None:
    fill(workspace, {"memory/a.md": BELOW.encode()})
    texts = [chunk.text for chunk in chunk_text(BELOW, 400, 80) if chunk.heading]
    assert texts
    openclaw(tmp_path, vectors_of(*texts))
    assert take(workspace, tmp_path, settings_for(server)).taken == 0


def test_a_dry_run_asks_nobody_and_writes_nothing(
    notes: Path, tmp_path: Path, server: ProviderServer
) -> None:
    openclaw(tmp_path, vectors_of(PLAIN))
    before = tree(notes)
    done = take(notes, tmp_path, settings_for(server), dry_run=True)
    assert (done.matching, done.taken, server.requests, tree(notes)) == (1, 0, [], before)


def test_a_model_that_is_not_asked_for_is_named(notes: Path, tmp_path: Path, server: ProviderServer) -> None:
    openclaw(tmp_path, vectors_of(PLAIN), provider="openai")
    assert "vectors of openai (some-model)" in take(notes, tmp_path, settings_for(server)).reason


def test_without_vectors_there_is_nothing_to_take(notes: Path, tmp_path: Path) -> None:
    openclaw(tmp_path, vectors_of(PLAIN))
    assert "words only" in take(notes, tmp_path, WORDS_ONLY).reason


def test_a_provider_that_does_not_answer_changes_nothing(
    notes: Path, tmp_path: Path, server: ProviderServer
) -> None:
    openclaw(tmp_path, vectors_of(PLAIN))
    server.always = "reset"
    with pytest.raises(ProviderUnreachable):
        take(notes, tmp_path, settings_for(server))
    assert not list(notes.rglob("index.sqlite"))


def test_without_a_cache_there_is_no_place_for_them(
    notes: Path, tmp_path: Path, server: ProviderServer
) -> None:
    openclaw(tmp_path, vectors_of(PLAIN))
    with pytest.raises(SettingsError, match=r"cache\.enabled"):
        take(notes, tmp_path, settings_for(server, cache__enabled=False))


def test_its_database_stays_as_it_is(notes: Path, tmp_path: Path, server: ProviderServer) -> None:
    file = openclaw(tmp_path / "state", vectors_of(PLAIN))
    before = file.read_bytes()
    take(notes, tmp_path / "state", settings_for(server))
    assert file.read_bytes() == before


def test_a_database_that_is_half_written_is_not_read(
    notes: Path, tmp_path: Path, server: ProviderServer
) -> None:
    file = openclaw(tmp_path, vectors_of(PLAIN))
    program = [sys.executable, "-c", HOLDER, str(file)]
    with subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        with pytest.raises(StoreError, match="cannot be read"):
            take(notes, tmp_path, settings_for(server))
        holder.communicate()


def test_a_damaged_database_is_told(notes: Path, tmp_path: Path, server: ProviderServer) -> None:
    openclaw(tmp_path, vectors_of(PLAIN)).write_bytes(b"no database" * 100)
    with pytest.raises(StoreError, match="cannot be read"):
        take(notes, tmp_path, settings_for(server))


@pytest.mark.parametrize(
    "embedding", [b"", b"\0" * 7, "[1, 2", '["a"]', "[]", "NaN", struct.pack("<8d", *[float("nan")] * 8)]
)
def test_a_damaged_vector_is_left(
    notes: Path, tmp_path: Path, server: ProviderServer, embedding: Any
) -> None:
    file = openclaw(tmp_path, vectors_of(PLAIN, TITLED))
    database = sqlite3.connect(file)
    digest = hashlib.sha256(PLAIN.encode()).hexdigest()
    database.execute("UPDATE memory_embedding_cache SET embedding = ? WHERE hash = ?", (embedding, digest))
    database.commit()
    database.close()
    assert take(notes, tmp_path, settings_for(server)).taken <= 1


# Where things are


def test_an_agent_without_a_memory_is_told(workspace: Path, tmp_path: Path) -> None:
    with pytest.raises(PathError, match="no memory of the agent 'main'"):
        bring_in(workspace, tmp_path / "state", WORDS_ONLY)


@pytest.mark.parametrize("agent", ["", "../main", "a/b", "a\0"])
def test_a_name_that_is_no_agent_is_refused(tmp_path: Path, agent: str) -> None:
    with pytest.raises(SettingsError, match="agent name"):
        find_database(tmp_path, agent)


@pytest.mark.parametrize(
    ("config", "agent", "expected"),
    [
        ("", "main", "workspace"),
        ("// a comment\n{}", "work", "workspace-work"),
        ('{"agents": {"defaults": {"workspace": "/a"}}}', "main", "/a"),
        (
            '{"agents": {"defaults": {"workspace": "/a"}, "list": [{"id": "w", "workspace": "/b"}]}}',
            "w",
            "/b",
        ),
        ('{"agents": 3}', "main", "workspace"),
        ("{agents: {list: [{id: 'w', workspace: '/b',}],}, /* all */}", "w", "/b"),
    ],
)
def test_the_workspace_of_an_agent_is_found(tmp_path: Path, config: str, agent: str, expected: str) -> None:
    fill(tmp_path, {"openclaw.json": config.encode()})
    assert workspace_of(tmp_path, agent) == tmp_path / expected


# Notes


def test_its_notes_are_copied_if_asked_for(workspace: Path, tmp_path: Path) -> None:
    openclaw(tmp_path / "state", {})
    theirs = fill(
        tmp_path / "theirs", {**NOTES, "MEMORY.md": b"# Theirs\n", "SOUL.md": b"", "USER.md": b"Ada"}
    )
    fill(workspace, {"MEMORY.md": b"# Mine\n"})
    done = bring_in(workspace, tmp_path / "state", WORDS_ONLY, notes_from=theirs)
    assert done.notes is not None
    assert set(done.notes.created) == {*NOTES, "USER.md"}
    assert (workspace / "MEMORY.md").read_bytes() == b"# Mine\n"


def test_without_that_nothing_is_copied(notes: Path, tmp_path: Path) -> None:
    openclaw(tmp_path / "state", {})
    before = tree(notes)
    take(notes, tmp_path / "state", WORDS_ONLY)
    assert tree(notes) == before

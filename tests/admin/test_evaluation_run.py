"""A run over a set asks every query of a copy, and leaves nothing behind."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from memlines.admin.evaluation.run import (
    MODES,
    Evaluation,
    copy_workspace,
    evaluate,
    evaluation_json,
    hits_json,
)
from memlines.admin.evaluation.sets import METRICS, Gold, LabelledSet, Query
from memlines.embed.select import Choice
from memlines.errors import SettingsError, UsageError
from memlines.types import Mode
from tests.memories import WORDS_ONLY, write
from tests.providers import MeaningsProvider

NOTES = {
    "MEMORY.md": "# Memory\n\nWe like the heron.\n",
    "memory/a.md": "# Birds\n\nThe kestrel hunts mice.\n",
    "memory/b.md": "# More\n\nThe owl sleeps by day.\n",
}


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that temporary folders are made in."""
    made = tmp_path / "temporary"
    made.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(made))
    return made


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    made = tmp_path / "birds"
    write(made, NOTES)
    return made


def query(text: str, path: str, line: int = 3, *, kind: str | None = None, ws: str = "birds") -> Query:
    return Query(text, text, (Gold(path, line, line),), ws, kind, None)


KESTREL = query("What does the kestrel hunt?", "memory/a.md", kind="easy")
OWL = query("When does the owl sleep?", "memory/b.md", kind="easy")
NOTHING = query("Wolkenkratzer", "MEMORY.md", kind="hard")


def run(
    notes: Path, *queries: Query, modes: Sequence[Mode] = MODES, given: dict[str, Any] = WORDS_ONLY
) -> Evaluation:
    return evaluate(
        LabelledSet("set", queries, {"birds": notes}), given, modes, lambda completed, total, label: None
    )


@pytest.fixture
def _fake_vectors(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kestrel and falcon mean the same; the rest means nothing."""
    provider = MeaningsProvider({"kestrel": (1, 0, 0, 0), "falcon": (1, 0, 0, 0)})
    monkeypatch.setattr("memlines.memory.open_index.choose", lambda requested: Choice("fake", provider))


# What is measured


def test_a_query_gets_the_lines_of_its_hits(notes: Path) -> None:
    answer = run(notes, KESTREL).answers["words"][0]
    assert (answer.found[0].path, answer.found[0].start, answer.found[0].end) == ("memory/a.md", 1, 3)


def test_the_figures_of_a_run(notes: Path) -> None:
    figures = evaluation_json(run(notes, KESTREL, OWL, NOTHING))
    words = figures["modes"]["words"]
    assert {name: words["metrics"][name] for name in ("any@1", "mrr", "line@5")} == {
        "any@1": 0.6667,
        "mrr": 0.6667,
        "line@5": 0.6667,
    }


def test_figures_by_type(notes: Path) -> None:
    types = evaluation_json(run(notes, KESTREL, NOTHING, OWL))["modes"]["words"]["types"]
    assert {name: (row["queries"], row["metrics"]["mrr"]) for name, row in types.items()} == {
        "easy": (2, 1.0),
        "hard": (1, 0.0),
    }


def test_queries_without_a_type_have_no_types(notes: Path) -> None:
    figures = evaluation_json(run(notes, query("kestrel", "memory/a.md")))
    assert figures["modes"]["words"]["types"] == {}


def test_the_fields_of_the_figures(notes: Path) -> None:
    figures = evaluation_json(run(notes, KESTREL))
    assert list(figures) == [
        "set", "queries", "workspaces", "files", "chunks", "index_seconds", "provider", "model",
        "min_score", "settings", "modes", "notes",
    ]  # fmt: skip
    assert list(figures["modes"]["words"]) == ["queries", "metrics", "silent", "p50_ms", "p95_ms", "types"]
    assert list(figures["modes"]["words"]["types"]["easy"]) == ["queries", "metrics", "silent"]
    assert tuple(figures["modes"]["words"]["metrics"]) == METRICS


def test_counts(notes: Path) -> None:
    figures = evaluation_json(run(notes, KESTREL, OWL))
    assert {name: figures[name] for name in ("queries", "workspaces", "files", "chunks")} == {
        "queries": 2,
        "workspaces": 1,
        "files": 3,
        "chunks": 3,
    }


FIELDS = ["path", "start", "end", "score", "shown_start", "shown_end"]


def test_the_hits_of_a_query(notes: Path) -> None:
    row = hits_json(run(notes, KESTREL).answers["words"][0])
    assert (row["id"], list(row["hits"][0])) == (KESTREL.id, FIELDS)


def test_every_workspace_answers_its_own_queries(tmp_path: Path) -> None:
    write(tmp_path / "one", {"memory/a.md": "The kestrel hunts.\n"})
    write(tmp_path / "two", {"memory/b.md": "The kestrel sleeps.\n"})
    queries = (
        query("kestrel", "memory/a.md", 1, ws="one"),
        query("the kestrel", "memory/b.md", 1, ws="two"),
    )
    labelled = LabelledSet("set", queries, {name: tmp_path / name for name in ("one", "two")})
    figures = evaluation_json(evaluate(labelled, WORDS_ONLY, MODES, lambda *_: None))
    assert (figures["workspaces"], figures["modes"]["words"]["metrics"]["any@1"]) == (2, 1.0)


def test_transcripts_are_measured_too(tmp_path: Path) -> None:
    (tmp_path / "sessions").mkdir()
    header = '{"type":"session","id":"1","timestamp":"2026-01-01T00:00:00Z"}\n'
    turn = (
        '{"type":"message","message":{"role":"user","content":[{"type":"text","text":"I saw a kestrel"}]}}\n'
    )
    (tmp_path / "sessions/x.jsonl").write_text(header + turn, encoding="utf-8")
    figures = evaluation_json(run(tmp_path, query("kestrel", "sessions/x.jsonl", 2)))
    assert figures["modes"]["words"]["metrics"]["line@5"] == 1.0


def test_a_query_with_neither_score_nor_words_is_silent(notes: Path) -> None:
    answers = run(notes, KESTREL, NOTHING).answers["words"]
    assert [answer.silent for answer in answers] == [False, True]


def test_a_query_that_only_gets_weak_hits_is_silent(notes: Path) -> None:
    weak = query("kestrel feathers eggs nests wings beaks claws", "memory/a.md")
    given = {**WORDS_ONLY, "query.min_score": 0.99, "query.fusion": "weighted"}
    answer = run(notes, weak, given=given).answers["words"][0]
    assert (answer.found[0].score < 0.99, answer.silent) == (True, True)


# Modes


@pytest.mark.usefixtures("_fake_vectors")
def test_every_mode_is_measured(notes: Path) -> None:
    assert tuple(run(notes, KESTREL, given={}).answers) == MODES


@pytest.mark.usefixtures("_fake_vectors")
def test_some_modes_in_the_usual_order(notes: Path) -> None:
    assert tuple(run(notes, KESTREL, given={}, modes=("hybrid", "words")).answers) == ("words", "hybrid")


@pytest.mark.usefixtures("_fake_vectors")
def test_each_mode_searches_its_own_way(notes: Path) -> None:
    modes = evaluation_json(run(notes, query("falcon", "memory/a.md"), given={}))["modes"]
    assert {mode: figures["metrics"]["any@1"] for mode, figures in modes.items()} == {
        "words": 0.0,
        "vectors": 1.0,
        "hybrid": 1.0,
    }


@pytest.mark.usefixtures("_fake_vectors")
def test_a_mode_that_is_answered_by_another_is_noted(notes: Path) -> None:
    evaluation = run(notes, KESTREL, given={"query.hybrid.enabled": False})
    assert evaluation.notes == ["1 searches by hybrid were answered by vectors"]


def test_without_a_provider_words_alone_are_measured(notes: Path) -> None:
    evaluation = run(notes, KESTREL)
    assert (tuple(evaluation.answers), evaluation.notes) == (
        ("words",),
        ["there is no embedding provider, so vectors and hybrid were left out"],
    )


def test_without_a_provider_nothing_is_noted_if_words_were_asked_for(notes: Path) -> None:
    assert run(notes, KESTREL, modes=("words",)).notes == []


def test_vectors_that_are_not_there_cannot_be_measured(notes: Path) -> None:
    with pytest.raises(UsageError, match="no vectors to search"):
        run(notes, KESTREL, modes=("vectors",))


# Settings


def test_settings_are_reported(notes: Path) -> None:
    given = {**WORDS_ONLY, "chunking.tokens": 50, "embeddings.api_key": "secret"}
    assert run(notes, KESTREL, given=given).settings == {
        "embeddings.provider": "none",
        "embeddings.api_key": "***",
        "chunking.tokens": 50,
    }


def test_the_settings_of_the_workspace_hold(notes: Path) -> None:
    write_config(notes, "query:\n  minScore: 0.9\n")
    assert run(notes, KESTREL).min_score == 0.9


def test_the_settings_that_are_given_win(notes: Path) -> None:
    write_config(notes, "query:\n  minScore: 0.9\n")
    assert run(notes, KESTREL, given={**WORDS_ONLY, "query.min_score": 0.1}).min_score == 0.1


def test_settings_of_a_workspace_that_need_trust_are_refused(notes: Path) -> None:
    write_config(notes, "embeddings:\n  provider: none\n")
    with pytest.raises(SettingsError, match="config trust"):
        run(notes, KESTREL)


@pytest.mark.parametrize("key", ["store.path", "extra_paths"])
def test_what_the_evaluation_decides_cannot_be_set(notes: Path, key: str) -> None:
    with pytest.raises(UsageError, match=f"decides {key} itself"):
        run(notes, KESTREL, given={key: "x"})


def test_the_index_of_the_user_is_left_alone(
    notes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMLINES_STORE__PATH", str(tmp_path / "mine.sqlite"))
    run(notes, KESTREL)
    assert not (tmp_path / "mine.sqlite").exists()


def test_what_the_user_has_elsewhere_is_not_searched(
    notes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "wiki", {"memory/w.md": "kestrel\n"})
    monkeypatch.setenv("MEMLINES_EXTRA_PATHS", str(tmp_path / "wiki"))
    assert evaluation_json(run(notes, KESTREL))["files"] == len(NOTES)


def write_config(notes: Path, text: str) -> None:
    (notes / ".memory").mkdir()
    (notes / ".memory/config.yaml").write_text(text, encoding="utf-8")


# Copies


def test_the_set_stays_as_it_was(notes: Path) -> None:
    before = state(notes)
    run(notes, KESTREL, OWL)
    assert state(notes) == before


def test_a_set_that_may_only_be_read_is_measured(notes: Path, temporary: Path) -> None:
    folders = [notes, notes / "memory"]
    for folder in folders:
        folder.chmod(stat.S_IRUSR | stat.S_IXUSR)
    try:
        run(notes, KESTREL)
    finally:
        for folder in folders:
            folder.chmod(stat.S_IRWXU)
    assert list(temporary.iterdir()) == []


def test_nothing_is_left_behind(notes: Path, temporary: Path) -> None:
    run(notes, KESTREL)
    assert list(temporary.iterdir()) == []


@pytest.mark.parametrize("at", ["asking birds", "indexing birds"])
def test_nothing_is_left_behind_after_an_interrupt(notes: Path, temporary: Path, at: str) -> None:
    seen: list[Path] = []

    def interrupt(completed: int, total: int, label: str) -> None:
        seen.extend(temporary.iterdir())
        if label == at:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        evaluate(LabelledSet("set", (KESTREL,), {"birds": notes}), WORDS_ONLY, MODES, interrupt)
    assert (bool(seen), list(temporary.iterdir())) == (True, [])


def test_a_copy_holds_what_can_be_searched_and_its_times(notes: Path, tmp_path: Path) -> None:
    write(notes, {"memory/.git/config.md": "", "memory/deep/c.md": "c\n"})
    (notes / "large.bin").write_bytes(b"x")
    os.utime(notes / "memory/a.md", (1, 1))
    (tmp_path / "copy").mkdir()
    copy_workspace(notes, tmp_path / "copy")
    assert list(state(tmp_path / "copy")) == ["MEMORY.md", "memory/a.md", "memory/b.md", "memory/deep/c.md"]
    assert (tmp_path / "copy/memory/a.md").stat().st_mtime == 1


def test_a_link_is_not_followed(notes: Path, tmp_path: Path) -> None:
    write(tmp_path / "other", {"memory/secret.md": "kestrel\n"})
    (notes / "memory/link.md").symlink_to(tmp_path / "other/memory/secret.md")
    (notes / "sessions").symlink_to(tmp_path / "other")
    evaluation = run(notes, KESTREL, modes=("words",))
    assert evaluation.files == len(NOTES)
    assert evaluation.notes == [
        "birds: not in the index: memory/link.md is a symbolic link; links are not followed"
    ]


def state(folder: Path) -> dict[str, tuple[bytes, int]]:
    return {
        str(file.relative_to(folder)): (file.read_bytes(), file.stat().st_mtime_ns)
        for file in sorted(folder.rglob("*"))
        if file.is_file()
    }

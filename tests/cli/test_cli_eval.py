"""`memlines eval` measures sets, for people and as JSON."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from memlines.admin.evaluation.sets import METRICS
from tests.memories import write
from tests.programs import Cli

SHARED = Path(__file__).resolve().parents[3] / "shared" / "bench"
NONE = "embeddings.provider=none"
QUERIES = [
    {"id": "k", "type": "easy", "query": "kestrel mice", "gold": [["memory/a.md", 3, 3]]},
    {"id": "o", "type": "easy", "query": "the owl sleeps", "gold": [["memory/b.md", 3, 3]]},
    {
        "id": "h",
        "type": "hard",
        "query": "Wolkenkratzer",
        "gold": [["MEMORY.md", 1, 1], ["memory/b.md", 3, 3]],
    },
]


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str]) -> Cli:
    return Cli(capsys)


@pytest.fixture
def birds(tmp_path: Path) -> Path:
    """A set with one workspace and three queries, one of which nothing answers."""
    folder = tmp_path / "birds"
    notes = {
        "MEMORY.md": "We like the heron.\n",
        "memory/a.md": "# Birds\n\nThe kestrel hunts mice.\n",
        "memory/b.md": "# More\n\nThe owl sleeps by day.\n",
    }
    write(folder / "main", notes)
    (folder / "queries.jsonl").write_text(lines({"ws": "main"}), encoding="utf-8")
    return folder


@pytest.fixture
def file(birds: Path, tmp_path: Path) -> Path:
    """The same queries as a file of their own."""
    made = tmp_path / "mine.jsonl"
    made.write_text(lines({}), encoding="utf-8")
    return made


def lines(more: dict[str, Any]) -> str:
    rows = [
        {
            **row,
            **more,
            "gold": [dict(zip(("path", "start", "end"), each, strict=True)) for each in row["gold"]],
        }
        for row in QUERIES
    ]
    return "".join(f"{json.dumps(row)}\n" for row in rows)


# Output


def test_a_table(cli: Cli, birds: Path) -> None:
    outcome = cli("eval", birds, "--set", NONE)
    title, head, words = outcome.out.splitlines()[:3]
    assert title.startswith("birds: queries 3, workspaces 1, files 3, chunks 3, indexed in ")
    assert head.split() == ["mode", "queries", *METRICS, "silent", "p50", "ms", "p95", "ms"]
    assert words.split()[:5] == ["words", "3", "0.667", "0.667", "0.667"]


def test_modes_that_were_left_out_are_told(cli: Cli, birds: Path) -> None:
    assert "vectors and hybrid were left out" in cli("eval", birds, "--set", NONE).err


def test_a_table_by_type(cli: Cli, birds: Path) -> None:
    rows = cli("eval", birds, "--set", NONE, "--by-type").out.splitlines()
    assert [row[:11].strip() for row in rows[3:5]] == ["words, easy", "words, hard"]


def test_json(cli: Cli, birds: Path) -> None:
    (figures,) = cli("eval", birds, "--set", NONE, "--json").json["sets"]
    assert (figures["set"], figures["provider"], figures["settings"], list(figures["modes"])) == (
        "birds",
        "none",
        {"embeddings.provider": "none"},
        ["words"],
    )


def test_json_of_a_mode(cli: Cli, birds: Path) -> None:
    (figures,) = cli("eval", birds, "--set", NONE, "--json").json["sets"]
    words = figures["modes"]["words"]
    assert (words["queries"], words["silent"], words["metrics"]["rec@5"]) == (3, 0.3333, 0.6667)
    assert words["types"]["easy"]["metrics"]["mrr"] == 1.0


def test_several_sets(cli: Cli, birds: Path, file: Path) -> None:
    outcome = cli("eval", birds, file, "-w", birds / "main", "--set", NONE, "--json")
    assert [figures["set"] for figures in outcome.json["sets"]] == ["birds", "mine"]


def test_a_file_of_queries(cli: Cli, birds: Path, file: Path) -> None:
    outcome = cli("eval", file, "--workspace", birds / "main", "--set", NONE, "--json")
    assert outcome.json["sets"][0]["modes"]["words"]["metrics"]["any@1"] == 0.6667


def test_a_file_of_queries_asks_the_nearest_workspace(
    cli: Cli, birds: Path, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(birds / "main/memory")
    assert cli("eval", file, "--set", NONE).code == 0


def test_control_characters_do_not_reach_the_terminal(cli: Cli, birds: Path) -> None:
    queries = birds / "queries.jsonl"
    queries.write_text(queries.read_text(encoding="utf-8").replace("easy", "\\u001b[2J"), encoding="utf-8")
    assert "\x1b" not in cli("eval", birds, "--set", NONE, "--by-type").out


def test_a_pipe_gets_no_progress_bar(cli: Cli, birds: Path) -> None:
    assert "asking" not in cli("eval", birds, "--set", NONE).err


# Hits


def test_hits_are_written_a_query_a_line(cli: Cli, birds: Path, tmp_path: Path) -> None:
    cli("eval", birds, "--set", NONE, "--hits", tmp_path / "hits.jsonl")
    rows = [json.loads(line) for line in (tmp_path / "hits.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [row["id"] for row in rows] == ["k", "o", "h"]
    assert {name: rows[0]["hits"][0][name] for name in ("path", "start", "end")} == {
        "path": "memory/a.md",
        "start": 1,
        "end": 3,
    }


@pytest.mark.skipif(not (SHARED / "score.py").exists(), reason="the development sets are not here")
def test_the_scorer_of_the_development_sets_reads_the_hits(cli: Cli, birds: Path, tmp_path: Path) -> None:
    hits = tmp_path / "hits.jsonl"
    (figures,) = cli("eval", birds, "--set", NONE, "--json", "--hits", hits).json["sets"]
    done = subprocess.run(
        [sys.executable, str(SHARED / "score.py"), str(birds), str(hits)],
        check=True,
        capture_output=True,
        encoding="utf-8",
    )
    theirs = json.loads(done.stdout.splitlines()[0])
    ours = figures["modes"]["words"]["metrics"]
    del ours["passage@5"]  # which counts what is shown of the hits
    assert {name: theirs[name] for name in ours} == ours


def test_hits_by_words_are_told_to_be_that(cli: Cli, birds: Path, tmp_path: Path) -> None:
    outcome = cli("eval", birds, "--set", NONE, "--hits", tmp_path / "hits.jsonl")
    assert "holds the hits by words" in outcome.err


# Errors

ERRORS = [
    pytest.param(["nowhere"], 2, "'nowhere' cannot be read", id="missing"),
    pytest.param(["birds/main"], 2, "queries.jsonl' cannot be read", id="not-a-set"),
    pytest.param(["birds", "-w", "birds/main"], 2, "a folder brings its workspaces", id="workspace"),
    pytest.param(["mine.jsonl", "-w", "nowhere"], 4, "does not exist", id="no-workspace"),
    pytest.param(["birds", "--set", "sources"], 2, "has no value", id="no-value"),
    pytest.param(["birds", "--set", "sauces=x"], 3, "'sauces' from --set", id="unknown-key"),
    pytest.param(["birds", "--set", "query=x"], 3, "unknown setting 'query'", id="group"),
    pytest.param(["birds", "--set", "query.fusion=x"], 3, "'query.fusion' from --set is 'x'", id="value"),
    pytest.param(["birds", "--set", "store.path=x"], 2, "decides store.path", id="decided"),
    pytest.param(["birds", "--set", NONE, "--mode", "vectors"], 2, "no vectors", id="vectors"),
    pytest.param(["birds", "--mode", "magic"], 2, "magic", id="mode"),
    pytest.param(["birds", "birds", "--hits", "x"], 2, "hits of one set", id="hits-of-two"),
    pytest.param(["birds", "--hits", "birds"], 2, "not a file that can be written", id="hits-folder"),
    pytest.param(["birds", "--hits", "no/where"], 2, "not a file that can be written", id="hits-nowhere"),
    pytest.param([], 2, "there is no SET to measure", id="no-set"),
]


@pytest.mark.parametrize(("arguments", "code", "words"), ERRORS)
@pytest.mark.usefixtures("birds", "file")
def test_an_error(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], code: int, words: str
) -> None:
    monkeypatch.chdir(tmp_path)
    outcome = cli("eval", *arguments, "--json")
    assert outcome.code == code
    assert words in outcome.json["error"]


def test_a_mistake_in_the_last_set_shows_before_the_first_is_measured(cli: Cli, birds: Path) -> None:
    outcome = cli("eval", birds, birds / "main", "--set", NONE)
    assert (outcome.code, outcome.out) == (2, "")


def test_an_interrupt(cli: Cli, birds: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("memlines.cli.eval.evaluate", interrupted)
    outcome = cli("eval", birds)
    assert (outcome.code, outcome.err) == (130, "Interrupted. The copies that were measured are removed.\n")


# Settings


def test_a_list_is_written_with_commas(cli: Cli, birds: Path) -> None:
    outcome = cli("eval", birds, "--set", NONE, "--set", "sources=sessions,memory", "--json")
    assert outcome.json["sets"][0]["settings"]["sources"] == ["sessions", "memory"]


def test_a_key_may_be_written_in_camel_case(cli: Cli, birds: Path) -> None:
    outcome = cli("eval", birds, "--set", NONE, "--set", "query.minScore=0.2", "--json")
    assert outcome.json["sets"][0]["min_score"] == 0.2


def test_pairs_can_be_set_and_are_not_shown(cli: Cli, birds: Path) -> None:
    outcome = cli("eval", birds, "--set", NONE, "--set", "embeddings.headers=X-Team=secret", "--json")
    assert outcome.json["sets"][0]["settings"]["embeddings.headers"] == {"X-Team": "***"}

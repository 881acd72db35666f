"""`memlines eval --mine`, `config try` and `model try` measure settings on the user's own notes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from memlines.cli.eval import chart
from memlines.embed.remote.http import Address
from memlines.paths import HISTORY_FILE, user_config_file
from tests.admin.garden import GARDEN
from tests.embed.fake_service import ProviderServer, provider_server
from tests.memories import write
from tests.programs import Answer, Cli, keyboard, program

WORSE = "query.temporal_decay.half_life_days=0.01"
DECAY = ("query.temporal_decay.enabled=true", WORSE)
"""Daily logs are found last then, so the questions about them are answered worse."""


@pytest.fixture
def home(workspace: Path) -> Path:
    write(workspace, GARDEN)
    return workspace


@pytest.fixture
def answer(monkeypatch: pytest.MonkeyPatch) -> Answer:
    """Sits at the terminal and answers."""
    return keyboard(monkeypatch)


def history(home: Path) -> Path:
    return home / ".memory/eval" / HISTORY_FILE


# eval --mine


def test_the_first_run_shows_its_figures(cli: Cli, home: Path) -> None:
    told = cli("eval", "--mine", "-w", home)
    first, *rows = told.out.splitlines()
    assert (told.code, told.err) == (0, "")
    assert first == "16 questions about your notes (16 new), searched by words, no model"
    assert [row.split()[0] for row in rows] == ["top-1", "top-3", "mrr"]


def test_a_second_run_shows_the_change_and_a_chart(cli: Cli, home: Path) -> None:
    cli("eval", "--mine", "-w", home)
    rows = cli("eval", "--mine", "-w", home).out.splitlines()
    assert [row.split()[2] for row in rows[1:4]] == ["+0", "+0", "+.00"]
    assert rows[4].startswith("since 20")
    assert rows[5] == ""
    assert len(rows[6:]) == 2
    assert rows[6].endswith("####")


def test_a_run_with_other_settings_says_so(cli: Cli, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cli("eval", "--mine", "-w", home)
    monkeypatch.setenv("MEMLINES_QUERY__MMR__ENABLED", "true")
    assert ", with other settings then\n" in cli("eval", "--mine", "-w", home).out


def test_another_number_of_questions_is_not_compared(cli: Cli, home: Path) -> None:
    cli("eval", "--mine", "-w", home)
    told = cli("eval", "--mine", "-w", home, "--questions", "6", "--json").json
    assert (told["questions"], told["change"], len(told["history"])) == (6, None, 2)


def test_json_has_everything(cli: Cli, home: Path) -> None:
    cli("eval", "--mine", "-w", home)
    told = cli("eval", "--mine", "-w", home, "--json").json
    assert told["change"] == {"top1": 0, "top3": 0, "mrr": 0.0}
    assert [told["folder"], told["made"], told["warnings"]] == [str(home / ".memory/eval"), 0, []]
    assert told["queries"][0].keys() == {"id", "type", "query", "place", "gold"}
    assert told["history"][-1] == json.loads(history(home).read_text(encoding="utf-8").splitlines()[-1])


def test_rebuild_makes_all_questions_again(cli: Cli, home: Path) -> None:
    cli("eval", "--mine", "-w", home)
    told = cli("eval", "--mine", "-w", home, "--rebuild", "--json").json
    assert told["made"] == told["questions"]


def test_a_damaged_set_is_reported(cli: Cli, home: Path) -> None:
    cli("eval", "--mine", "-w", home)
    (home / ".memory/eval/questions.jsonl").write_text("?", encoding="utf-8")
    told = cli("eval", "--mine", "-w", home)
    assert (told.code, "was damaged, and was made again" in told.err) == (0, True)


@pytest.mark.parametrize(
    "arguments",
    [
        ("--mine", "set"),
        ("--mine", "--set", "query.fusion=rrf"),
        ("--mine", "--hits", "file"),
        ("--mine", "--mode", "words", "--mode", "hybrid"),
        ("--questions", "9", "set"),
        ("--rebuild", "set"),
        ("--mine", "--questions", "4"),
        (),
    ],
)
def test_arguments_that_make_no_sense_are_refused(cli: Cli, home: Path, arguments: tuple[str, ...]) -> None:
    assert cli("eval", "-w", home, *arguments).code == 2
    assert not history(home).exists()


def test_vectors_cannot_be_measured_without_a_model(cli: Cli, home: Path) -> None:
    told = cli("eval", "--mine", "-w", home, "--mode", "hybrid")
    assert (told.code, "there are no vectors to search" in told.err) == (2, True)


def test_too_few_notes(cli: Cli, workspace: Path) -> None:
    told = cli("eval", "--mine", "-w", workspace)
    assert (told.code, "give 0 questions, and 5 are needed" in told.err) == (4, True)


def test_a_memory_that_is_off(cli: Cli, home: Path) -> None:
    cli("config", "off", "-w", home)
    assert cli("eval", "--mine", "-w", home).code == 10
    assert cli("config", "try", "-w", home, "query.fusion=rrf").code == 10


RUNS = [{"at": f"2026-11-0{day}T12:00:00+00:00", "mrr": mrr} for day, mrr in ((1, 0.5), (2, 1.0), (3, 0.0))]


@pytest.mark.parametrize(
    ("columns", "bars"),
    [(80, ["#" * 20, "#" * 40, ""]), (37, ["#" * 9, "#" * 18, ""]), (20, ["", "", ""]), (1, ["", "", ""])],
)
def test_a_chart_fits_its_terminal(columns: int, bars: list[str]) -> None:
    lines = list(chart(RUNS, columns))
    assert [line[18:] for line in lines] == bars
    assert all(len(line) < max(columns, 17) for line in lines)


def test_the_chart_is_plain_text(cli: Cli, home: Path) -> None:
    for _ in range(2):
        told = program("eval", "--mine", "-w", home, env={"NO_COLOR": "1", "COLUMNS": "30"}).stdout
    assert told.isascii()
    assert b"\x1b" not in told
    assert max(map(len, told.splitlines()[6:])) < 30


# status


def test_status_says_how_to_measure(cli: Cli, home: Path) -> None:
    assert "eval       never measured; 'memlines eval --mine' does it\n" in cli("status", "-w", home).out
    assert cli("status", "-w", home, "--json").json["eval"] is None


def set_last(home: Path, **changes: Any) -> None:
    row = json.loads(history(home).read_text(encoding="utf-8"))
    history(home).write_text(json.dumps(row | changes) + "\n", encoding="utf-8")


def test_status_shows_the_last_run(cli: Cli, home: Path) -> None:
    cli("eval", "--mine", "-w", home)
    set_last(home, questions=60, top1=48, mrr=0.861)
    told = cli("status", "-w", home).out
    assert "eval       48 of 60 questions find their lines first (mrr .86), today\n" in told
    assert cli("status", "-w", home, "--json").json["eval"]["top1"] == 48


def test_status_says_how_old_the_run_is(cli: Cli, home: Path) -> None:
    cli("eval", "--mine", "-w", home)
    set_last(home, at="2020-01-01T00:00:00")
    assert "days ago\n" in cli("status", "-w", home).out


def test_status_survives_figures_that_cannot_be_read(cli: Cli, home: Path) -> None:
    history(home).mkdir(parents=True)
    assert cli("status", "-w", home).code == 0


# config try


def test_a_change_that_is_not_worse(cli: Cli, home: Path) -> None:
    told = cli("config", "try", "-w", home, "query.mmr.enabled=true")
    assert (told.code, told.err) == (0, "")
    assert told.out.startswith("query.mmr.enabled: false now, true tried\n")
    assert told.out.endswith("Not worse: nothing was changed\n")
    assert not user_config_file().exists()


def test_a_change_that_is_worse(cli: Cli, home: Path) -> None:
    told = cli("config", "try", "-w", home, *DECAY)
    assert told.code == 1
    assert "questions worse:\n" in told.out
    assert told.out.endswith("Worse: nothing was changed\n")


def test_a_comparison_as_json(cli: Cli, home: Path) -> None:
    told = cli("config", "try", "-w", home, *DECAY, "--json")
    assert (told.code, told.json["is_worse"], told.json["applied"]) == (1, True, False)
    assert told.json["change"]["query.temporal_decay.enabled"] == {"now": False, "changed": True}
    first = told.json["worse"][0]
    assert first.keys() == {"id", "query", "now", "changed"}
    assert first["now"] < (first["changed"] or 99)
    assert told.json["changed"]["mrr"] < told.json["now"]["mrr"] - 0.01


def test_a_trial_leaves_no_line_in_the_history(cli: Cli, home: Path) -> None:
    cli("config", "try", "-w", home, *DECAY)
    assert not history(home).exists()


def test_a_change_that_is_not_worse_is_applied(cli: Cli, home: Path) -> None:
    told = cli("config", "try", "-w", home, "query.mmr.enabled=true", "query.mmr.lambda=0.9", "--apply")
    assert told.out.endswith(f"query.mmr.enabled and query.mmr.lambda written to {user_config_file()}\n")
    assert cli("config", "get", "query.mmr.lambda").out == "0.9\n"


def test_a_change_that_is_worse_is_refused(cli: Cli, home: Path) -> None:
    told = cli("config", "try", "-w", home, *DECAY, "--apply")
    assert told.code == 1
    assert told.out.endswith("Worse: nothing was changed; --force applies it anyway\n")
    assert not user_config_file().exists()


def test_a_change_that_is_worse_is_applied_by_force(cli: Cli, home: Path) -> None:
    assert cli("config", "try", "-w", home, *DECAY, "--apply", "--force", "--json").json["applied"] is True
    assert cli("config", "get", "query.temporal_decay.enabled").out == "true\n"


def test_a_change_is_applied_to_the_project(cli: Cli, home: Path) -> None:
    cli("config", "try", "-w", home, "query.mmr.enabled=true", "--apply", "--project")
    assert "enabled: true" in (home / ".memory/config.yaml").read_text(encoding="utf-8")


def test_what_a_variable_overrules_is_said(cli: Cli, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMLINES_QUERY__MMR__ENABLED", "false")
    told = cli("config", "try", "-w", home, "query.mmr.enabled=true", "--apply")
    assert "it has no effect as long as environment variable MEMLINES_QUERY__MMR__ENABLED" in told.err


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (["query.fusiom=rrf"], 3, "unknown setting 'query.fusiom'"),
        (["query.fusion=best"], 3, "not one of its choices"),
        (["query.mmr.lambda=7"], 3, "out of range"),
        (["query.fusion"], 2, "has no value"),
        (["query"], 2, "has no value"),
        (["query.max_results=3"], 2, "not where they are cut"),
        (["tools.max_chars=3000"], 2, "does not change what a search finds"),
        (["query.fusion=evidence", "query.hybrid.text_weight=0.9"], 2, "would do nothing"),
        (["query.fusion=rrf", "--force"], 2, "Add --apply"),
    ],
)
def test_what_cannot_be_tried_changes_nothing(
    cli: Cli, home: Path, arguments: list[str], code: int, told: str
) -> None:
    outcome = cli("config", "try", "-w", home, *arguments)
    assert (outcome.code, told in outcome.err) == (code, True)
    assert not (home / ".memory/eval").exists()
    assert not user_config_file().exists()


# model try


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ProviderServer]:
    with provider_server("openai-compatible") as server:
        monkeypatch.setenv("MEMLINES_EMBEDDINGS__BASE_URL", server.url)
        monkeypatch.setenv("MEMLINES_EMBEDDINGS__API_KEY", str(server.key))
        yield server


@pytest.fixture
def far(server: ProviderServer, monkeypatch: pytest.MonkeyPatch) -> ProviderServer:
    """The same server, as if it were on another machine."""
    monkeypatch.setattr(Address, "is_loopback", property(lambda self: False))
    return server


SERVICE = ("model", "try", "first", "--provider", "openai-compatible", "-w")


def test_nothing_is_sent_without_confirmation(cli: Cli, home: Path, far: ProviderServer) -> None:
    told = cli(*SERVICE, home)
    assert "no terminal to confirm on, and nothing was sent" in told.err
    assert "Texts to embed with openai-compatible (first): " in told.err
    assert (told.code, far.requests) == (2, [])


def test_a_person_may_decline(cli: Cli, home: Path, far: ProviderServer, answer: Answer) -> None:
    answer("n")
    assert "was not confirmed" in cli(*SERVICE, home).err
    assert far.requests == []


def test_a_person_may_confirm(cli: Cli, home: Path, far: ProviderServer, answer: Answer) -> None:
    answer("y")
    assert cli(*SERVICE, home).code in (0, 1)
    assert far.requests


def test_a_model_is_measured_beside_the_words_of_today(cli: Cli, home: Path, server: ProviderServer) -> None:
    told = cli(*SERVICE, home, "--yes", "--json").json
    assert (told["now"]["provider"], told["now"]["mode"]) == ("none", "words")
    assert (told["changed"]["model"], told["changed"]["mode"]) == ("first", "hybrid")
    assert told["changed"]["questions"] == told["now"]["questions"]
    assert [warning for warning in told["warnings"] if "hardly measure" in warning]


def test_a_model_that_was_tried_leaves_the_index_as_it_is(
    cli: Cli, home: Path, server: ProviderServer
) -> None:
    cli("sync", "-w", home)
    cli(*SERVICE, home, "--yes")
    assert cli("status", "-w", home, "--json").json["spaces"] == []


def test_a_model_is_applied(cli: Cli, home: Path, server: ProviderServer) -> None:
    told = cli(*SERVICE, home, "--yes", "--apply", "--force")
    assert "'memlines sync' indexes with it" in told.out
    file = user_config_file().read_text(encoding="utf-8")
    assert "provider: openai-compatible" in file
    assert "model: first" in file


def test_a_service_that_fails_is_an_error(cli: Cli, home: Path, server: ProviderServer) -> None:
    server.key = "another"
    told = cli(*SERVICE, home, "--yes", "--apply", "--force")
    assert (told.code, "the change cannot be measured" in told.err) == (6, True)
    assert not user_config_file().exists()


def test_a_provider_without_a_key_is_an_error(cli: Cli, home: Path) -> None:
    told = cli("model", "try", "openai", "-w", home)
    assert (told.code, "openai has no key" in told.err) == (6, True)


def test_a_provider_that_does_not_exist_is_an_error(cli: Cli, home: Path) -> None:
    told = cli("model", "try", "first", "--provider", "opnai", "-w", home)
    assert (told.code, "not one of its choices" in told.err) == (3, True)


def test_a_model_that_the_provider_does_not_have_is_an_error(
    cli: Cli, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = cli("model", "try", "text-embedding-3-small", "-w", home)
    assert (told.code, "would do nothing" in told.err) == (2, True)

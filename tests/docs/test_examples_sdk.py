"""The agents in examples/ give their model what fits, answer its calls, and print what it says."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.docs.programs import EXAMPLES, Call, Request, model_server, run_example
from tests.memories import write

AGENTS = ["openai_agent.py", "anthropic_agent.py", "langgraph_agent.py", "pydantic_ai_agent.py"]
QUESTION = "Which port does the staging database use?"
NOTES = {
    "staging.md": "# Staging\n\nThe staging database listens on port 5433.\n",
    "backups.md": "# Backups\n\nBackups are made every night at two.\n",
}
LONGEST = 80
"""Lines that an example may have: it is to be read."""


@dataclass(frozen=True)
class Ran:
    """An example that ran: what its model was asked, and what it printed."""

    requests: list[Request]
    printed: str


def ran(name: str, folder: Path, question: str, *calls: Call) -> Ran:
    write(folder, NOTES)
    with model_server(*calls) as model:
        done = run_example(name, folder, question, model.url)
    assert done.returncode == 0, done.stderr
    return Ran(model.requests, done.stdout)


@pytest.fixture(scope="module", params=AGENTS)
def turn(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """One turn of each agent: the model calls a tool wrongly, then asks for something that was not sent."""
    folder = tmp_path_factory.mktemp("agent") / "workspace"
    wrong, right = {"words": "backups"}, {"query": "when are backups made?"}
    return ran(request.param, folder, QUESTION, ("memory_search", wrong), ("memory_search", right))


def test_the_model_is_sent_what_fits_the_question(turn: Ran) -> None:
    said = turn.requests[0].everything_said
    assert "<memlines-context>" in said
    assert "memory/staging.md#L3:\n> The staging database listens on port 5433." in said
    assert QUESTION in said


def test_what_does_not_fit_is_not_sent(turn: Ran) -> None:
    assert "every night" not in turn.requests[0].everything_said


def test_the_model_is_offered_the_tools(turn: Ran) -> None:
    assert turn.requests[0].tools == ["memory_search", "memory_get", "memory_remember"]


def test_a_wrong_call_is_told_to_the_model(turn: Ran) -> None:
    (result,) = turn.requests[1].results
    assert "there is no argument 'words'" in result


def test_a_call_is_answered_with_a_citation(turn: Ran) -> None:
    result = turn.requests[2].results[1]
    assert "memory/backups.md#L3 (strong, score" in result
    assert "> Backups are made every night at two." in result


def test_the_answer_of_the_model_is_printed(turn: Ran) -> None:
    assert turn.printed == "It is in memory/backups.md#L3.\n"


def test_the_model_is_asked_once_for_every_answer(turn: Ran) -> None:
    assert len(turn.requests) == 3


@pytest.mark.parametrize("name", AGENTS)
def test_a_question_that_nothing_fits_is_sent_alone(name: str, workspace: Path) -> None:
    done = ran(name, workspace, "Thanks!")
    assert "memlines-context" not in done.requests[0].everything_said


@pytest.mark.parametrize("name", AGENTS)
def test_an_example_is_short(name: str) -> None:
    assert len((EXAMPLES / name).read_text(encoding="utf-8").splitlines()) <= LONGEST

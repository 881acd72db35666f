"""Facts that fit a message are found and given unasked, and few others are: floors over a thousand facts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest
from bench.facts_recall import DEFAULT, SETS, Asked, Recaller, lines_of, recaller, shares_at


@pytest.fixture(scope="module")
def asking(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Recaller]:
    with pytest.MonkeyPatch.context() as variables:
        variables.setenv("MEMLINES_HOME", str(tmp_path_factory.mktemp("home")))
        with recaller(tmp_path_factory.mktemp("facts"), "index") as one:
            yield one


@pytest.fixture(scope="module")
def questions(asking: Recaller) -> Sequence[Asked]:
    return [one for name in SETS for one in asking.ask(f"questions_{name}")]


@pytest.fixture(scope="module")
def prompts(asking: Recaller) -> Sequence[Asked]:
    return [one for name in SETS for one in asking.ask(f"prompts_{name}")]


def test_most_questions_find_their_fact_among_the_first(questions: Sequence[Asked]) -> None:
    assert sum(one.place() is not None for one in questions) >= 0.77 * len(questions)


def test_two_of_three_questions_get_their_fact_unasked(
    questions: Sequence[Asked], prompts: Sequence[Asked]
) -> None:
    assert shares_at(DEFAULT, questions, prompts).hits >= 0.66


def test_few_prompts_get_a_fact_that_is_of_no_use(
    questions: Sequence[Asked], prompts: Sequence[Asked]
) -> None:
    assert shares_at(DEFAULT, questions, prompts).false <= 0.04


def test_no_question_is_about_a_fact_of_the_other_set() -> None:
    develop, unseen = (
        {number for line in lines_of(f"questions_{name}") for number in line["facts"]} for name in SETS
    )
    assert not develop & unseen


def test_every_fact_of_a_question_is_one_of_the_thousand() -> None:
    known = {line["id"] for line in lines_of("facts")}
    wanted = {number for name in SETS for line in lines_of(f"questions_{name}") for number in line["facts"]}
    assert len(known) == 1_000
    assert wanted <= known


def test_no_prompt_is_in_both_sets() -> None:
    develop, unseen = ({line["text"] for line in lines_of(f"prompts_{name}")} for name in SETS)
    assert not develop & unseen

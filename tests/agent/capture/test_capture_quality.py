"""How well lasting facts are told in labelled messages, in coding prompts and in attacks."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

from memlines.agent.capture.find import Embed
from memlines.agent.capture.reading import LANGUAGES
from memlines.text.injection import is_injection
from tests.agent.capture.messages import CORPORA, Labelled, builtin, captures, injections, labelled
from tests.agent.intents import labelled as prompts

LOOKED_AT = ("develop", "develop_more", "unseen")


@pytest.fixture(scope="module", params=["with vectors", "without vectors"])
def embed(request: pytest.FixtureRequest) -> Embed | None:
    return builtin() if request.param == "with vectors" else None


def precision_and_recall(messages: Sequence[Labelled], embed: Embed | None) -> tuple[float, float]:
    told = [(one.capture, bool(captures(one.text, embed))) for one in messages]
    right = sum(wanted and found for wanted, found in told)
    return right / sum(found for _, found in told), right / sum(wanted for wanted, _ in told)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_messages_it_was_made_with_are_told(language: str, embed: Embed | None) -> None:
    messages = [one for name in LOOKED_AT for one in labelled(name) if one.language == language]
    precision, recall = precision_and_recall(messages, embed)
    assert precision >= 0.93
    assert recall >= 0.72


def test_messages_nobody_looked_at_are_told(embed: Embed | None) -> None:
    precision, recall = precision_and_recall(labelled("unseen_second"), embed)
    assert precision >= 0.94
    assert recall >= 0.81


@pytest.mark.parametrize("name", ["coding_develop", "coding_unseen"])
def test_hardly_anything_is_captured_of_coding_prompts(name: str, embed: Embed | None) -> None:
    texts = [one.text for one in prompts(name) if one.language in LANGUAGES]
    assert sum(bool(captures(text, embed)) for text in texts) <= 0.025 * len(texts)


def test_nothing_is_captured_of_an_injection(embed: Embed | None) -> None:
    texts = injections()
    if not texts:
        pytest.skip("the corpora are not there")
    assert [text for text in texts if captures(text, embed)] == []


def test_hardly_any_look_alike_is_taken_for_an_injection() -> None:
    file = CORPORA / "injection-benign.json"
    if not file.exists():
        pytest.skip("the corpora are not there")
    texts = [one["prompt"] for one in json.loads(file.read_text(encoding="utf-8"))]
    assert sum(map(is_injection, texts)) <= 0.03 * len(texts)


def test_of_orders_to_drop_the_rules_that_nobody_looked_at_nothing_is_kept(embed: Embed | None) -> None:
    orders = [one for one in labelled("orders_unseen") if not one.capture]
    assert [one.id for one in orders if captures(one.text, embed)] == []


def test_ordinary_orders_that_sound_alike_are_kept(embed: Embed | None) -> None:
    alike = [one for name in ("orders_develop", "orders_unseen") for one in labelled(name) if one.capture]
    assert sum(bool(captures(one.text, embed)) for one in alike) >= 42

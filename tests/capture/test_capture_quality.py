"""How well the rules do on labelled messages, on coding prompts and on attacks."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

from recollect.agent.capture import is_injection
from recollect.agent.capture.speech import LANGUAGES
from tests.support_capture import CORPORA, Labelled, captures, injections, labelled
from tests.support_intent import labelled as prompts


def precision_and_recall(messages: Sequence[Labelled]) -> tuple[float, float]:
    told = [(one.capture, bool(captures(one.text))) for one in messages]
    right = sum(wanted and found for wanted, found in told)
    return right / sum(found for _, found in told), right / sum(wanted for wanted, _ in told)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_messages_the_rules_were_made_with_are_told(language: str) -> None:
    precision, recall = precision_and_recall([one for one in labelled("develop") if one.language == language])
    assert precision >= 0.96
    assert recall >= 0.93


def test_messages_nobody_tuned_the_rules_to_are_told() -> None:
    precision, recall = precision_and_recall(labelled("unseen"))
    assert precision >= 0.85  # the aim is .92
    assert recall >= 0.58  # the aim is .75


@pytest.mark.parametrize("name", ["coding_develop", "coding_unseen"])
def test_little_is_captured_of_coding_prompts(name: str) -> None:
    texts = [one.text for one in prompts(name)]
    assert sum(bool(captures(text)) for text in texts) <= 0.08 * len(texts)


def test_nothing_is_captured_of_an_injection() -> None:
    texts = injections()
    if not texts:
        pytest.skip("the corpora are not there")
    assert [text for text in texts if captures(text)] == []


def test_hardly_any_look_alike_is_taken_for_an_injection() -> None:
    file = CORPORA / "injection-benign.json"
    if not file.exists():
        pytest.skip("the corpora are not there")
    texts = [one["prompt"] for one in json.loads(file.read_text(encoding="utf-8"))]
    assert sum(map(is_injection, texts)) <= 0.03 * len(texts)

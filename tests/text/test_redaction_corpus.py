"""How much is recognised, and how much is taken for a secret that is none."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from memlines.text.redaction import redact
from tests.text.redaction_clean import found, made_up
from tests.text.redaction_corpus import Planted, forms, planted, survives
from tests.text.redaction_unseen import unseen

pytestmark = pytest.mark.promise("P8")


def share_hidden(texts: Iterable[Planted]) -> float:
    """Return the share of secrets of which nothing is left."""
    hidden = [not survives(text, redact(text.text).text) for text in texts]
    return sum(hidden) / len(hidden)


def test_there_are_at_least_forty_forms_and_four_hundred_secrets() -> None:
    assert len(forms()) >= 40
    assert len(list(planted(2, held_out=True))) >= 400


def test_tokens_with_a_prefix_are_recognised_in_settings_never_developed_with() -> None:
    assert share_hidden(text for text in planted(2, held_out=True) if text.prefixed) >= 0.99


def test_secrets_are_recognised_in_settings_never_developed_with() -> None:
    assert share_hidden(planted(2, held_out=True)) >= 0.95


def test_tokens_of_another_author_are_recognised_bare_in_prose() -> None:
    assert share_hidden(text for text in unseen(2, each=4) if text.prefixed) >= 0.97


def test_secrets_in_forms_of_another_author_are_recognised() -> None:
    assert share_hidden(unseen(2, each=4)) >= 0.95


def test_what_was_planted_twice_over_is_idempotent() -> None:
    once = [redact(text.text).text for text in planted(3, held_out=True, each=2)]
    assert [redact(text).text for text in once] == once


def test_made_up_lines_that_look_like_secrets_stay() -> None:
    lines = made_up(2, 5000)
    assert [line for line in lines if redact(line).counts] == []


def test_the_source_of_python_and_our_pages_stay() -> None:
    texts = list(found(15_000))
    hits = sum(sum(redact(text).counts.values()) for text in texts)
    assert hits <= 1 + sum(text.count("\n") for text in texts) / 10_000

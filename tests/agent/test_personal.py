"""What the way a message is said tells about whether facts of the user are of use."""

from __future__ import annotations

import pytest

from memlines.agent.auto_recall import personal_log_odds

FACT = "Petra has coeliac disease and eats nothing with gluten."


@pytest.mark.parametrize(
    ("own", "general"),
    [
        ("where do we keep our secrets?", "where do pandas live?"),
        ("which port does my server use?", "what is a port?"),
        ("waar bewaren wij onze sleutels?", "wat is een sleutel?"),
        ("Wann kommt unsere Putzfrau?", "Was ist eine Funktion?"),
        ("Où est notre badge ?", "Explique la photosynthèse."),
        ("¿Dónde está nuestro coche?", "¿Qué es un puntero en C?"),
        ("Kdy má náš tým schůzku?", "Co je to ukazatel?"),
    ],
)
def test_a_question_about_ones_own_world_speaks_for_a_fact(own: str, general: str) -> None:
    assert personal_log_odds(own, FACT) > 0 > personal_log_odds(general, FACT)


@pytest.mark.parametrize(
    "order",
    [
        "fix the typo in README.md",
        "translate this into Swedish",
        "ga door",
        "mach weiter",
        "continue",
        "sigue",
        "pokračuj",
        "def f(x):\n    return x == 1",
    ],
)
def test_an_order_speaks_against_a_fact(order: str) -> None:
    assert personal_log_odds(order, FACT) < -1


def test_an_order_that_names_whom_a_fact_is_about_is_like_a_question() -> None:
    named = personal_log_odds("find a restaurant for Petra and me", FACT)
    assert named > personal_log_odds("find a restaurant for Elise and me", FACT) + 1


def test_a_name_tells_nothing_more_in_a_question() -> None:
    assert personal_log_odds("what does Petra eat?", FACT) == personal_log_odds("what does Elise eat?", FACT)


def test_what_is_known_between_both_speaks_for_a_fact() -> None:
    assert personal_log_odds("order my usual lunch", FACT) > personal_log_odds("order my lunch", FACT)


def test_a_curly_apostrophe_is_an_apostrophe() -> None:
    assert personal_log_odds("who\u2019s my boss", FACT) == personal_log_odds("who's my boss", FACT)

"""What is captured about the user goes into the personal memory; what is about the project stays there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from memlines.agent.capture.find import is_about_user
from memlines.agent.capture.turn import Captured, capture
from memlines.errors import MemlinesError
from memlines.memory.facts.categories import category_of
from memlines.memory.memory import Memory
from memlines.paths import personal_folder
from tests.agent.messages import NOW, opened, text_of, user

FACTS = "memory/facts.md"
TABS = "I prefer tabs over spaces."
DECIDED = "We decided to use Postgres 17 for billing."

ABOUT_THE_USER = (
    TABS,
    "My dog is called Rex.",
    "I am vegetarian.",
    "Always answer me in Dutch.",
    "My name is Ada and I live in Utrecht.",
    "Ich trinke lieber Tee als Kaffee.",
    "Mein Zahnarzt heißt Dr. Brown.",
    "Ik werk op vrijdag altijd thuis.",
    "Mijn zus heet Noor.",
    "Je préfère les réponses courtes.",
    "Ma sœur s'appelle Léa.",
    "Prefiero respuestas cortas.",
    "Mi perro se llama Rex.",
)
ABOUT_THE_PROJECT = (
    DECIDED,
    "Our staging server is db3.example.org.",
    "In this project I always run make lint before a commit.",
    "The billing service listens on port 8443.",
    "Priya is our lead.",
    "We prefer small pull requests.",
    "Wir benutzen Postgres für die Abrechnung.",
    "In diesem Projekt bevorzuge ich Tabs.",
    "Onze database draait op poort 5433.",
    "Nous avons choisi Postgres pour la facturation.",
    "Usamos Postgres para la facturación.",
)


def memory_of(workspace: Path, **settings: Any) -> Memory:
    return opened(workspace, facts__auto_capture=True, facts__store="index", **settings)


def taken(memory: Memory, *texts: str) -> Captured:
    return capture(memory, [user(text) for text in texts], session="s1", client="codex", now=NOW)


@pytest.mark.parametrize("text", ABOUT_THE_USER)
def test_a_preference_or_a_fact_about_the_user_is_personal(text: str) -> None:
    assert is_about_user(text, category_of(text))


@pytest.mark.parametrize("text", ABOUT_THE_PROJECT)
def test_a_decision_or_a_fact_about_the_project_is_not(text: str) -> None:
    assert not is_about_user(text, category_of(text))


def test_each_goes_where_it_belongs(workspace: Path) -> None:
    with memory_of(workspace) as memory:
        done = taken(memory, TABS, DECIDED)
    own, personal = text_of(workspace, FACTS), text_of(personal_folder(), FACTS)
    assert (DECIDED in own, TABS in own, TABS in personal, DECIDED in personal) == (True, False, True, False)
    assert {one["text"]: one["personal"] for one in done.to_json()["stored"]} == {TABS: True, DECIDED: False}


def test_without_the_personal_scope_all_goes_into_the_project(workspace: Path) -> None:
    with memory_of(workspace, scopes=("project",)) as memory:
        taken(memory, TABS)
    assert (TABS in text_of(workspace, FACTS), personal_folder().exists()) == (True, False)


def test_what_the_project_knows_is_not_captured_again_as_personal(workspace: Path) -> None:
    with memory_of(workspace) as memory:
        memory.facts.store(TABS)
        assert [one.why for one in taken(memory, TABS).skipped] == ["it is known already"]


def test_what_was_forgotten_in_the_project_does_not_come_back_as_personal(workspace: Path) -> None:
    with memory_of(workspace) as memory:
        stored = memory.facts.store(TABS)
        memory.facts.forget([stored.line.fact.id])
        assert taken(memory, TABS).stored == ()


def test_if_the_personal_memory_cannot_be_written_the_message_is_read_again_later(workspace: Path) -> None:
    personal_folder().write_text("in the way", encoding="utf-8")
    with memory_of(workspace) as memory:
        with pytest.raises(MemlinesError):
            taken(memory, TABS, DECIDED)
        assert (DECIDED in text_of(workspace, FACTS), TABS in text_of(workspace, FACTS)) == (True, False)
        personal_folder().unlink()
        taken(memory, TABS, DECIDED)
    assert TABS in text_of(personal_folder(), FACTS)

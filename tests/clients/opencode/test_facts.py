"""Facts inside the real OpenCode: stored by a tool, told unasked, taken from what the user says."""

from __future__ import annotations

import re

import pytest

from memlines.text.fact_note import facts_in
from tests.clients.opencode.conftest import Open
from tests.clients.opencode.test_suggestions import toasts
from tests.clients.opencode.window import Window
from tests.waiting import eventually

NOTES = {
    "MEMORY.md": "# Shop\n",
    "memory/facts.md": "# Facts\n\n- [preference] Ada wants Makefiles formatted with tabs.\n",
}
ASKED = "Format the Makefiles with tabs, please"
SAID = "By the way, our release manager is called Boleslava Krejci. Good morning."


@pytest.fixture(scope="module")
def window(open_project: Open) -> Window:
    return open_project(NOTES, name="facts")


def facts(window: Window) -> list[str]:
    note = window.folder / "memory" / "facts.md"
    return [line.fact.text for line in facts_in(note.read_text(encoding="utf-8"))]


def test_a_stored_fact_is_recalled_in_another_session(window: Window) -> None:
    window.call("memory_store", text="The warehouse in Delft has four robots.", category="fact")
    assert "four robots" in window.call("memory_recall", query="how many robots has the warehouse?").output


def test_a_query_lists_a_fact_and_its_id_deletes_it(window: Window) -> None:
    window.call("memory_store", text="The gate code of Breda is 555-0134.", category="fact")
    listed = window.call("memory_forget", query="The gate code of Breda is 555-0134.").output
    assert "The gate code of Breda is 555-0134." in facts(window)
    found = re.search(r"id (\w{10}) \(fact\)", listed)
    assert found, listed
    window.call("memory_forget", id=found[1])
    assert "The gate code of Breda is 555-0134." not in facts(window)


def test_a_fact_that_fits_stands_beside_the_message(window: Window) -> None:
    def is_told() -> bool:
        before = len(window.model.about(ASKED))
        window.say(ASKED)
        return "<relevant-memories>" in window.model.about(ASKED)[before].everything

    eventually(is_told)


def test_what_the_user_says_is_captured_and_shown(window: Window) -> None:
    window.write(".memory/config.yaml", "facts:\n  auto_capture: true\n")
    window.server.machine.memlines(window.folder, "config", "trust")
    with window.server.events(window.folder) as heard:
        window.say(SAID)
        eventually(lambda: any("Boleslava" in toast for toast in toasts(heard)))
    assert "Our release manager is called Boleslava Krejci." in facts(window)

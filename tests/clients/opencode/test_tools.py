"""The tools, called by a model inside the real OpenCode."""

from __future__ import annotations

import re
from typing import Any

import pytest

from memlines.serve.tools import TOOLS, shown_tools
from tests.clients.opencode.model import END, Request
from tests.clients.opencode.window import Window

_BYTES_KEPT = 60_000
"""OpenCode cuts what a tool answers at 50 KB, and adds a few words."""


@pytest.fixture(scope="module")
def first_request(shop: Window) -> Request:
    """What a model is sent in its first turn."""
    shop.say("Good morning, tools")
    return shop.model.about("Good morning, tools")[0]


SHOWN = [tool.name for tool in shown_tools()]


@pytest.mark.parametrize("name", SHOWN)
def test_a_model_is_offered_the_tool_with_its_own_schema(first_request: Request, name: str) -> None:
    offered = first_request.tools[name]["parameters"]
    assert set(offered["properties"]) == set(TOOLS[name].arguments)


@pytest.mark.parametrize("name", SHOWN)
def test_a_model_is_told_which_arguments_it_must_give(first_request: Request, name: str) -> None:
    assert first_request.tools[name]["parameters"].get("required", []) == TOOLS[name].parameters["required"]


@pytest.mark.parametrize("name", SHOWN)
def test_a_model_is_told_what_the_tool_is_for(first_request: Request, name: str) -> None:
    assert first_request.tools[name]["description"] == TOOLS[name].description


def test_search_cites_the_lines(shop: Window) -> None:
    answer = shop.call("memory_search", query="port of the staging database")
    assert "MEMORY.md#L" in answer.output
    assert "5433" in answer.output


def test_programs_get_what_search_found_with_field_names(shop: Window) -> None:
    (call,) = shop.call("memory_search", query="port of the staging database").calls
    assert call.metadata["failed"] is False
    assert call.metadata["data"]["results"][0]["citation"].startswith("MEMORY.md#L")
    assert {"provider", "model", "fallback", "citations", "mode"} <= set(call.metadata["data"])


def test_names_in_camel_case_reach_the_engine(shop: Window) -> None:
    (call,) = shop.call("memory_search", query="port of the staging database", maxResults=1).calls
    assert len(call.metadata["data"]["results"]) == 1


def test_the_model_reads_what_search_found(shop: Window) -> None:
    shop.call("memory_search", query="warehouse robots, seen by the model")
    last = shop.model.about("warehouse robots, seen by the model")[-1]
    assert "memory/people.md#L" in last.results[0]


def test_search_says_that_nothing_was_found(shop: Window) -> None:
    assert "Nothing in memory answers this" in shop.call("memory_search", query="zeppelin qxv").output


def test_what_is_remembered_is_found_in_another_session(shop: Window) -> None:
    shop.call("memory_remember", text="Linus prefers tabs in Makefiles.")
    found = shop.search("what does Linus prefer in Makefiles?")
    assert re.search(r"memory/\d{4}-\d\d-\d\d\.md#L\d+", found)
    assert "tabs" in found


def test_what_is_remembered_under_a_topic_stands_in_its_note(shop: Window) -> None:
    shop.call("memory_remember", text="Barbara owns the billing service.", topic="owners")
    assert "Barbara owns the billing service." in (shop.memory / "owners.md").read_text(encoding="utf-8")


def test_get_reads_the_lines_of_a_citation(shop: Window) -> None:
    answer = shop.call("memory_get", path="MEMORY.md#L4")
    assert "Ada decides about releases." in answer.output
    assert "5433" not in answer.output


def test_recall_lists_entries(shop: Window) -> None:
    assert "warehouse robots" in shop.call("memory_recall", topic="people").output


def test_tools_that_look_after_the_index_are_not_offered(shop: Window) -> None:
    shop.say("Which tools are there?")
    offered = shop.model.about("Which tools are there?")[0].tools
    assert "memory_search" in offered
    assert not {"memory_sync", "memory_status"} & set(offered)


class TestForget:
    def test_the_first_step_changes_nothing(self, shop: Window) -> None:
        shop.write("memory/secrets.md", "- The vault is behind the blue painting.\n")
        assert "blue painting" in shop.search("vault behind painting")
        assert "blue painting" in shop.call("memory_forget", query="vault behind painting").output
        assert "blue painting" in shop.notes()

    def test_the_second_step_removes_what_was_chosen(self, shop: Window) -> None:
        shop.write("memory/secrets.md", "- The spare key is below the green stone.\n")
        assert "green stone" in shop.search("spare key below stone")
        listed = shop.call("memory_forget", query="spare key below stone").output
        found = re.search(r"id (\S+~[0-9a-f]{12})", listed)
        assert found, listed
        shop.call("memory_forget", id=found[1])
        assert "green stone" not in shop.notes()

    def test_what_was_forgotten_is_not_found_any_more(self, shop: Window) -> None:
        shop.write("memory/secrets.md", "- The alarm is off on odd Tuesdays.\n")
        assert "odd Tuesdays" in shop.search("alarm off on Tuesdays")
        listed = shop.call("memory_forget", query="alarm off on Tuesdays").output
        found = re.search(r"id (\S+~[0-9a-f]{12})", listed)
        assert found, listed
        shop.call("memory_forget", id=found[1])
        assert "odd Tuesdays" not in shop.search("alarm off on Tuesdays")


WRONG: dict[str, tuple[str, dict[str, Any], str]] = {
    "a missing argument": ("memory_search", {}, "query"),
    "an argument of another type": ("memory_search", {"query": ["a", "b"]}, "query"),
    "an argument that does not exist": ("memory_search", {"query": "x", "limt": 3}, "limt"),
    "a number out of range": ("memory_search", {"query": "x", "max_results": -1}, "max_results"),
    "a path outside": ("memory_get", {"path": "../../../../etc/passwd"}, "passwd"),
    "an id that is none": ("memory_forget", {"id": "everything"}, "id"),
    "an empty note": ("memory_remember", {"text": "  "}, "text"),
}


@pytest.mark.parametrize("what", WRONG)
def test_wrong_arguments_are_answered_in_words(shop: Window, what: str) -> None:
    tool, arguments, word = WRONG[what]
    (call,) = shop.call(tool, **arguments).calls
    assert word in call.output
    assert "Traceback" not in call.output


@pytest.mark.parametrize("what", WRONG)
def test_the_turn_goes_on_after_wrong_arguments(shop: Window, what: str) -> None:
    tool, arguments, _ = WRONG[what]
    assert shop.call(tool, **arguments).text == END


class TestBigNotes:
    def test_a_big_note_is_read_in_parts(self, shop: Window) -> None:
        shop.write("memory/big.md", "A line of a note that is long.\n" * 66_000)
        assert len(shop.call("memory_get", path="memory/big.md").output.encode()) < _BYTES_KEPT

    def test_a_big_line_is_read_in_parts(self, shop: Window) -> None:
        shop.write("memory/wide.md", "wide " * 400_000)
        assert len(shop.call("memory_get", path="memory/wide.md").output.encode()) < _BYTES_KEPT


class TestOtherPrograms:
    def test_a_note_that_was_written_is_found_by_the_next_search(self, shop: Window) -> None:
        shop.call("memory_search", query="anything")
        shop.write("memory/outside.md", "- The editor wrote about marzipan.\n")
        assert "marzipan" in shop.search("marzipan")

    def test_a_note_that_was_deleted_is_not_found_any_more(self, shop: Window) -> None:
        note = shop.write("memory/gone.md", "- The editor wrote about nougat.\n")
        assert "nougat" in shop.search("nougat")
        note.unlink()
        assert "Nothing in memory answers this" in shop.search("nougat")

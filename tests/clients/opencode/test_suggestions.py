"""Commands are suggested where a message or a document sounds like something for the memory."""

from __future__ import annotations

from tests.clients.opencode.window import Window
from tests.waiting import eventually


def toasts(heard: list[dict[str, object]]) -> list[str]:
    """Return the suggestions among what was heard."""
    return [str(event["properties"]) for event in list(heard) if event["type"] == "tui.toast.show"]


def test_what_sounds_like_an_order_to_remember_suggests_it(shop: Window) -> None:
    with shop.server.events(shop.folder) as heard:
        shop.say("Please remember that we deploy on Fridays only after lunch.")
        eventually(lambda: any("/remember" in toast for toast in toasts(heard)))


def test_what_sounds_like_a_question_to_the_memory_suggests_to_look_it_up(shop: Window) -> None:
    with shop.server.events(shop.folder) as heard:
        shop.say("What did we decide about the port of the staging database?")
        eventually(lambda: any("/recall" in toast for toast in toasts(heard)))


def test_a_document_that_sounds_like_it_suggests_it(shop: Window) -> None:
    note = shop.folder / "guide.md"
    with shop.server.events(shop.folder) as heard:
        shop.call("write", filePath=str(note), content="Remember that we deploy on Mondays.\n")
        eventually(lambda: any("/remember" in toast for toast in toasts(heard)))


def test_an_ordinary_request_suggests_nothing(shop: Window) -> None:
    with shop.server.events(shop.folder) as heard:
        shop.say("Add a docstring to the function start")
        shop.say("Please remember that the harbour closes at ten.")
        eventually(lambda: toasts(heard))
    assert len(toasts(heard)) == 1

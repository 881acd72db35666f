"""OpenCode in two projects: what is stored as personal in one is found in the other."""

from __future__ import annotations

from tests.clients.opencode.conftest import Open


def test_a_personal_fact_is_recalled_in_another_project(open_project: Open) -> None:
    shop, bakery = open_project(name="personal"), open_project(name="personal")
    shop.call("memory_store", text="My uncle Ambrose repairs clocks.", personal=True)
    assert "Ambrose repairs clocks" in bakery.call("memory_recall", query="what does my uncle repair?").output
    assert not (shop.folder / "memory/facts.md").exists()

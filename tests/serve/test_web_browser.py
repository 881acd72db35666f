"""The page in a real browser, as a person uses it: search, notes, what is written, keys and looks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from memlines import Memory
from tests.memories import WORDS_ONLY, write
from tests.serve.chromium import Watched
from tests.serve.web import Browser, browsing

TEAM = "memory/team.md"
NOTES = {
    "MEMORY.md": "# Memory\n\n- The office is in Lisbon.\n",
    TEAM: "# Team\n\n- Anna reviews every schema change.\n- Karl writes the *runbooks*.\n",
    "memory/2026-03-02.md": "# 2026-03-02\n\n- 10:00 Anna chose the database Postgres.\n",
    "memory/2026-05-04.md": "# 2026-05-04\n\n- 10:00 Anna moved the database to Hetzner.\n",
}


@pytest.fixture
def site(workspace: Path) -> Iterator[Browser]:
    write(workspace, NOTES)
    with browsing(workspace) as browser:
        yield browser


@pytest.fixture
def page(site: Browser, watched: Watched) -> Page:
    """The search, as it opens."""
    return watched.visit(site)


def ask(page: Page, query: str) -> None:
    """Type into the search, key by key."""
    page.locator("#q").press_sequentially(query)


def citations(page: Page) -> list[str]:
    return page.locator(".hit .citation").all_text_contents()


def read(folder: Path, path: str = TEAM) -> str:
    return (folder / path).read_text(encoding="utf-8")


# Search


def test_the_printed_address_opens_the_search(site: Browser, watched: Watched) -> None:
    watched.page.goto(site.origin + site.path)
    watched.page.wait_for_url(f"{site.origin}/")
    expect(watched.page.locator("#q")).to_be_focused()


def test_typing_shows_the_line_that_answers(page: Page) -> None:
    ask(page, "schema change")
    expect(page.locator(".hit .citation").first).to_have_text(re.compile(f"^{TEAM}#L"))
    expect(page.locator(".hit").first).to_contain_text("Anna reviews every schema change.")


def test_words_that_were_found_are_marked(page: Page) -> None:
    ask(page, "schema change")
    expect(page.locator(".hit mark")).to_have_text(["schema", "change"])


def test_a_hit_has_a_band(page: Page) -> None:
    ask(page, "who reviews every schema change")
    expect(page.locator(".hit .band").first).to_have_text(re.compile("strong|likely|weak"))


def test_the_address_follows_what_is_typed(page: Page) -> None:
    ask(page, "schema change")
    page.wait_for_url("**/?q=schema+change")
    page.reload()
    expect(page.locator(".hit mark")).to_have_text(["schema", "change"])


@pytest.mark.parametrize(
    ("name", "value", "found"),
    [
        ("topic", TEAM, TEAM),
        ("path", "memory/2026-03*", "memory/2026-03-02.md"),
        ("after", "2026-05-01", "memory/2026-05-04.md"),
        ("before", "2026-03-03", "memory/2026-03-02.md"),
    ],
)
def test_a_filter_narrows_the_answer(page: Page, name: str, value: str, found: str) -> None:
    ask(page, "Anna")
    expect(page.locator(".hit")).to_have_count(3)
    page.get_by_text("Filters").click()
    field = page.locator(f".filters [name={name}]")
    field.select_option(value) if name == "topic" else field.fill(value)
    expect(page.locator(".hit")).to_have_count(1)
    assert citations(page)[0].startswith(found)


def test_the_source_narrows_the_answer(page: Page) -> None:
    ask(page, "Anna")
    page.get_by_text("Filters").click()
    page.get_by_label("Source").select_option("conversations")
    expect(page.get_by_text("Nothing in memory answers this")).to_be_visible()
    expect(page.get_by_text("Leave out a filter: source.")).to_be_visible()


def test_a_personal_memory_can_be_asked_alone(workspace: Path, watched: Watched) -> None:
    write(workspace, NOTES)
    with Memory(workspace, WORDS_ONLY) as memory:
        memory.remember("Anna prefers tea.", topic="habits", personal=True)
    with browsing(workspace) as site:
        page = watched.visit(site, "/?q=Anna")
        page.get_by_text("Filters").click()
        page.get_by_label("Whose memory").select_option("personal")
        expect(page.locator(".hit .citation")).to_have_text(["personal:memory/habits.md#L3"])


def test_why_shows_four_bars_and_the_words(page: Page) -> None:
    ask(page, "schema")
    page.locator(".why summary").click()
    expect(page.locator(".why dt")).to_have_text(["words", "meaning", "days", "final"])
    expect(page.locator(".why .track")).to_have_count(4)
    expect(page.locator(".why dd").first).to_contain_text("schema")


def test_a_misspelt_word_shows_what_was_searched(page: Page) -> None:
    ask(page, "postgrse database")
    expect(page.locator(".said .message").first).to_contain_text("postgres")
    expect(page.locator(".hit mark").first).to_have_text("database")
    expect(page.locator(".hit mark").nth(1)).to_have_text("Postgres")


def test_a_question_without_an_answer_says_so(page: Page) -> None:
    ask(page, "xylophone")
    expect(page.get_by_role("heading", name="Nothing in memory answers this")).to_be_visible()
    expect(page.locator(".empty li").first).to_contain_text("Use the words that the note would use")


@pytest.mark.parametrize("is_reloaded", [False, True])
def test_clearing_the_search_brings_back_what_was_written_lately(page: Page, is_reloaded: bool) -> None:
    ask(page, "schema")
    expect(page.get_by_text("Written lately")).to_be_hidden()
    page.wait_for_url("**/?q=schema")
    if is_reloaded:
        page.reload()
    page.locator("#q").fill("")
    expect(page.get_by_text("Written lately")).to_be_visible()
    expect(page.locator(".hit")).to_have_count(0)


def test_an_empty_memory_says_how_to_begin(workspace: Path, watched: Watched) -> None:
    with browsing(workspace) as site:
        expect(watched.visit(site).get_by_text("This memory is empty")).to_be_visible()


# A note


def test_a_citation_opens_the_note_at_the_line(page: Page) -> None:
    ask(page, "schema")
    page.locator(".hit .citation").click()
    expect(page.locator(".lines .here")).to_have_attribute("value", re.compile("[13]"))
    expect(page.locator(".rendered em")).to_have_text("runbooks")


def test_entries_and_chunks_are_shown_on_demand(site: Browser, watched: Watched) -> None:
    page = watched.visit(site, f"/note/{TEAM}")
    expect(page.locator(".chunk-start, .entry-start")).to_have_count(0)
    page.get_by_text("Show entries and chunks").click()
    expect(page.locator(".chunk-start")).not_to_have_count(0)
    expect(page.locator(".entry-start")).not_to_have_count(0)


def edit(page: Page, text: str) -> None:
    """Begin to edit the note that is shown, by the key, and type another text."""
    page.keyboard.press("e")
    page.get_by_label("Text of the note").fill(text)


def test_a_saved_edit_is_in_the_file(site: Browser, watched: Watched, workspace: Path) -> None:
    page = watched.visit(site, f"/note/{TEAM}")
    edit(page, "# Team\n\n- Zoe reviews.\n")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Saved. The earlier text is kept.")).to_be_visible()
    assert read(workspace) == "# Team\n\n- Zoe reviews.\n"


def test_a_saved_edit_is_taken_back_by_undo(site: Browser, watched: Watched, workspace: Path) -> None:
    page = watched.visit(site, f"/note/{TEAM}")
    edit(page, "# Team\n")
    page.get_by_role("button", name="Save").click()
    page.locator(".message").get_by_role("link", name="Undo").click()
    expect(page.locator(".diff .added")).to_have_count(3)
    page.get_by_role("button", name="Undo it").click()
    expect(page.locator(".message.good")).to_contain_text("Undone edit")
    assert read(workspace) == NOTES[TEAM]


def test_a_version_shows_what_restoring_changes_and_is_restored(
    site: Browser, watched: Watched, workspace: Path
) -> None:
    page = watched.visit(site, f"/note/{TEAM}")
    edit(page, NOTES[TEAM].replace("Anna", "Zoe"))
    page.get_by_role("button", name="Save").click()
    page.get_by_role("link", name="History").click()
    page.locator("table [data-row]").first.click()
    expect(page.locator(".diff .removed")).to_contain_text("Zoe")
    expect(page.locator(".diff .added")).to_contain_text("Anna")
    page.get_by_role("button", name="Restore it").click()
    expect(page.locator(".message.good")).to_contain_text("Restored.")
    assert read(workspace) == NOTES[TEAM]


@pytest.fixture
def conflict(site: Browser, watched: Watched) -> Iterator[Page]:
    """The page that a person sees who saved a note after someone else did."""
    page = watched.visit(site, f"/note/{TEAM}?edit=1")
    other = page.context.new_page()
    watched.watch(other)
    other.goto(page.url)
    for tab, text in ((other, "# Theirs\n"), (page, "# Mine\n")):
        tab.get_by_label("Text of the note").fill(text)
        tab.get_by_role("button", name="Save").click()
        expect(tab.locator(".message")).to_be_visible()
    other.close()
    yield page
    assert all("409" in error for error in watched.errors)  # which the browser says of its own
    watched.errors.clear()


def test_the_second_of_two_tabs_overwrites_nothing(conflict: Page, workspace: Path) -> None:
    expect(conflict.get_by_text("Someone else saved this note meanwhile.")).to_be_visible()
    expect(conflict.get_by_label("Text of the note")).to_have_value("# Mine\n")
    assert read(workspace) == "# Theirs\n"


def test_after_a_conflict_the_text_can_be_saved(conflict: Page, workspace: Path) -> None:
    conflict.get_by_role("button", name="Save").click()
    expect(conflict.get_by_text("Saved.")).to_be_visible()
    assert read(workspace) == "# Mine\n"


def test_leaving_after_a_conflict_asks_first(conflict: Page, watched: Watched) -> None:
    conflict.get_by_label("Text of the note").press("End")  # a browser asks only whom it saw act
    conflict.get_by_role("link", name="Cancel").click()
    expect(conflict.locator(".lines")).to_contain_text("# Theirs")
    assert len(watched.dialogs) == 1


@pytest.mark.parametrize(("key", "asked"), [("x", 1), ("End", 0)])
def test_leaving_asks_first_if_the_text_was_changed(
    site: Browser, watched: Watched, key: str, asked: int
) -> None:
    page = watched.visit(site, f"/note/{TEAM}?edit=1")
    page.get_by_label("Text of the note").press(key)
    page.get_by_role("link", name="Cancel").click()
    expect(page.locator(".lines")).to_contain_text("Anna reviews")
    assert len(watched.dialogs) == asked


def test_a_text_that_cannot_be_written_stays_in_the_form(
    site: Browser, watched: Watched, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = watched.visit(site, f"/note/{TEAM}?edit=1")
    page.get_by_label("Text of the note").fill("# Mine\n")

    def refuse(*_: object) -> None:
        raise PermissionError(30, "Read-only file system")

    monkeypatch.setattr("memlines.files.history.change", refuse)
    page.get_by_role("button", name="Save").click()
    expect(page.locator(".message.bad")).to_contain_text("Not saved")
    expect(page.get_by_label("Text of the note")).to_have_value("# Mine\n")
    assert read(workspace) == NOTES[TEAM]
    assert "503" in watched.errors.pop()


# Remembering, forgetting, undoing


def remember(page: Page, text: str, topic: str = "") -> None:
    """Fill in the form and have it previewed."""
    page.get_by_label("What should be remembered").fill(text)
    page.get_by_label("Topic").fill(topic)
    page.get_by_role("button", name="Preview").click()


def test_remembering_shows_first_where_it_goes(site: Browser, watched: Watched, workspace: Path) -> None:
    page = watched.visit(site, "/remember")
    remember(page, "Deploys need the VPN.", "rules")
    expect(page.locator(".message")).to_have_text(
        "It goes to the end of memory/rules.md, a new note:", use_inner_text=True
    )
    assert not (workspace / "memory/rules.md").exists()


def test_what_was_remembered_is_cited(site: Browser, watched: Watched, workspace: Path) -> None:
    page = watched.visit(site, "/remember")
    remember(page, "Deploys need the VPN.", "rules")
    page.get_by_role("button", name="Write it").click()
    page.locator(".message .citation").click()
    expect(page.locator(".lines .here")).to_contain_text("Deploys need the VPN.")
    assert "Deploys need the VPN." in read(workspace, "memory/rules.md")


def test_what_is_known_already_is_reported(site: Browser, watched: Watched) -> None:
    page = watched.visit(site, "/remember")
    remember(page, "Anna reviews every schema change.", "team")
    expect(page.locator(".message")).to_contain_text("The memory holds this already")
    expect(page.locator(".message .citation")).to_have_text(f"{TEAM}#L3")


def test_leaving_a_preview_asks_first(site: Browser, watched: Watched) -> None:
    page = watched.visit(site, "/remember")
    remember(page, "Deploys need the VPN.")
    expect(page.get_by_role("button", name="Write it")).to_be_visible()
    page.get_by_label("What should be remembered").press("End")
    page.get_by_role("link", name="Health").click()
    expect(page.get_by_role("heading", name="Health")).to_be_visible()
    assert len(watched.dialogs) == 1


def test_forgetting_shows_first_what_goes(site: Browser, watched: Watched, workspace: Path) -> None:
    page = watched.visit(site, "/forget")
    page.get_by_label("What:").fill("Anna")
    page.get_by_role("button", name="Show").click()
    expect(page.get_by_text("It cannot be undone.")).to_be_visible()
    expect(page.locator(".entries .citation")).to_have_count(3)
    assert read(workspace) == NOTES[TEAM]


def test_what_was_chosen_is_forgotten_with_a_receipt(
    site: Browser, watched: Watched, workspace: Path
) -> None:
    page = watched.visit(site, f"/forget?what={TEAM}%23L3")
    page.get_by_role("checkbox").check()
    page.get_by_role("button", name="Forget what is chosen").click()
    expect(page.get_by_text("Forgotten for good.")).to_be_visible()
    expect(page.locator("table")).to_contain_text("entries")
    assert "Anna" not in read(workspace)


def test_an_undone_change_is_redone(site: Browser, watched: Watched, workspace: Path) -> None:
    with Memory(workspace, WORDS_ONLY) as memory:
        memory.remember("Deploys need the VPN.", topic="team")
    page = watched.visit(site, "/undo")
    page.get_by_role("button", name="Undo it").click()
    expect(page.locator(".message.good")).to_contain_text("Undone remember")
    assert read(workspace) == NOTES[TEAM]
    page.locator("main").get_by_role("link", name="Redo").click()
    page.get_by_role("button", name="Redo it").click()
    expect(page.locator(".message.good")).to_contain_text("Redone remember")
    assert "VPN" in read(workspace)


# Keys


def test_a_slash_goes_to_the_search(site: Browser, watched: Watched) -> None:
    page = watched.visit(site, "/health")
    page.keyboard.press("/")
    expect(page.locator("#q")).to_be_focused()


def test_arrows_choose_a_hit_and_enter_opens_it(page: Page) -> None:
    ask(page, "Anna")
    expect(page.locator(".hit")).to_have_count(3)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    expect(page.locator(".hit .citation").nth(1)).to_be_focused()
    page.keyboard.press("ArrowUp")
    path = citations(page)[0].partition("#")[0]
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1).first).to_have_text(path)


def test_the_first_arrow_up_goes_back_to_the_search(page: Page) -> None:
    expect(page.locator("#q")).to_be_focused()
    first = page.locator("#recent [data-row]").first
    expect(first).to_be_visible()  # what was written lately comes after the page
    page.keyboard.press("ArrowDown")
    expect(first).to_be_focused()
    page.keyboard.press("ArrowUp")
    expect(page.locator("#q")).to_be_focused()


def test_e_edits_the_note_of_the_chosen_hit(page: Page) -> None:
    ask(page, "schema")
    expect(page.locator(".hit")).to_have_count(1)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("e")
    expect(page.get_by_label("Text of the note")).to_have_value(NOTES[TEAM])


def test_a_question_mark_lists_the_keys_and_escape_closes_them(site: Browser, watched: Watched) -> None:
    page = watched.visit(site, "/health")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog", name="Keys")).to_be_hidden()


@pytest.mark.parametrize(
    ("keys", "heading"), [("gt", "2026"), ("gm", "Map"), ("n", "Remember"), ("u", "Undo")]
)
def test_keys_lead_to_a_page(site: Browser, watched: Watched, keys: str, heading: str) -> None:
    page = watched.visit(site, "/health")
    for key in keys:
        page.keyboard.press(key)
    expect(page.get_by_role("heading", level=1)).to_have_text(heading)


# How it looks


def test_the_button_switches_the_theme_for_good(page: Page) -> None:
    button, root = page.locator("#theme"), page.locator("html")
    expect(button).to_have_text("Theme: auto")
    for name in ("light", "dark"):
        button.click()
        expect(root).to_have_attribute("data-theme", name)
    page.reload()
    expect(root).to_have_attribute("data-theme", "dark")
    button.click()
    expect(button).to_have_text("Theme: auto")


def test_the_theme_follows_the_system_until_one_is_chosen(page: Page) -> None:
    page.emulate_media(color_scheme="dark")
    expect(page.locator("main")).to_have_css("background-color", "rgb(27, 29, 34)")


def test_paper_shows_the_text_and_not_the_menu(site: Browser, watched: Watched) -> None:
    page = watched.visit(site, f"/note/{TEAM}")
    page.emulate_media(media="print")
    expect(page.locator(".rail")).to_be_hidden()
    expect(page.locator(".lines")).to_be_visible()

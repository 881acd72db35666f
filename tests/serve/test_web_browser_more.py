"""The page in a real browser: overviews, review, health, trouble, what everyone can read, and the export."""

from __future__ import annotations

import re
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import Page, expect

from memlines import Memory
from memlines.embed.select import Choice
from memlines.files.notes import append
from memlines.files.shown import ShownLine
from memlines.memory.recording import record
from memlines.paths import Workspace
from memlines.serve.rpc.workplace import Workplace
from memlines.settings import load
from memlines.text.facts import Fact
from tests.clients.npm import install
from tests.memories import WORDS_ONLY, write
from tests.note_changes import edit
from tests.programs import MAIN, Cli, environment
from tests.providers import MeaningsProvider
from tests.repositories import set_clock, set_time
from tests.serve.chromium import Watched
from tests.serve.web import Browser, browsing
from tests.transcripts.records import HEADER, assistant, jsonl, user

if TYPE_CHECKING:
    from memlines.embed.base import Vectors

TEAM, DATABASE, TALK = "memory/team.md", "memory/database.md", "sessions/2026-03-01.jsonl"
SAME = ("- Anna reviews every schema change.\n", "- Karl writes the runbooks of the team.\n")
NOTES = {
    "MEMORY.md": f"# Memory\n\n- The office is in Lisbon.\n{''.join(SAME)}",
    TEAM: f"# Team\n\n{''.join(SAME)}- The *daily* is at ten.\n",
    "memory/2025-12-01.md": "# 2025-12-01\n\n- 10:00 The office moved.\n",
    "memory/2026-03-02.md": "# 2026-03-02\n\n- 10:00 Anna left for Rome.\n- 11:00 The backup failed.\n",
}
HERON, OWL = "heron2aaaa", "owl2aaaaaa"
FACTS = (
    Fact(
        HERON, "The heron waits at the weir.", "fact", source="capture codex 01ab", created=date(2026, 5, 1)
    ),
    Fact(OWL, "The owl lives in Bonn.", created=date(2026, 5, 2)),
)
SESSIONS = {"sources": ["memory", "sessions"]}
MEANINGS = {
    "anna": (1.0, 0.0, 0.2, 0.0),
    "karl": (0.8, 0.3, 0.0, 0.0),
    "office": (0.0, 1.0, 0.0, 0.0),
    "backup": (0.0, 0.3, 1.0, 0.0),
    "postgres": (0.2, 0.0, 1.0, 0.0),
    "kestrel": (0.6, 0.6, 0.0, -0.6),
    "rome": (0.9, 0.0, 0.4, 0.0),
}


class Gated(MeaningsProvider):
    """Makes vectors when it is let."""

    def __init__(self) -> None:
        super().__init__(MEANINGS)
        self.gate = threading.Event()
        self.gate.set()

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        assert self.gate.wait(60)
        return super().embed_documents(texts)


def fill(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Write a memory in which every page has something to show."""
    write(folder, NOTES)
    with Memory(folder, WORDS_ONLY) as memory:
        home = memory.workspace
        set_clock(monkeypatch, "2026-01-10")
        append(home, DATABASE, "- The database is MySQL.")
        set_clock(monkeypatch, "2026-02-10")
        edit(home, DATABASE, 1, 1, "- The database is Postgres.", "- The database is MySQL.")
        set_time(folder / DATABASE, "2026-02-10")
        monkeypatch.undo()
        memory.facts.add_all(FACTS)
    said = [user("My kestrel is called Ada."), assistant("A fine name for a kestrel.")]
    (folder / "sessions").mkdir()
    (folder / TALK).write_text(jsonl(HEADER, *said), encoding="utf-8")
    place = Workspace.at(folder)
    record(
        place,
        load(place).settings,
        "search",
        [ShownLine(f"{TEAM}#L3", score=0.5)],
        session="one",
        client="codex",
        query="who reviews?",
    )


@pytest.fixture
def provider() -> Gated:
    return Gated()


@pytest.fixture
def site(workspace: Path, provider: Gated) -> Iterator[Browser]:
    """A memory with vectors."""

    class WithVectors(Workplace):
        def memory(self) -> Memory:
            memory = super().memory()
            memory._manager.choice = Choice("fake", provider)
            return memory

    with pytest.MonkeyPatch.context() as patch:
        fill(workspace, patch)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tests.serve.web.Workplace", WithVectors)
        with browsing(workspace, SESSIONS) as browser:
            yield browser


def sync(page: Page) -> None:
    """Have the index made equal to the files, and wait until all of it has vectors."""
    page.get_by_role("button", name="Sync now").click()
    expect(page.locator("#live output")).to_have_text(re.compile(r"^(\d+) of \1 passages have vectors$"))


def facts_of(folder: Path) -> dict[str, Fact]:
    with Memory(folder, WORDS_ONLY) as memory:
        return {line.fact.id: line.fact for line in memory.facts.list(current=False)}


def test_a_hit_without_a_word_in_common_has_no_bar_for_words(site: Browser, watched: Watched) -> None:
    sync(watched.visit(site, "/health"))
    page = watched.visit(site, "/?q=rome")
    why = page.locator(".hit .why").filter(has_text="no word in common").first
    why.locator("summary").click()
    expect(why.locator("dd").first).to_have_text("0.00 no word in common")
    expect(why.locator("svg .words")).to_have_attribute("width", "0.0")


# The timeline


def test_a_day_of_the_calendar_shows_what_happened(site: Browser, watched: Watched) -> None:
    page = watched.visit(site, "/timeline?year=2026")
    page.get_by_role("link", name="2026-03-02: 2").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("2026-03-02")
    expect(page.locator(".entries li")).to_have_text([re.compile("backup failed"), re.compile("Anna left")])


def test_another_year_has_its_own_calendar(site: Browser, watched: Watched) -> None:
    page = watched.visit(site, "/timeline")
    page.get_by_role("navigation", name="Years").get_by_role("link", name="2025").click()
    expect(page.get_by_role("link", name="2025-12-01: 1")).to_be_visible()
    expect(page.locator(".entries")).to_contain_text("The office moved.")


def test_days_lead_to_the_next_and_the_one_before(site: Browser, watched: Watched) -> None:
    page = watched.visit(site, "/timeline?day=2026-03-02")
    page.get_by_role("link", name="← 2026-03-01").click()
    expect(page.locator(".entries .tag")).to_have_text("session")
    page.get_by_role("link", name="2026-03-02 →").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("2026-03-02")


def test_the_slider_chooses_the_day(site: Browser, watched: Watched) -> None:
    page = watched.visit(site, "/timeline")
    page.locator("#as-of").press("Home")
    expect(page.locator("#as-of-day")).to_have_value("2025-12-01")


def test_the_memory_is_asked_as_it_was_on_a_day(site: Browser, watched: Watched) -> None:
    page = watched.visit(site, "/timeline")
    page.get_by_label("Ask the memory as it was").fill("which database?")
    page.locator("#as-of-day").fill("2026-01-20")
    page.locator("main").get_by_role("button", name="Search").click()
    expect(page.locator(".hit").first).to_contain_text("The database is MySQL.")
    page.locator(".hit .citation").first.click()
    expect(page.locator(".lines")).to_contain_text("MySQL")


# The map


@pytest.fixture
def laid_out(site: Browser, watched: Watched) -> Page:
    """The map of a memory whose vectors are made."""
    sync(watched.visit(site, "/health"))
    return watched.visit(site, "/map")


def test_passages_are_points_of_two_colours(laid_out: Page) -> None:
    expect(laid_out.locator(".legend li")).to_have_text([re.compile("notes"), re.compile("conversations")])
    for group in laid_out.locator("#map path:not(.ring)").all():
        assert re.fullmatch(r"(M\d+ \d+h0)+", group.get_attribute("d") or "")


@pytest.mark.parametrize(("colour", "group"), [("topic", "team"), ("age", "this year")])
def test_the_colours_may_be_of_something_else(laid_out: Page, colour: str, group: str) -> None:
    laid_out.get_by_role("link", name=colour, exact=True).click()
    expect(laid_out.locator(".legend")).to_contain_text(group)


def test_a_click_shows_what_is_near(laid_out: Page) -> None:
    place = laid_out.locator("#map path.c1:not(.ring)").bounding_box()
    assert place is not None
    laid_out.mouse.click(place["x"] + place["width"] / 2, place["y"] + place["height"] / 2)
    expect(laid_out.locator("#near [data-row]").first).to_contain_text(TALK)


def test_marked_passages_are_listed(laid_out: Page) -> None:
    laid_out.get_by_text("nearly the same").click()
    expect(laid_out.locator("details[open] [data-row]")).not_to_have_count(0)


# Facts, conversations, tidying, blame


def test_a_fact_is_kept(site: Browser, watched: Watched, workspace: Path) -> None:
    page = watched.visit(site, "/facts?review=1")
    page.get_by_role("button", name="Keep").click()
    expect(page.get_by_text("No fact is like that.")).to_be_visible()
    assert facts_of(workspace)[HERON].reviewed


def test_the_words_of_a_fact_are_changed(site: Browser, watched: Watched, workspace: Path) -> None:
    page = watched.visit(site, "/facts")
    one = page.locator(f"#{OWL}")
    one.get_by_text("Change the words").click()
    one.get_by_label("Words of the fact").fill("The owl lives in Rome.")
    one.get_by_role("button", name="Save").click()
    expect(page.locator(f"#{OWL} > p").first).to_have_text("The owl lives in Rome.")
    assert facts_of(workspace)[OWL].text == "The owl lives in Rome."


def test_a_fact_is_forgotten_after_it_was_asked(site: Browser, watched: Watched, workspace: Path) -> None:
    page = watched.visit(site, "/facts")
    page.locator(f"#{OWL}").get_by_role("button", name="Forget").click()
    expect(page.get_by_text("It cannot be undone.")).to_be_visible()
    page.get_by_role("button", name="Forget it").click()
    expect(page.get_by_text("Forgotten for good.")).to_be_visible()
    assert OWL not in facts_of(workspace)


def test_a_hit_in_a_conversation_opens_the_turn(site: Browser, watched: Watched) -> None:
    page = watched.visit(site, "/?q=kestrel&source=sessions")
    page.locator(".hit .citation").first.click()
    expect(page.locator(".turn.here").first).to_contain_text("kestrel")


def test_conversations_are_listed(site: Browser, watched: Watched) -> None:
    page = watched.visit(site, "/sessions")
    page.get_by_role("link", name=TALK).click()
    expect(page.locator(".turn")).to_have_count(2)


def test_one_item_is_applied_and_one_declined(site: Browser, watched: Watched, workspace: Path) -> None:
    page = watched.visit(site, "/tidy")
    page.get_by_role("button", name="Make a new proposal").click()
    expect(page.get_by_text("2 open.")).to_be_visible()
    page.locator("li", has_text="Anna").get_by_role("checkbox").check()
    page.get_by_role("button", name="Apply what is chosen").click()
    expect(page.locator(".message.good")).to_contain_text("Applied")
    page.locator("li", has_text="Karl").get_by_role("checkbox").check()
    page.get_by_role("button", name="Decline what is chosen").click()
    expect(page.get_by_text("There is nothing to tidy.")).to_be_visible()
    assert [line in (workspace / TEAM).read_text(encoding="utf-8") for line in SAME] == [False, True]


def test_blame_shows_what_an_agent_was_shown(site: Browser, watched: Watched) -> None:
    page = watched.visit(site, "/blame")
    page.get_by_role("link", name="one").click()
    expect(page.locator("q")).to_have_text("who reviews?")
    expect(page.locator("main .citation")).to_have_text(f"{TEAM}#L3")


def test_a_note_shows_who_was_shown_it(site: Browser, watched: Watched) -> None:
    page = watched.visit(site, f"/note/{TEAM}")
    page.get_by_text("Who was shown it").click()
    expect(page.locator(".entries")).to_contain_text("codex")


# Health


def test_doctor_says_what_is_wrong_first(site: Browser, watched: Watched) -> None:
    page = watched.visit(site, "/health")
    expect(page.locator("table").last).to_contain_text("captured facts that are not reviewed yet: 1 of 2")
    levels = page.locator("table .tag").all_text_contents()  # the table comes after the page
    assert (levels, "ok" in levels) == (sorted(levels, key=["problem", "warning", "ok"].index), True)


def test_vectors_are_counted_as_they_are_made(site: Browser, watched: Watched, provider: Gated) -> None:
    provider.gate.clear()
    page = watched.visit(site, "/health")
    page.get_by_role("button", name="Sync now").click()
    expect(page.locator("#live output")).to_have_text(re.compile("^0 of [1-9]"))
    provider.gate.set()
    expect(page.locator("#live output")).to_have_text(re.compile(r"^(\d+) of \1 passages have vectors$"))


def test_the_events_end_when_nothing_is_pending(site: Browser, watched: Watched) -> None:
    page = watched.page
    page.add_init_script("EventSource.prototype.close = function () { document.body.dataset.closed = 1 }")
    with page.expect_request_finished(lambda request: request.url.endswith("/events")) as ended:
        sync(watched.visit(site, "/health"))
    assert ended.value.failure is None, "the server ends the stream, which the page only asked to close"
    expect(page.locator("body")).to_have_attribute("data-closed", "1")


# The program ends, or its index does


@pytest.fixture
def program(workspace: Path) -> Iterator[subprocess.Popen[str]]:
    """The real program, which a test may end."""
    write(workspace, NOTES)
    command = [sys.executable, "-c", MAIN, "web", "--no-browser", "--workspace", str(workspace)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, encoding="utf-8", env=environment({})) as started:
        yield started
        started.kill()


def visit_and_end(watched: Watched, program: subprocess.Popen[str], path: str) -> Page:
    """Open a page of the program, and end it."""
    assert program.stdout is not None
    address = program.stdout.readline().split()[-1]
    watched.page.goto(address)
    expect(watched.page.locator("#q")).to_be_focused()
    watched.page.goto(address.partition("/?")[0] + path)
    program.kill()
    program.wait()
    return watched.page


def test_typing_when_the_program_has_ended_says_so(program: subprocess.Popen[str], watched: Watched) -> None:
    page = visit_and_end(watched, program, "/")
    page.locator("#q").press_sequentially("sch")
    expect(page.get_by_role("alert")).to_contain_text("The program behind this page has ended.")
    expect(page.locator("#q")).to_have_value("sch")
    watched.allow_refusals()


def test_saving_when_the_program_has_ended_keeps_the_text(
    program: subprocess.Popen[str], watched: Watched
) -> None:
    page = visit_and_end(watched, program, f"/note/{TEAM}?edit=1")
    page.get_by_label("Text of the note").fill("# Mine\n")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("alert")).to_contain_text("The program behind this page has ended.")
    expect(page.get_by_label("Text of the note")).to_have_value("# Mine\n")
    watched.allow_refusals()


def test_leaving_a_text_that_could_not_be_sent_asks_first(
    program: subprocess.Popen[str], watched: Watched
) -> None:
    page = visit_and_end(watched, program, f"/note/{TEAM}?edit=1")
    page.get_by_label("Text of the note").press_sequentially("x")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("alert")).to_be_visible()
    page.goto("about:blank")
    assert len(watched.dialogs) == 1
    watched.allow_refusals()


def test_the_next_search_answers_after_the_index_was_deleted(
    site: Browser, watched: Watched, workspace: Path
) -> None:
    page = watched.visit(site, "/?q=Rome")
    expect(page.locator(".hits")).to_contain_text("Anna left for Rome.")
    for name in ("index.sqlite", "index.sqlite-wal", "index.sqlite-shm"):
        (workspace / ".memory" / name).unlink(missing_ok=name != "index.sqlite")
    page.locator("#q").fill("Lisbon")
    expect(page.locator(".hits")).to_contain_text("The office is in Lisbon.")


# Everyone, on every screen

PAGES = {
    "search": "/?q=Anna",
    "nothing": "/?q=xylophone",
    "lately": "/",
    "note": f"/note/{TEAM}?line=3&cuts=1#L3",
    "edit": f"/note/{TEAM}?edit=1",
    "history": f"/history/{DATABASE}",
    "remember": "/remember",
    "forget": "/forget?what=Anna",
    "undo": "/undo",
    "timeline": "/timeline",
    "map": "/map?x=300&y=300",
    "facts": "/facts",
    "sessions": "/sessions",
    "session": f"/sessions/{TALK}?line=2",
    "tidy": "/tidy",
    "blame": "/blame",
    "shown": "/blame/one",
    "health": "/health",
    "error": "/timeline?day=never",
}
CHECK = """async () => (await axe.run({resultTypes: ["violations"]})).violations
  .filter((one) => ["serious", "critical"].includes(one.impact))
  .map((one) => `${one.id}: ${one.nodes.map((node) => node.html).join(" ")}`)"""


@pytest.fixture(scope="module")
def axe() -> str:
    folder = install("axe-core", "4.14.0")
    return (folder / "node_modules/axe-core/axe.min.js").read_text(encoding="utf-8")


@pytest.fixture
def filled(site: Browser, watched: Watched) -> Browser:
    """A memory in which every page has something to show."""
    site.post("/tidy", action="propose")
    sync(watched.visit(site, "/health"))
    return site


def open_all(watched: Watched, site: Browser) -> Iterator[tuple[str, Page]]:
    """Open one page after the other, with everything that can be unfolded."""
    for name, path in PAGES.items():
        page = watched.visit(site, path)
        page.evaluate("() => document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        yield name, page
    watched.errors[:] = [one for one in watched.errors if "400 (Bad Request)" not in one]  # of the error page


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_page_keeps_anyone_out(filled: Browser, watched: Watched, axe: str, scheme: str) -> None:
    watched.page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    found = {}
    for name, page in open_all(watched, filled):
        page.evaluate(axe)
        found[name] = page.evaluate(CHECK)
    assert found == {name: [] for name in PAGES}


def test_no_page_is_wider_than_a_phone(filled: Browser, watched: Watched) -> None:
    watched.page.set_viewport_size({"width": 390, "height": 800})
    wide = "() => document.documentElement.scrollWidth > innerWidth"
    assert [name for name, page in open_all(watched, filled) if page.evaluate(wide)] == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_menu_on_a_phone_is_whole_and_ends_where_the_page_begins(
    site: Browser, watched: Watched, scheme: str
) -> None:
    watched.page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    watched.page.set_viewport_size({"width": 390, "height": 800})
    page = watched.visit(site, "/?q=xylophone")
    empty, cut = page.evaluate(
        """() => {
          const menu = document.querySelector(".rail nav"), page = document.querySelector("main");
          const empty = page.getBoundingClientRect().top - menu.getBoundingClientRect().bottom;
          return [empty, menu.scrollWidth - menu.clientWidth];
        }"""
    )
    assert empty < 20
    assert cut == 0


# The export

KEY = "sk-ant-api03-" + "Ab1" * 31
HOSTILE = f"""# Hostile

<script>document.title = "ran"</script>
<img src="http://evil.example/x.png" onerror="document.title = 'ran'">
[link](javascript:document.title='ran') ![picture](http://evil.example/y.png)
The key is {KEY} of the deploy.
"""


@pytest.fixture
def exported(workspace: Path, cli: Cli, watched: Watched, tmp_path: Path) -> Page:
    """The page that holds all notes, opened from the disk."""
    write(workspace, {**NOTES, "memory/hostile.md": HOSTILE})
    file = tmp_path / "notes.html"
    assert cli("export", "--html", file, "--workspace", workspace).code == 0
    watched.page.goto(file.as_uri())
    watched.foreign.remove(file.as_uri())
    return watched.page


def test_an_exported_page_is_searched(exported: Page) -> None:
    exported.get_by_label("Search the notes").press_sequentially("runbooks team")
    expect(exported.locator("#count")).to_have_text("2 lines")
    expect(exported.locator("#results .citation").first).to_have_text("MEMORY.md#L5")


def test_a_hit_of_an_exported_page_opens_the_note(exported: Page) -> None:
    exported.get_by_label("Search the notes").fill("daily")
    exported.locator("#results .citation").click()
    expect(exported.locator("details[open] .here")).to_have_text("- The *daily* is at ten.")
    expect(exported.locator("details[open] .rendered em")).to_have_text("daily")


def test_nothing_that_a_note_holds_runs_in_an_exported_page(exported: Page, workspace: Path) -> None:
    exported.locator("summary", has_text="hostile.md").click()
    expect(exported.locator("details[open] .rendered")).to_contain_text("<script>")
    expect(exported.locator("details[open] a[href^='javascript']")).to_have_count(0)
    expect(exported.locator("img")).to_have_count(0)
    expect(exported).to_have_title(workspace.name)


def test_an_exported_page_holds_no_key(exported: Page) -> None:
    assert (KEY in exported.content(), "of the deploy." in exported.content()) == (False, True)

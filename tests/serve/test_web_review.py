"""The pages on which a person reviews what agents did: facts, conversations, tidying and blame."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from urllib.parse import urlencode

import pytest

from memlines import Memory
from memlines.files.shown import ShownLine
from memlines.memory.recording import record
from memlines.paths import Workspace
from memlines.settings import load
from memlines.text.facts import Fact
from tests.memories import WORDS_ONLY, write
from tests.serve.web import Browser, browsing
from tests.transcripts.records import HEADER, assistant, jsonl, user

KESTREL, HERON, OWL = "kestrel2aa", "heron2aaaa", "owl2aaaaaa"
FACTS = (
    Fact(KESTREL, "Prefers kestrels over herons.", "preference", created=date(2026, 5, 1)),
    Fact(HERON, "The heron <b>waits</b> at the weir.", "fact", source="capture codex 01ab"),
    Fact(OWL, "The owl lives in Bonn.", "fact", struck=True, until=date(2026, 4, 1), superseded_by=HERON),
)
TALK = "sessions/2026-05-01.jsonl"
WITH_SESSIONS = {"sources": ["memory", "sessions"]}
SAME = "- Anna reviews every schema change.\n"
TEAM = "memory/team.md"


def facts_of(folder: Path) -> dict[str, Fact]:
    """Return the facts of a memory by their ids."""
    with Memory(folder, WORDS_ONLY) as memory:
        return {line.fact.id: line.fact for line in memory.facts.list(current=False)}


def add_facts(folder: Path, *facts: Fact) -> None:
    with Memory(folder, WORDS_ONLY) as memory:
        memory.facts.add_all(facts)


def rows(text: str) -> list[str]:
    """Return the ids of the facts that a page lists."""
    return re.findall(r'<li id="([^"]+)">', text)


@pytest.fixture
def facts(workspace: Path) -> Iterator[Browser]:
    add_facts(workspace, *FACTS)
    with browsing(workspace) as browser:
        yield browser


# Facts


def note_of(workspace: Path) -> str:
    return (workspace / TEAM).read_text(encoding="utf-8")


def test_facts_that_hold_are_listed_newest_first(facts: Browser) -> None:
    assert rows(facts.get("/facts").text) == [KESTREL, HERON]


def test_the_text_of_a_fact_is_escaped(facts: Browser) -> None:
    assert "The heron &lt;b&gt;waits&lt;/b&gt; at the weir." in facts.get("/facts").text


def test_a_captured_fact_names_its_client_and_session(facts: Browser) -> None:
    assert "Captured from codex 01ab" in facts.get("/facts").text


def test_a_fact_shows_what_it_took_the_place_of(facts: Browser) -> None:
    assert "It took the place of: The owl lives in Bonn." in facts.get("/facts").text


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("review=1", [HERON]),
        ("past=1", [KESTREL, OWL, HERON]),
        ("category=preference", [KESTREL]),
        ("q=WEIR", [HERON]),
        ("q=nothing+like+it", []),
        ("page=99999999999999999999", [KESTREL, HERON]),
    ],
)
def test_facts_are_filtered(facts: Browser, query: str, found: list[str]) -> None:
    assert rows(facts.get(f"/facts?{query}").text) == found


def test_facts_are_shown_in_pages(workspace: Path) -> None:
    add_facts(workspace, *(Fact("", f"Bird {n} weighs {n * 7919} grams.") for n in range(101)))
    with browsing(workspace) as browser:
        first, second = browser.get("/facts?past=1").text, browser.get("/facts?past=1&page=2").text
    assert (len(rows(first)), len(rows(second)), "?past=1&amp;page=2" in first) == (100, 1, True)


def test_keeping_a_fact_marks_it_as_reviewed(facts: Browser, workspace: Path) -> None:
    facts.post(f"/facts/{HERON}", action="review")
    assert facts_of(workspace)[HERON].reviewed


def test_after_keeping_the_same_filters_are_shown(facts: Browser) -> None:
    form = urlencode({"action": "review", "back": "q=weir&past=1&evil=//x"}).encode()
    page = facts.request("POST", f"/facts/{HERON}", form)
    assert (page.status, page.headers["Location"]) == (303, f"/facts?q=weir&past=1#{HERON}")


def test_an_address_to_go_back_to_leads_nowhere_else(facts: Browser) -> None:
    page = facts.request("POST", f"/facts/{HERON}", b"action=review&back=//evil.example/?q=1")
    assert page.headers["Location"] == f"/facts?#{HERON}"


def test_changing_the_words_of_a_captured_fact_reviews_it(facts: Browser, workspace: Path) -> None:
    facts.post(f"/facts/{HERON}", action="edit", text="The heron left.")
    changed = facts_of(workspace)[HERON]
    assert (changed.text, changed.reviewed) == ("The heron left.", True)


def test_one_undo_brings_the_words_and_the_review_back(facts: Browser, workspace: Path) -> None:
    facts.post(f"/facts/{HERON}", action="edit", text="The heron left.")
    facts.post("/undo")
    assert (facts_of(workspace)[HERON].text, facts_of(workspace)[HERON].reviewed) == (FACTS[1].text, False)


def test_forgetting_a_fact_asks_first(facts: Browser, workspace: Path) -> None:
    page = facts.post(f"/facts/{HERON}", action="forget")
    assert ("It cannot be undone" in page.text, HERON in facts_of(workspace)) == (True, True)


def test_a_fact_is_forgotten_for_good(facts: Browser, workspace: Path) -> None:
    page = facts.post(f"/facts/{HERON}", action="forget", sure="1", was=FACTS[1].text)
    assert ("Forgotten for good" in page.text, HERON in facts_of(workspace)) == (True, False)


def test_a_fact_that_was_changed_meanwhile_is_not_forgotten(facts: Browser, workspace: Path) -> None:
    page = facts.post(f"/facts/{HERON}", action="forget", sure="1", was="The heron sleeps.")
    assert (page.status, HERON in facts_of(workspace)) == (409, True)


@pytest.mark.parametrize(("name", "action"), [(HERON, "burn"), ("aaaaaaaaaa", "review"), ("..", "forget")])
def test_what_cannot_be_done_to_a_fact_is_refused(facts: Browser, name: str, action: str) -> None:
    assert facts.post(f"/facts/{name}", action=action, sure="1").status == 400


def test_a_personal_fact_is_changed_in_the_personal_memory(workspace: Path) -> None:
    write(workspace, {"birds.md": "- A kestrel\n"})
    with Memory(workspace, WORDS_ONLY) as memory:
        memory.begin_personal().facts.add_all(FACTS[1:2])
    add_facts(workspace, FACTS[1])  # of the same id
    with browsing(workspace) as browser:
        assert rows(browser.get("/facts").text) == [HERON, f"personal:{HERON}"]
        browser.post(f"/facts/personal:{HERON}", action="edit", text="The heron left.")
        text = browser.get("/facts?q=left").text
    assert (rows(text), facts_of(workspace)[HERON].text) == ([f"personal:{HERON}"], FACTS[1].text)


# Conversations


@pytest.fixture
def talk(workspace: Path) -> Iterator[Browser]:
    said = [user("My kestrel is called <i>Ada</i>."), *(assistant(f"Answer {n}") for n in range(3, 30))]
    (workspace / "sessions").mkdir()
    (workspace / TALK).write_text(jsonl(HEADER, *said, user("x" * 30_000)), encoding="utf-8")
    with browsing(workspace, WITH_SESSIONS) as browser:
        yield browser


def test_conversations_are_listed_with_their_state(talk: Browser) -> None:
    text = talk.get("/sessions").text
    assert (f'href="/sessions/{TALK}"' in text, "not yet" in text) == (True, True)


def test_without_sessions_the_page_says_how_to_switch_them_on(workspace: Path) -> None:
    with browsing(workspace) as browser:
        assert "Set sources to [memory, sessions]" in browser.get("/sessions").text


def test_a_conversation_marks_the_turn_of_a_line(talk: Browser) -> None:
    text = talk.get(f"/sessions/{TALK}?line=12").text
    marked = re.findall(r'class="turn (\w+) here" id="L(\d+)"', text)
    assert (marked, len(re.findall("<article", text))) == ([("assistant", "12")], 11)


def test_a_conversation_leads_to_what_is_before_and_after(talk: Browser) -> None:
    text = talk.get(f"/sessions/{TALK}?line=12").text
    assert ("?line=12&amp;around=20#L12" in text, f"{TALK}?from=18" in text) == (True, True)


def test_what_was_said_is_escaped(talk: Browser) -> None:
    assert "My kestrel is called &lt;i&gt;Ada&lt;/i&gt;." in talk.get(f"/sessions/{TALK}").text


def test_a_long_turn_is_cut(talk: Browser) -> None:
    text = talk.get(f"/sessions/{TALK}?line=30").text
    assert ("10,000 characters more" in text, "x" * 20_001 in text) == (True, False)


@pytest.mark.parametrize(
    ("address", "status"),
    [("sessions/none.jsonl", 404), ("../../etc/passwd", 404), (f"{TALK}?line=9999", 400)],
)
def test_a_conversation_that_cannot_be_shown_is_an_error(talk: Browser, address: str, status: int) -> None:
    assert talk.get(f"/sessions/{address}").status == status


# Tidying


@pytest.fixture
def tidy(workspace: Path) -> Iterator[Browser]:
    write(workspace, {"MEMORY.md": f"# Memory\n\n{SAME}", TEAM: f"# Team\n\n{SAME}- Karl writes <b>.\n"})
    with browsing(workspace) as browser:
        yield browser


def propose(browser: Browser) -> str:
    """Make a proposal and return the id of its only item."""
    (name,) = re.findall(r'name="chosen" value="(\w+)"', browser.post("/tidy", action="propose").text)
    return str(name)


def test_without_a_proposal_one_can_be_made(tidy: Browser) -> None:
    text = tidy.get("/tidy").text
    assert ("There is no proposal.</p>" in text, 'value="propose"' in text) == (True, True)


def test_an_item_shows_why_its_lines_and_what_changes(tidy: Browser) -> None:
    propose(tidy)
    text = tidy.get("/tidy").text
    assert f"MEMORY.md#L3 says what {TEAM}#L3 says" in text
    assert f'<span class="hunk">@@ {TEAM}#L3 @@' in text
    assert '<span class="removed">-- Anna reviews every schema change.' in text
    assert f'data-row href="/note/{TEAM}?line=3#L3"' in text


def test_an_applied_item_changes_the_note(tidy: Browser, workspace: Path) -> None:
    name = propose(tidy)
    text = tidy.post("/tidy", action="apply", chosen=[name]).text
    assert (f"Applied {name}" in text, SAME in note_of(workspace)) == (
        True,
        False,
    )
    assert "There is nothing to tidy." in text


def test_an_item_whose_lines_changed_is_refused_with_the_reason(tidy: Browser, workspace: Path) -> None:
    name = propose(tidy)
    write(workspace, {TEAM: "# Team\n"})
    assert (
        f"{name} was refused: its lines are not in" in tidy.post("/tidy", action="apply", chosen=[name]).text
    )


def test_a_declined_item_is_not_shown_again(tidy: Browser) -> None:
    name = propose(tidy)
    assert name not in tidy.post("/tidy", action="decline", chosen=[name]).text


def test_an_undo_is_shown_before_it_is_done(tidy: Browser, workspace: Path) -> None:
    tidy.post("/tidy", action="apply", chosen=[propose(tidy)])
    text = tidy.post("/tidy", action="undo").text
    assert ("This undoes" in text, SAME in note_of(workspace)) == (True, False)


def test_what_was_applied_is_undone(tidy: Browser, workspace: Path) -> None:
    tidy.post("/tidy", action="apply", chosen=[propose(tidy)])
    text = tidy.post("/tidy", action="undo", sure="1").text
    assert ("Undone what was applied" in text, SAME in note_of(workspace)) == (
        True,
        True,
    )


def test_the_words_of_a_model_are_applied_if_chosen(workspace: Path) -> None:
    logs = {f"memory/2026-04-0{day}.md": "- 10:00 The VPN must be up before a deploy.\n" for day in (1, 2, 3)}
    write(workspace, {"MEMORY.md": "# Memory\n", **logs})
    with Memory(workspace, WORDS_ONLY) as memory:
        (item,) = memory.tidy.propose().items
        memory.tidy.word({item.id: "Deploys need the VPN."})
    with browsing(workspace) as browser:
        browser.post("/tidy", action="apply", chosen=[item.id], worded=[item.id])
    assert "Deploys need the VPN." in (workspace / "MEMORY.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "form", [{"action": "apply"}, {"action": "burn"}, {"action": "decline", "chosen": "no"}]
)
def test_a_form_that_makes_no_sense_is_refused(tidy: Browser, form: dict[str, str]) -> None:
    propose(tidy)
    assert tidy.post("/tidy", **form).status == 400


# What agents were shown


@pytest.fixture
def shown(workspace: Path) -> Iterator[Browser]:
    write(workspace, {TEAM: f"# Team\n\n{SAME}- Karl writes <b>.\n"})
    place = Workspace.at(workspace)
    lines = [ShownLine(f"{TEAM}#L3", score=0.5), ShownLine(f"{TEAM}#L4", score=0.4)]
    for session, query in (("one/x", "who <reviews>?"), ("two", "")):
        record(place, load(place).settings, "search", lines, session=session, client="codex", query=query)
    with browsing(workspace) as browser:
        yield browser


def test_sessions_that_were_shown_lines_are_listed(shown: Browser) -> None:
    assert re.findall(r'href="/blame/([^"]+)"', shown.get("/blame").text) == ["two", "one/x"]


def test_a_session_shows_its_lines_where_they_are_now(shown: Browser, workspace: Path) -> None:
    write(workspace, {TEAM: f"# Team\n\nNew.\n\n{SAME}"})
    text = shown.get("/blame/one/x").text
    assert "who &lt;reviews&gt;?" in text
    assert f'{TEAM}#L5</a> <span class="quiet">was {TEAM}#L3' in text
    assert re.search(rf'{TEAM}#L4</span></td><td><span class="tag">gone', text)


@pytest.mark.parametrize(("line", "count"), [(f"{TEAM}%23L3", 2), (TEAM, 4), ("memory/none.md", 0)])
def test_lines_or_a_note_name_the_answers_that_showed_them(shown: Browser, line: str, count: int) -> None:
    assert len(re.findall("data-row", shown.get(f"/blame?line={line}").text)) == count


def test_a_session_that_is_not_known_is_an_error(shown: Browser) -> None:
    assert shown.get("/blame/three").status == 400


@pytest.mark.parametrize("page", ["facts", "sessions", "tidy", "blame"])
def test_an_empty_memory_has_every_page(workspace: Path, page: str) -> None:
    with browsing(workspace) as browser:
        assert browser.get(f"/{page}").status == 200


@pytest.mark.parametrize("page", ["facts", "tidy"])
def test_opening_a_page_changes_nothing(workspace: Path, page: str) -> None:
    with browsing(workspace) as browser:
        browser.get(f"/{page}?action=propose&chosen=x&sure=1")
    assert not (workspace / ".memory/tidy").exists()

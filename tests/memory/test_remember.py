"""Remembering: where a text goes, how it stands there, and how it is read back."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlines.errors import PathError, SettingsError, UsageError
from memlines.files.tombstones import Forgotten, bury
from memlines.memory.notes.entries import (
    block_of,
    body_of,
    one_line,
    session_mark,
    session_of,
    sessions_in,
    slug_of,
    usable_text,
)
from memlines.memory.notes.remember import Remembered, remember, remember_all
from memlines.paths import Workspace
from memlines.settings import Settings, load
from memlines.text.entries import entries_of
from tests.agent.messages import TOKEN
from tests.memories import write
from tests.memory.managers import manager_of

NOW = datetime(2026, 11, 16, 14, 32, tzinfo=UTC)
DAY = "memory/2026-11-16.md"
IN_UTC = Settings(timezone="UTC")


@pytest.fixture
def home(workspace: Path) -> Workspace:
    return Workspace.at(workspace)


def keep(
    home: Workspace,
    text: str,
    *,
    topic: str | None = None,
    session: str | None = None,
    to: str | None = None,
    now: datetime = NOW,
    force: bool = False,
) -> Remembered:
    return remember(
        manager_of(home),
        text,
        topic=topic,
        session=session,
        to=to,
        now=now,
        force=force,
    )


def text_of(home: Workspace, path: str = DAY) -> str:
    return (home.root / path).read_bytes().decode()


def cited(home: Workspace, kept: Remembered) -> str:
    return "\n".join(text_of(home, kept.path).split("\n")[kept.start_line - 1 : kept.end_line])


def notes_of(home: Workspace) -> list[str]:
    return sorted(file.relative_to(home.root).as_posix() for file in home.root.rglob("*.md"))


# The daily log


def test_a_text_goes_into_the_daily_log_with_its_time(home: Workspace) -> None:
    kept = keep(home, "We chose Postgres 17")
    assert (kept, text_of(home)) == (
        Remembered(DAY, 3, 3, created=True),
        "# 2026-11-16\n\n- 14:32 We chose Postgres 17\n",
    )


def test_it_is_cited_as_lines(home: Workspace) -> None:
    assert keep(home, "one\ntwo").citation == f"{DAY}#L3-L4"


def test_the_log_goes_on_as_one_list(home: Workspace) -> None:
    keep(home, "one")
    keep(home, "two", now=NOW + timedelta(minutes=1))
    assert text_of(home) == "# 2026-11-16\n\n- 14:32 one\n- 14:33 two\n"


def test_daily_can_be_said(home: Workspace) -> None:
    assert keep(home, "one", to="daily").path == DAY


def test_the_log_can_be_named_by_its_path(home: Workspace) -> None:
    assert cited(home, keep(home, "one", to=f"./{DAY}")) == "- 14:32 one"


def test_a_topic_is_told_in_the_log_if_the_log_is_asked_for(home: Workspace) -> None:
    assert (
        cited(home, keep(home, "Postgres 17", to="daily", topic="billing")) == "- 14:32 billing: Postgres 17"
    )


def test_the_folder_of_notes_is_made(tmp_path: Path) -> None:
    assert keep(Workspace.at(tmp_path), "one").created


# The user's time zone


def test_the_day_is_that_of_the_zone_in_the_settings(home: Workspace) -> None:
    tokyo = manager_of(home, Settings(timezone="Asia/Tokyo"))
    kept = remember(tokyo, "late", now=datetime(2026, 11, 16, 15, 5, tzinfo=UTC))
    assert cited(home, kept) == "- 00:05 late"
    assert kept.path == "memory/2026-11-17.md"


def test_without_a_zone_it_is_that_of_the_machine(home: Workspace) -> None:
    local = NOW.astimezone()
    kept = remember(manager_of(home, Settings()), "here", now=NOW)
    assert kept.path == f"memory/{local.date().isoformat()}.md"
    assert cited(home, kept) == f"- {local:%H:%M} here"


def test_without_a_time_it_is_now(home: Workspace) -> None:
    before = datetime.now(UTC).date().isoformat()
    kept = remember(manager_of(home), "now")
    assert kept.path in (f"memory/{before}.md", f"memory/{datetime.now(UTC).date().isoformat()}.md")


@pytest.mark.parametrize("zone", ["Mars/Olympus", "", "America", "../etc/passwd", "Europe/Amsterdam\n"])
def test_an_unknown_zone_is_an_error_and_nothing_is_written(home: Workspace, zone: str) -> None:
    with pytest.raises(SettingsError, match="timezone"):
        remember(manager_of(home, Settings(timezone=zone)), "text", now=NOW)
    assert notes_of(home) == []


def test_the_zone_can_be_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMLINES_TIMEZONE", "Europe/Amsterdam")
    assert load().settings.timezone == "Europe/Amsterdam"


@pytest.mark.parametrize("zone", ["America/Santiago", "Africa/Cairo", "Asia/Beirut", "Europe/Lisbon"])
def test_no_hour_of_a_year_is_without_a_day(zone: str) -> None:
    """Some of these zones change their clocks at midnight."""
    from memlines.memory.notes.entries import local_now

    start = datetime(2026, 1, 1, tzinfo=UTC)
    days = {local_now(Settings(timezone=zone), start + timedelta(hours=n)).date() for n in range(8760)}
    assert len(days) in (365, 366)


# How a text stands in a note


@pytest.mark.parametrize(
    ("text", "block"),
    [
        ("one\ntwo\n\nthree", "- 14:32 one\n  two\n\n  three"),
        ("Steps:\n- a\n  - b\n- c", "- 14:32 Steps:\n  - a\n    - b\n  - c"),
        ("- a\n- b", "- 14:32\n  - a\n  - b"),
        ("1. a\n2. b", "- 14:32\n  1. a\n  2. b"),
        ("3. c", "- 14:32\n\n  3. c"),
        ("> quoted", "- 14:32\n  > quoted"),
        ("| a | b |\n|---|---|", "- 14:32\n\n  | a | b |\n  |---|---|"),
        ("---\ntext", "- 14:32\n\n  ---\n  text"),
        ("# Title\ntext", "- 14:32\n    # Title\n    text"),
        ("text\n# Title", "- 14:32 text\n    # Title"),
        ("```py\nx = 1\n```", "- 14:32\n    ```py\n    x = 1\n    ```"),
        ("    indented", "- 14:32\n\n      indented"),
        ("**bold** and `code`", "- 14:32 **bold** and `code`"),
        ("3.5 litres", "- 14:32 3.5 litres"),
        ("#tag first", "- 14:32 #tag first"),
        ("one  \ntwo", "- 14:32 one  \n  two"),
    ],
)
def test_the_form_of_an_entry(text: str, block: str) -> None:
    assert block_of("14:32", text) == block


def test_line_ends_become_plain(home: Workspace) -> None:
    assert cited(home, keep(home, "\r\n a\r\nb\rc\r\n\r\n")) == "- 14:32\n\n   a\n  b\n  c"


def test_an_open_code_block_is_closed_in_its_entry(home: Workspace) -> None:
    keep(home, "```\nnever closed")
    keep(home, "after it")
    assert text_of(home).endswith("    ```\n    never closed\n    ```\n- 14:32 after it\n")


@pytest.mark.parametrize(
    "text", ["# Other\ntext", "a\n## Other", "a\n\n  # Other", "```\n# Other", "- ```\n  # Other"]
)
def test_a_text_opens_no_section_of_the_note(home: Workspace, text: str) -> None:
    keep(home, text)
    keep(home, "after it")
    *_, last = entries_of(text_of(home))
    assert (last.text, last.heading) == ("- 14:32 after it", "2026-11-16")


@pytest.mark.parametrize(
    "text", ["", " \n\t\r\n", "a\0b", "half a pair: \ud800", "x" * 100_001], ids=lambda text: repr(text[:12])
)
def test_what_cannot_be_remembered_is_refused(home: Workspace, text: str) -> None:
    with pytest.raises(UsageError):
        keep(home, text)
    assert notes_of(home) == []


def test_a_long_text_is_remembered(home: Workspace) -> None:
    assert keep(home, "x" * 100_000).created


# Sessions


def test_a_session_stands_at_the_end_of_the_line(home: Workspace) -> None:
    assert cited(home, keep(home, "one", session="abc-123")) == "- 14:32 one [session abc-123]"


def test_a_text_of_several_lines_stands_below_the_session(home: Workspace) -> None:
    assert cited(home, keep(home, "one\ntwo", session="s1")) == "- 14:32 [session s1]\n  one\n  two"


AWKWARD = [
    "<!-- /session -->",
    "a\n<!-- /session -->\nb",
    "```\nopen",
    "# T\n\ntext",
    "- a\n- b",
    "<!-- x",
    "1. ```",
]


def test_texts_that_are_written_together_are_cited_and_belong_to_their_session(home: Workspace) -> None:
    keep(home, "before")
    done = remember_all(manager_of(home), [(text, NOW) for text in AWKWARD], session="s1")
    after = keep(home, "after")
    owned = {(entry.first, entry.last): session for entry, session in sessions_in(text_of(home))}
    assert owned == {(one.start_line, one.end_line): "s1" for one in done if one}
    assert [body_of(cited(home, one)) for one in done if one] == [usable_text(text) for text in AWKWARD]
    assert cited(home, after) == "- 14:32 after"


def test_a_text_with_a_secret_is_left_out_of_those_that_are_written(home: Workspace) -> None:
    said = [("one", NOW), (f"the token is {TOKEN}", NOW), ("two", NOW)]
    done = remember_all(manager_of(home), said)
    assert ([one and one.citation for one in done]) == [f"{DAY}#L3", None, f"{DAY}#L4"]
    assert TOKEN not in text_of(home)


def test_what_was_forgotten_and_is_written_again_with_others_is_no_longer_forgotten(home: Workspace) -> None:
    said = ["the vault in Lyon opens at nine", "the vault in Nice opens at ten"]
    bury(home, said)
    remember_all(manager_of(home), [(text, NOW) for text in said])
    assert [Forgotten.load(home).drops(text) for text in said] == [False, False]


@pytest.mark.parametrize("text", ["one", "one\ntwo", "- a\n- b", "```\ncode\n```"])
def test_the_session_can_be_read_again(text: str) -> None:
    block = block_of("14:32", text, session_mark(" agent:main:7 "))
    assert (session_of(block), session_of(block_of("14:32", text))) == ("agent:main:7", None)


@pytest.mark.parametrize("session", ["", "  ", "a\nb", "a\0", "\ud800", "x" * 201, "a]b", "[a"])
def test_a_session_that_cannot_be_named_is_refused(home: Workspace, session: str) -> None:
    with pytest.raises(UsageError, match="session"):
        keep(home, "text", session=session)
    assert notes_of(home) == []


# Topics


def test_a_new_topic_gets_a_note(home: Workspace) -> None:
    kept = keep(home, "Postgres 17", topic="Billing service")
    assert (kept.path, kept.created) == ("memory/billing-service.md", True)
    assert text_of(home, kept.path) == "# Billing service\n\n- 2026-11-16: Postgres 17\n"


@pytest.mark.parametrize(
    "topic", ["billing service", " BILLING\tService ", "billing-service", "billing_service"]
)
def test_a_topic_is_the_same_however_it_is_written(home: Workspace, topic: str) -> None:
    keep(home, "one", topic="Billing service")
    assert keep(home, "two", topic=topic) == Remembered("memory/billing-service.md", 4, 4)


def test_a_note_of_that_name_is_used_wherever_it_is(home: Workspace) -> None:
    write(home.root, {"memory/errors/Error codes.md": "text\n", "memory/other.md": "# Error codes\n"})
    assert keep(home, "E42", topic="error-codes").path == "memory/errors/Error codes.md"


def test_a_note_of_that_title_is_used(home: Workspace) -> None:
    write(home.root, {"memory/people/anke.md": "---\ntags: x\n---\n# Anke's knee\n"})
    assert keep(home, "better", topic="anke's KNEE").path == "memory/people/anke.md"


def test_a_heading_of_the_main_note_is_used(home: Workspace) -> None:
    write(home.root, {"MEMORY.md": "# Memory\n\n## Family\n- Ben\n\n## Work\n- x\n"})
    kept = keep(home, "Mara", topic="family")
    assert (kept.path, cited(home, kept)) == ("MEMORY.md", "- 2026-11-16: Mara")
    assert text_of(home, "MEMORY.md").startswith(
        "# Memory\n\n## Family\n- Ben\n- 2026-11-16: Mara\n\n## Work"
    )


def test_a_note_goes_before_a_heading(home: Workspace) -> None:
    write(home.root, {"MEMORY.md": "## Family\n", "memory/family.md": ""})
    assert keep(home, "Mara", topic="family").path == "memory/family.md"


def test_an_extra_path_is_not_written_to(home: Workspace, tmp_path: Path) -> None:
    write(tmp_path, {"../extra/billing.md": "# Billing\n"})
    settings = replace(IN_UTC, extra_paths=(str(tmp_path.parent / "extra"),))
    assert remember(manager_of(home, settings), "text", topic="billing", now=NOW).path == "memory/billing.md"


@pytest.mark.parametrize("topic", ["", " ", "!!!", "\0", "a\x1bb", "x" * 101, "\ud800", "2026-11-16", "#"])
def test_what_cannot_be_a_topic_is_refused(home: Workspace, topic: str) -> None:
    with pytest.raises(UsageError):
        keep(home, "text", topic=topic)
    assert notes_of(home) == []


@pytest.mark.parametrize(
    ("topic", "slug"),
    [
        ("Straßenbahn", "strassenbahn"),
        ("Café  crème", "café-crème"),
        ("cafe\u0301", "café"),
        ("東京 オフィス", "東京-オフィス"),
        ("हिन्दी नोट्स", "हिन्दी-नोट्स"),
        ("../../etc/passwd", "etc-passwd"),
        ("C", "c"),
        ("C++", "cplusplus"),
        ("C#", "csharp"),
        ("CON", "topic-con"),
        ("lpt1", "topic-lpt1"),
        ("a:b|c?.", "a-b-c"),
        ("🎉", ""),
    ],
)
def test_the_slug_of_a_topic(topic: str, slug: str) -> None:
    assert slug_of(topic) == slug


@given(st.text(max_size=50))
def test_the_slug_of_a_slug_is_itself(topic: str) -> None:
    assert slug_of(slug_of(topic)) == slug_of(topic)


@given(st.text(min_size=1, max_size=30))
def test_every_topic_is_filed_below_the_notes_or_refused(topic: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        home = Workspace.at(folder)
        try:
            kept = keep(home, "text", topic=topic)
        except UsageError:
            assert notes_of(home) == []
        else:
            assert notes_of(home) == [kept.path] == [f"memory/{slug_of(topic)}.md"]
            assert keep(home, "more", topic=topic).path == kept.path


# A note that is named


def test_the_main_note(home: Workspace) -> None:
    keep(home, "one", to="MEMORY.md")
    assert text_of(home, "MEMORY.md") == "# Memory\n\n- 2026-11-16: one\n"


@pytest.mark.parametrize(("there", "named"), [("memory.md", "MEMORY.md"), ("MEMORY.md", "memory.md")])
def test_the_main_note_is_not_doubled(home: Workspace, there: str, named: str) -> None:
    write(home.root, {there: "# Mine\n"})
    assert keep(home, "one", to=named).path == there


def test_a_topic_is_a_heading_in_a_note_that_is_named(home: Workspace) -> None:
    keep(home, "one", to="MEMORY.md", topic="Billing")
    keep(home, "two", to="MEMORY.md", topic="billing")
    assert text_of(home, "MEMORY.md") == "# Memory\n\n## Billing\n\n- 2026-11-16: one\n- 2026-11-16: two\n"


def test_a_note_is_made(home: Workspace) -> None:
    kept = keep(home, "likes tea", to="memory/people/anna.md")
    assert (kept.created, text_of(home, kept.path)) == (True, "# anna\n\n- 2026-11-16: likes tea\n")


def test_the_log_of_another_day_gets_the_day(home: Workspace) -> None:
    assert cited(home, keep(home, "late", to="memory/2026-11-15.md")) == "- 2026-11-16: late"


@pytest.mark.parametrize("to", ["", "notes.md", "../x.md", "/etc/x.md", "memory/x.txt", "memory/.git/x.md"])
def test_a_path_that_is_no_note_is_refused(home: Workspace, to: str) -> None:
    with pytest.raises(PathError):
        keep(home, "text", to=to)


# Whatever the text is

LINES = st.sampled_from(
    [
        "- a",
        "  - b",
        "1. c",
        "# H",
        "## H 2",
        "```",
        "~~~~",
        "    code",
        "\tx",
        "> q",
        "---",
        "===",
        "| t |",
        "- ```py",
        "",
        "  ",
        "words here",
        "14:32 said",
        "2026-11-16: x",
        "<!-- c",
        "[session z",
        "\x0c",
        "\u2028",
        "* * *",
        "+",
    ]
)
TEXTS = st.one_of(
    st.lists(LINES, min_size=1, max_size=8).map("\n".join),
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=60),
).filter(lambda text: bool(text.strip()))


def stripped(text: str) -> list[str]:
    return [line.strip() for line in usable_text(text).split("\n")]


@given(st.lists(st.tuples(TEXTS, st.sampled_from([None, "s-1"])), min_size=1, max_size=5))
def test_every_remembered_text_is_one_entry_and_can_be_read_back(texts: list[tuple[str, str | None]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        home = Workspace.at(folder)
        kept = [keep(home, text, session=session, force=True) for text, session in texts]
        entries = entries_of(text_of(home))
        spans = [(entry.first, entry.last) for entry in entries[1:]]
        assert spans == [(one.start_line, one.end_line) for one in kept]
        for (text, session), found in zip(texts, entries[1:], strict=True):
            lines = [line.strip() for line in body_of(found.text).split("\n")]
            assert lines == stripped(text)
            assert (found.kind, found.heading, session_of(found.text)) == ("item", "2026-11-16", session)


@given(st.lists(TEXTS, min_size=1, max_size=6))
def test_a_text_is_known_as_soon_as_it_was_remembered(texts: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        home = Workspace.at(folder)
        for text in texts:
            keep(home, text)
            assert keep(home, text).duplicate is not None


@given(st.text(max_size=300))
def test_an_entry_on_one_line_is_one_short_line(text: str) -> None:
    assert len(one_line(text)) <= 200
    assert "\n" not in one_line(text)

"""A flush writes down what should last, once, into the log, and never touches what stands there."""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest

from memlines.agent import snapshot
from memlines.agent.bootstrap import bootstrap
from memlines.agent.flush import MOST, flush
from memlines.errors import UsageError
from memlines.files.tombstones import bury
from memlines.paths import Workspace
from tests.agent.messages import NOW, TODAY, TOKEN, YESTERDAY, assistant, opened, put, text_of, user
from tests.agent.sentences import EVERY

DECIDED = "We decided to use Postgres 17."
OPENING = "<!-- session s1 -->\n"
CLOSING = "<!-- /session s1 -->\n"


def written(workspace: Path, *messages: object) -> list[str]:
    return [entry.text for entry in flush(opened(workspace), messages, now=NOW).written]


def test_what_should_last_is_an_entry_of_the_log(workspace: Path) -> None:
    flush(opened(workspace), [user(DECIDED)], session="s1", now=NOW)
    assert text_of(workspace, TODAY) == f"# 2026-11-16\n\n{OPENING}- 12:00 {DECIDED}\n{CLOSING}"


@pytest.mark.parametrize("language", ["en", "nl", "de", "fr", "es"])
def test_every_decision_that_is_written_is_recalled_as_one(workspace: Path, language: str) -> None:
    labelled = (Path(__file__).parent / "decisions/develop.tsv").read_text(encoding="utf-8").splitlines()
    said = [one.text for one in EVERY if one.language == language and one.role == "user"]
    said += [line.split("\t")[2] for line in labelled if line.startswith(f"{language}\t+")]
    decided: list[str] = []
    with opened(workspace) as memory:
        for text in said:
            done = flush(memory, [user(text)], session="s1", now=NOW)
            decided += [one.citation for one in done.written if {"decision", "intent"} & set(one.why)]
        recalled = [one.citation for one in memory.recall(decisions=True, limit=1000)]
    assert len(decided) >= 5
    assert set(decided) <= set(recalled)


def test_the_session_is_named_around_all_entries_and_each_is_cited_by_its_own_line(
    workspace: Path,
) -> None:
    put(workspace, TODAY, "# My day\n\n- 08:00 tea\n")
    said = [user("I prefer tabs over spaces."), user("TODO: rotate the keys."), user(DECIDED)]
    done = flush(opened(workspace), said, session="s1", now=NOW)
    lines = text_of(workspace, TODAY).split("\n")
    assert [entry.citation for entry in done.written] == [f"{TODAY}#L{number}" for number in (5, 6, 7)]
    assert lines[4:7] == [f"- 12:00 {entry.text}" for entry in done.written]
    assert (lines[3], lines[7:]) == (OPENING.strip(), [CLOSING.strip(), ""])


def test_without_a_session_there_are_no_comments(workspace: Path) -> None:
    flush(opened(workspace), [user(DECIDED)], now=NOW)
    assert text_of(workspace, TODAY) == f"# 2026-11-16\n\n- 12:00 {DECIDED}\n"


@pytest.mark.parametrize("session", ["a--b", "a>b", "<a"])
def test_a_session_whose_name_would_break_a_comment_is_named_in_each_entry(
    workspace: Path, session: str
) -> None:
    flush(opened(workspace), [user(DECIDED)], session=session, now=NOW)
    assert text_of(workspace, TODAY) == f"# 2026-11-16\n\n- 12:00 {DECIDED} [session {session}]\n"


def test_what_is_added_later_stands_behind_the_comments(workspace: Path) -> None:
    memory = opened(workspace)
    flush(memory, [user(DECIDED)], session="s1", now=NOW)
    memory.remember("Tea at four.", now=NOW)
    flush(memory, [user("I prefer tabs over spaces.")], session="s1", now=NOW)
    assert text_of(workspace, TODAY) == (
        f"# 2026-11-16\n\n{OPENING}- 12:00 {DECIDED}\n{CLOSING}- 12:00 Tea at four.\n"
        f"{OPENING}- 12:00 I prefer tabs over spaces.\n{CLOSING}"
    )


def test_each_day_has_its_own_comments(workspace: Path) -> None:
    said = [{**user("TODO: call Hanna tomorrow."), "timestamp": NOW - timedelta(days=1)}, user(DECIDED)]
    done = flush(opened(workspace), said, session="s1", now=NOW)
    assert [entry.citation for entry in done.written] == [f"{YESTERDAY}#L4", f"{TODAY}#L4"]
    assert [text_of(workspace, day).count(OPENING) for day in (YESTERDAY, TODAY)] == [1, 1]


def test_what_is_said_twice_in_other_letters_is_written_once(workspace: Path) -> None:
    said = [user("I prefer tabs over spaces."), user(DECIDED), user("We decided to use *Postgres 17*!")]
    done = flush(opened(workspace), said, session="s1", now=NOW)
    assert [entry.citation for entry in done.written] == [f"{TODAY}#L4", f"{TODAY}#L5"]
    assert [(entry.why[0], entry.citation) for entry in done.skipped] == [("known already", f"{TODAY}#L5")]
    assert text_of(workspace, TODAY).count("Postgres") == 1


def test_the_comments_are_neither_found_nor_recalled_nor_quoted(workspace: Path) -> None:
    memory = opened(workspace)
    flush(memory, [user(DECIDED), user("I prefer tabs over spaces.")], session="zebra", now=NOW)
    flush(memory, [user("TODO: rotate the keys.")], session="zebra", now=NOW)
    assert list(memory.search("zebra session", min_score=0.0)) == []
    found = memory.search("postgres tabs keys", min_score=0.0)
    assert [("<!--" in hit.snippet, hit.start_line, hit.end_line) for hit in found] == [(False, 4, 8)]
    recalled = [one.text for one in memory.recall(recent=True, now=NOW)]
    assert recalled == [
        "- 12:00 TODO: rotate the keys.",
        "- 12:00 I prefer tabs over spaces.",
        f"- 12:00 {DECIDED}",
    ]
    context = bootstrap(memory, now=NOW)
    assert ("zebra" in context.text, "- 12:00 TODO: rotate" in context.text) == (False, True)


def test_an_entry_says_where_it_stands_and_why_it_was_kept(workspace: Path) -> None:
    entry = flush(opened(workspace), [user(DECIDED)], now=NOW).written[0]
    assert (entry.citation, entry.why) == (f"{TODAY}#L3", ("decision",))


def test_talk_leaves_nothing(workspace: Path) -> None:
    assert written(workspace, user("ok, thanks a lot"), assistant("You can use either of them.")) == []


def test_talk_makes_no_file(workspace: Path) -> None:
    flush(opened(workspace), [user("ok, thanks a lot")], now=NOW)
    assert not (workspace / TODAY).exists()


def test_a_reason_stays_with_what_it_explains(workspace: Path) -> None:
    assert written(workspace, user(f"{DECIDED} Because it is boring. Go on.")) == [
        f"{DECIDED} Because it is boring."
    ]


def test_entries_stand_in_the_order_they_were_said(workspace: Path) -> None:
    said = [user("I prefer tabs over spaces."), user("TODO: rotate the keys."), user(DECIDED)]
    assert written(workspace, *said) == ["I prefer tabs over spaces.", "TODO: rotate the keys.", DECIDED]


def test_there_are_at_most_so_many_and_the_rest_is_told(workspace: Path) -> None:
    done = flush(opened(workspace), [user(f"We decided on plan number {n}.") for n in range(30)], now=NOW)
    assert (len(done.written), len(done.skipped)) == (MOST, 30 - MOST)


def test_what_has_more_reasons_goes_first(workspace: Path) -> None:
    said = [user(f"I prefer colour number {n}.") for n in range(20)] + [
        user("Remember that we decided on tea.")
    ]
    assert "Remember that we decided on tea." in written(workspace, *said)


def test_code_and_tool_output_leave_nothing(workspace: Path) -> None:
    said = [
        user(f"```\n{DECIDED}\n```"),
        {"role": "tool", "content": DECIDED},
        {"role": "user", "content": [{"type": "tool_result", "content": DECIDED}]},
    ]
    assert written(workspace, *said) == []


def test_what_the_memory_put_in_is_never_written_back(workspace: Path) -> None:
    put(workspace, "MEMORY.md", f"- {DECIDED}\n- I prefer tabs over spaces.\n")
    memory = opened(workspace)
    snapshot.take(memory, "s0", [user("We decided to move to Utrecht.")], now=NOW)
    injected = [bootstrap(memory, now=NOW).text, snapshot.restored(memory, "s0")]
    messages = [user(text) for text in injected] + [user(f"{injected[0]}\n\nhello"), user(injected[0][:-40])]
    done = flush(opened(workspace), messages, now=NOW)
    assert (done.written, done.skipped) == ((), ())


def test_the_same_messages_are_written_once(workspace: Path) -> None:
    said = [user(f"{DECIDED} I prefer tabs over spaces."), user("TODO: call Hanna tomorrow.")]
    flush(opened(workspace), said, session="s1", now=NOW)
    before = text_of(workspace, TODAY)
    done = flush(opened(workspace), said, session="s1", now=NOW + timedelta(minutes=5))
    assert (done.written, len(done.skipped), text_of(workspace, TODAY)) == ((), 3, before)


def test_the_same_messages_are_written_once_even_a_day_later(workspace: Path) -> None:
    said = [{**user("TODO: call Hanna tomorrow."), "timestamp": NOW}]
    flush(opened(workspace), said, now=NOW)
    assert flush(opened(workspace), said, now=NOW + timedelta(days=1)).written == ()


def test_what_the_notes_hold_is_not_written_again(workspace: Path) -> None:
    put(workspace, "MEMORY.md", f"# Memory\n\n- {DECIDED}\n")
    done = flush(opened(workspace), [user(DECIDED)], now=NOW)
    assert [(entry.why[0], entry.citation) for entry in done.skipped] == [("known already", "MEMORY.md#L3")]


def test_what_was_said_yesterday_goes_into_the_log_of_yesterday(workspace: Path) -> None:
    said = {**user("TODO: call Hanna tomorrow."), "timestamp": NOW - timedelta(days=1)}
    flush(opened(workspace), [said], now=NOW)
    assert "call Hanna tomorrow" in text_of(workspace, YESTERDAY)


def test_a_time_to_come_counts_as_now(workspace: Path) -> None:
    flush(opened(workspace), [{**user(DECIDED), "timestamp": "2099-01-01T00:00:00Z"}], now=NOW)
    assert DECIDED in text_of(workspace, TODAY)


def test_secrets_are_not_written(workspace: Path) -> None:
    flush(opened(workspace), [user(f"Remember that the token is {TOKEN} for now.")], now=NOW)
    assert (TOKEN in text_of(workspace, TODAY), "[redacted:" in text_of(workspace, TODAY)) == (False, True)


def test_what_is_private_is_not_written(workspace: Path) -> None:
    assert written(workspace, user(f"<private>\nI am ill. {DECIDED}\n</private>")) == []


def test_what_was_forgotten_is_not_written_again(workspace: Path) -> None:
    bury(Workspace.at(workspace), [DECIDED])
    assert written(workspace, user(f"{DECIDED} I prefer tabs over spaces.")) == ["I prefer tabs over spaces."]


def test_a_log_that_was_there_is_only_added_to(workspace: Path) -> None:
    put(workspace, TODAY, "# My day\r\n\r\n- tea\r\n\tand\tcake")
    flush(opened(workspace), [user(DECIDED)], now=NOW)
    assert (workspace / TODAY).read_bytes().startswith(b"# My day\r\n\r\n- tea\r\n\tand\tcake")


def test_a_memory_that_is_off_says_so(workspace: Path) -> None:
    done = flush(opened(workspace, enabled=False), [user(DECIDED)], now=NOW)
    assert (done.written, "nothing was written" in done.warnings[0]) == ((), True)


def test_a_session_that_cannot_be_named_is_refused_before_anything_is_written(workspace: Path) -> None:
    with pytest.raises(UsageError, match="name of a session"):
        flush(opened(workspace), [user(DECIDED)], session="a]b", now=NOW)
    assert not (workspace / TODAY).exists()


def test_a_message_of_ten_megabytes_is_read_in_its_beginning_and_told(workspace: Path) -> None:
    done = flush(opened(workspace), [user(DECIDED + "\n" + "word " * 2_000_000)], now=NOW)
    assert ([entry.text for entry in done.written], len(done.warnings)) == ([DECIDED], 1)


def test_ten_thousand_messages_are_no_trouble(workspace: Path) -> None:
    said = [user(f"this is message {n} of many") for n in range(9_999)]
    assert written(workspace, *said, user(DECIDED)) == [DECIDED]


def test_what_is_too_much_for_any_model_is_read_from_its_end_and_told(workspace: Path) -> None:
    said = [user("We decided on coffee."), *[user("word " * 10_000) for _ in range(90)], user(DECIDED)]
    done = flush(opened(workspace), said, now=NOW)
    assert ([entry.text for entry in done.written], "were not read" in done.warnings[-1]) == ([DECIDED], True)


FLUSH = """\
import sys
from pathlib import Path
from memlines.agent.flush import flush
from tests.agent.messages import NOW, opened, user
said = [user(f"We decided on plan number {n}.") for n in range(10)]
print(len(flush(opened(Path(sys.argv[1])), said, now=NOW).written))
"""


def test_two_that_flush_the_same_messages_write_them_once(workspace: Path) -> None:
    root = str(Path(__file__).parents[2])
    started = [
        subprocess.Popen(
            [sys.executable, "-c", FLUSH, str(workspace)],
            stdout=subprocess.PIPE,
            encoding="utf-8",
            env={**os.environ, "PYTHONPATH": root},
        )
        for _ in range(2)
    ]
    counts = [int(process.communicate()[0]) for process in started]
    assert (sum(counts), text_of(workspace, TODAY).count("We decided")) == (10, 10)

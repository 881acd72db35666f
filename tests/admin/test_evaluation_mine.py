"""The private test set is kept beside the index, follows the notes, and loses what is forgotten."""

from __future__ import annotations

import json
import stat
import threading
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from memlines import Memory
from memlines.admin.evaluation import mine
from memlines.admin.evaluation.mine import (
    PrivateSet,
    measure,
    prepare,
    try_settings,
)
from memlines.errors import MemoryOff, StoreBusy, UsageError, WorkspaceError
from memlines.locks import eval_lock
from memlines.memory.status import read_runs
from memlines.paths import HISTORY_FILE, QUESTIONS_FILE, Workspace
from tests.admin.backups import export
from tests.admin.garden import GARDEN
from tests.agent.fake_chat import KEY, ChatServer, chat_server
from tests.memories import WORDS_ONLY, write
from tests.programs import read_only, unprivileged_run

GONE = "- Sungold ripens first behind the kitchen window every summer\n"


def silent(completed: int, total: int, label: str) -> None:
    """Report progress to no one."""


@pytest.fixture
def home(workspace: Path) -> Path:
    write(workspace, GARDEN)
    return workspace


@pytest.fixture
def memory(home: Path) -> Iterator[Memory]:
    with Memory(home, WORDS_ONLY) as opened:
        yield opened


def questions(memory: Memory, count: int = 60, **options: Any) -> PrivateSet:
    return prepare(memory, count, silent, **options)


def kept(home: Path) -> list[dict[str, Any]]:
    lines = (home / ".memory/eval" / QUESTIONS_FILE).read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def answers(home: Path) -> set[str]:
    """Return the lines that the kept questions are about, as the notes hold them now."""
    found = set()
    for row in kept(home):
        (gold,) = row["gold"]
        lines = (home / gold["path"]).read_text(encoding="utf-8").split("\n")
        found.add("\n".join(lines[gold["start"] - 1 : gold["end"]]))
    return found


# The set


def test_the_set_is_private(memory: Memory, home: Path) -> None:
    measure(memory, questions(memory), None, silent)
    folder = home / ".memory/eval"
    modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in (folder, *folder.iterdir())}
    assert modes == {"eval": 0o700, QUESTIONS_FILE: 0o600, HISTORY_FILE: 0o600}
    assert (home / ".memory/.gitignore").read_text(encoding="utf-8") == "*\n"


def test_a_set_is_kept(memory: Memory, home: Path) -> None:
    first = questions(memory)
    before = (home / ".memory/eval" / QUESTIONS_FILE).stat()
    second = questions(memory)
    assert second.labelled == first.labelled
    assert (first.made, second.made) == (len(first.labelled.queries), 0)
    assert (home / ".memory/eval" / QUESTIONS_FILE).stat() == before


def test_a_kept_set_can_be_measured_as_a_labelled_one(memory: Memory, home: Path) -> None:
    from memlines.admin.evaluation.sets import read_file

    asked = questions(memory)
    read = read_file(home / ".memory/eval" / QUESTIONS_FILE, home)
    assert [query.text for query in read.queries] == [query.text for query in asked.labelled.queries]


def test_fewer_questions_are_the_first_of_the_set(memory: Memory) -> None:
    every = questions(memory).labelled.queries
    assert questions(memory, 6).labelled.queries == every[:6]


def test_lines_that_moved_are_found_again(memory: Memory, home: Path) -> None:
    before = {row["id"]: row["query"] for row in questions_and(memory, home)}
    text = GARDEN["memory/tomatoes.md"]
    (home / "memory/tomatoes.md").unlink()
    write(home, {"memory/moved/here.md": f"Written later.\n\n{text}"})
    after = {row["id"]: row["query"] for row in questions_and(memory, home)}
    assert after == before
    assert GONE.strip() in answers(home)


def questions_and(memory: Memory, home: Path) -> list[dict[str, Any]]:
    questions(memory)
    return kept(home)


def test_a_question_whose_lines_are_gone_is_dropped(memory: Memory, home: Path) -> None:
    questions(memory)
    assert GONE.strip() in answers(home)
    write(home, {"memory/tomatoes.md": GARDEN["memory/tomatoes.md"].replace(GONE, "")})
    questions(memory)
    assert "sungold" not in json.dumps(kept(home))


def test_a_question_whose_lines_became_private_is_dropped(memory: Memory, home: Path) -> None:
    questions(memory)
    write(home, {"memory/tomatoes.md": f"<private>{GARDEN['memory/tomatoes.md']}</private>"})
    questions(memory)
    assert "memory/tomatoes.md" not in json.dumps(kept(home))


def test_a_new_note_fills_the_set(memory: Memory, home: Path) -> None:
    before = len(questions(memory).labelled.queries)
    write(home, {"memory/pond.md": "- Newts return to the lily pond after heavy rain in February\n"})
    after = questions(memory)
    assert (len(after.labelled.queries), after.made) == (before + 1, 1)


@pytest.mark.parametrize(
    "content", ["no json\n", "{}\n", '{"id": 1, "query": "", "gold": []}\n', "\xff\n", "[[[", "3\n"]
)
def test_a_damaged_set_is_made_again_with_a_warning(memory: Memory, home: Path, content: str) -> None:
    whole = questions(memory).labelled
    (home / ".memory/eval" / QUESTIONS_FILE).write_text(content, encoding="latin-1")
    again = questions(memory)
    assert again.labelled == whole
    assert "was damaged" in again.warnings[0]


def test_a_path_outside_the_notes_is_not_read(memory: Memory, home: Path) -> None:
    questions(memory)
    row = {"id": "x", "type": "entry", "query": "root", "gold": [{"path": "../x.md", "start": 1, "end": 1}]}
    (home / ".memory/eval" / QUESTIONS_FILE).write_text(json.dumps(row), encoding="utf-8")
    assert "x" not in [query.id for query in questions(memory).labelled.queries]


def test_transcripts_are_not_asked_about(home: Path) -> None:
    line = {
        "type": "message",
        "message": {"role": "user", "content": "The zeppelin docks beside the brewery"},
    }
    write(home, {"../workspace/sessions/a.jsonl": json.dumps(line) + "\n"})
    with Memory(home, {**WORDS_ONLY, "sources": ["memory", "sessions"]}) as memory:
        questions(memory)
    assert "zeppelin" not in json.dumps(kept(home))


# Errors


def test_too_few_notes_are_an_error_that_says_how_many_are_needed(workspace: Path) -> None:
    write(workspace, {"MEMORY.md": GONE})
    with Memory(workspace, WORDS_ONLY) as memory, pytest.raises(WorkspaceError, match="at least 5 entries"):
        questions(memory)
    assert not (workspace / ".memory/eval").exists()


def test_a_memory_that_is_off_is_not_asked(home: Path) -> None:
    with Memory(home, {**WORDS_ONLY, "enabled": False}) as memory, pytest.raises(MemoryOff):
        questions(memory)


def test_notes_that_are_no_source_are_an_error(home: Path) -> None:
    settings = {**WORDS_ONLY, "sources": ["sessions"]}
    with Memory(home, settings) as memory, pytest.raises(UsageError, match="not indexed"):
        questions(memory)


def test_a_run_waits_for_another_and_then_says_who_writes(
    memory: Memory, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mine, "_WAIT_SECONDS", 0)
    asked = questions(memory)
    with eval_lock(home / ".memory").held(0), pytest.raises(StoreBusy, match="private test set"):
        measure(memory, asked, None, silent)


def test_two_runs_at_once_both_leave_their_figures(home: Path) -> None:
    def run() -> None:
        with Memory(home, WORDS_ONLY) as memory:
            measure(memory, questions(memory), None, silent)

    threads = [threading.Thread(target=run) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    first, second = read_runs(Workspace.at(home))
    assert [first[name] for name in ("questions", "top1")] == [second[name] for name in ("questions", "top1")]


READ_ONLY = """
import sys
from memlines import Memory
from memlines.admin.evaluation.mine import measure, prepare
with Memory(sys.argv[1], {"embeddings.provider": "none"}) as memory:
    for _ in range(2):
        asked = prepare(memory, 60, lambda *_: None)
        figures, runs = measure(memory, asked, None, lambda *_: None)
    print(len(runs), asked.made, memory.workspace.eval_folder == memory.workspace.cached_indexes)
"""


@pytest.mark.parametrize("is_indexed", [True, False])
def test_the_set_of_a_read_only_workspace_is_in_the_cache(home: Path, is_indexed: bool) -> None:
    if is_indexed:
        with Memory(home, WORDS_ONLY) as memory:
            memory.sync()
    with read_only(home):
        done = unprivileged_run(READ_ONLY, home)
    assert (done.stderr, done.stdout) == ("", "2 0 True\n")


# Forgetting and copies


def bytes_below(folder: Path) -> bytes:
    return b"".join(file.read_bytes() for file in folder.rglob("*") if file.is_file())


def test_forgetting_removes_the_text_from_the_set(memory: Memory, home: Path) -> None:
    questions(memory)
    assert b"sungold" in bytes_below(home / ".memory/eval")
    receipt = memory.forget(memory.forget_candidates("memory/tomatoes.md#L3"))
    assert (receipt.complete, receipt.removed["questions"]) == (True, 1)
    assert b"sungold" not in bytes_below(home / ".memory").lower()


def test_the_next_run_after_forgetting_makes_the_set_again(memory: Memory, home: Path) -> None:
    before = len(questions(memory).labelled.queries)
    memory.forget(memory.forget_candidates("memory/tomatoes.md#L3"))
    assert before > len(questions(memory).labelled.queries) > 0
    assert "sungold" not in json.dumps(kept(home))


def test_forgetting_removes_a_set_in_the_cache_too(memory: Memory) -> None:
    cached = memory.workspace.cached_indexes / QUESTIONS_FILE
    cached.parent.mkdir(parents=True)
    cached.write_text("sungold\n", encoding="utf-8")
    memory.forget(memory.forget_candidates("memory/tomatoes.md#L3"))
    assert not cached.exists()


def test_what_is_forgotten_while_questions_are_made_is_not_kept(memory: Memory, home: Path) -> None:
    def forget(completed: int, total: int, label: str) -> None:
        if completed == total and (home / "memory/tomatoes.md").exists():
            memory.forget(memory.forget_candidates("memory/tomatoes.md"))

    prepare(memory, 60, forget)
    assert b"sungold" not in bytes_below(home / ".memory").lower()


def test_the_figures_hold_no_text_of_the_notes(memory: Memory, home: Path) -> None:
    measure(memory, questions(memory), None, silent)
    (run,) = read_runs(memory.workspace)
    assert run.keys() == {
        *("at", "questions", "top1", "top3", "mrr", "mode", "provider", "model", "settings", "set")
    }


def test_a_copy_of_the_notes_leaves_the_set_out(memory: Memory, home: Path, tmp_path: Path) -> None:
    measure(memory, questions(memory), None, silent)
    export(home, tmp_path / "all.zip", everything=True)
    with zipfile.ZipFile(tmp_path / "all.zip") as archive:
        assert not [name for name in archive.namelist() if "eval" in name]


def test_the_name_of_a_set_says_nothing_about_its_questions(memory: Memory) -> None:
    first = questions(memory)
    again = questions(memory, rebuild=True)
    assert again.labelled == first.labelled
    assert again.name != first.name


# Figures


def test_a_run_counts_the_questions_that_find_their_lines(memory: Memory) -> None:
    asked = questions(memory)
    figures, (run,) = measure(memory, asked, None, silent)
    places = [figures.places[query.id] or 0 for query in asked.labelled.queries]
    assert (run["questions"], run["top1"]) == (len(places), places.count(1))
    assert run["mrr"] == round(sum(1 / place for place in places if place) / len(places), 4)


def test_an_extra_path_does_not_count(home: Path, tmp_path: Path) -> None:
    for name, text in GARDEN.items():
        write(tmp_path / "copy", {name: text})
    with Memory(home, {**WORDS_ONLY, "extra_paths": [str(tmp_path / "copy")]}) as memory:
        figures, _ = measure(memory, questions(memory), None, silent)
    with Memory(home, WORDS_ONLY) as memory:
        alone, _ = measure(memory, questions(memory), None, silent)
    assert figures.places == alone.places


def test_the_history_is_bounded(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mine, "MOST_RUNS", 3)
    asked = questions(memory)
    for _ in range(5):
        measure(memory, asked, None, silent)
    assert len(read_runs(memory.workspace, 9)) == 3


def test_a_damaged_line_of_the_history_is_left_out(memory: Memory, home: Path) -> None:
    asked = questions(memory)
    measure(memory, asked, None, silent)
    with (home / ".memory/eval" / HISTORY_FILE).open("ab") as stream:
        stream.write(b'{"at": 3}\nnonsense\n[]\n')
    _, runs = measure(memory, asked, None, silent)
    assert len(runs) == 2


def test_the_fingerprint_changes_with_the_settings_of_search(memory: Memory, home: Path) -> None:
    asked = questions(memory)
    measure(memory, asked, None, silent)
    for more in ({"query.mmr.enabled": True}, {"tools.max_chars": 3000}):
        with Memory(home, {**WORDS_ONLY, **more}) as other:
            measure(other, asked, None, silent)
    first, second, third = (run["settings"] for run in read_runs(memory.workspace))
    assert (first != second, first == third) == (True, True)


# Changes


def refuse(plan: Any) -> None:
    raise AssertionError("nothing should leave this machine")


def test_a_search_setting_is_tried_on_the_index_as_it_is(
    memory: Memory, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMLINES_EMBEDDINGS__PROVIDER", "none")
    memory.sync()
    before = (home / ".memory/index.sqlite").read_bytes()
    found = try_settings(memory.workspace, {"query.fusion": "rrf"}, None, 60, silent, refuse)
    assert found.change == {"query.fusion": ("evidence", "rrf")}
    assert (home / ".memory/index.sqlite").read_bytes() == before


def test_chunks_of_another_size_are_tried_in_a_copy(
    memory: Memory, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMLINES_EMBEDDINGS__PROVIDER", "none")
    memory.sync()
    chunks = memory.status().chunks
    found = try_settings(
        memory.workspace, {"chunking.tokens": 20, "chunking.overlap": 0}, None, 60, silent, refuse
    )
    assert len(found.changed.places) == len(found.now.places)
    assert memory.status().chunks == chunks


# Questions of a chat model


@pytest.fixture
def chat() -> Iterator[ChatServer]:
    with chat_server("openai") as server:
        yield server


def chatting(home: Path, server: ChatServer) -> Memory:
    settings = {
        "chat.provider": "openai",
        "chat.model": "m",
        "chat.base_url": server.url,
        "chat.api_key": KEY,
    }
    return Memory(home, {**WORDS_ONLY, **settings})


def reply(*pairs: tuple[Any, Any]) -> str:
    return json.dumps({"questions": [{"number": number, "question": text} for number, text in pairs]})


def test_a_chat_model_words_the_questions(home: Path, chat: ChatServer) -> None:
    chat.reply = reply((1, "Which  plant\nis early?"), (2, "Who repairs windows?"))
    with chatting(home, chat) as memory:
        asked = questions(memory, 10)
    by_model = [query.text for query in asked.labelled.queries if query.kind == "model"]
    assert (by_model, asked.warnings) == (["Which plant is early?", "Who repairs windows?"], ())
    assert len(asked.labelled.queries) == 10


@pytest.mark.parametrize(
    "pair",
    [(0, "a question"), (99, "a question"), ("1", "a question"), (True, "a question"), (1, ""), (1, 7)],
)
def test_a_reply_that_fits_no_note_leaves_the_question_of_the_rules(
    home: Path, chat: ChatServer, pair: tuple[Any, Any]
) -> None:
    chat.reply = reply(pair)
    with chatting(home, chat) as memory:
        asked = questions(memory)
    assert "model" not in [query.kind for query in asked.labelled.queries]


def test_what_the_chat_model_gets_is_quoted_and_without_secrets(home: Path, chat: ChatServer) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    text = (
        f"- The robot at the harbour logs in with {token} each night\n<private>- hidden zeppelin</private>\n"
    )
    write(home, {"memory/robot.md": text})
    chat.reply = reply()
    with chatting(home, chat) as memory:
        questions(memory)
    sent = "".join(request.body["messages"][1]["content"] for request in chat.requests)
    assert "> - Sungold ripens" in sent
    assert not [word for word in (token, "zeppelin", "robot") if word in sent]


def test_the_number_of_calls_is_bounded(home: Path, chat: ChatServer) -> None:
    entries = [
        f"- The {one}{two}ladder and {two}{one}lamp near {one}q{two}yard hold {one}x{two}wax"
        for one in "abcdefghijklmn"
        for two in "abcdefghijklmn"
    ]
    write(home, {"MEMORY.md": "\n".join(entries)})
    chat.reply = reply()
    with chatting(home, chat) as memory:
        assert len(questions(memory, 190).labelled.queries) == 190
    assert len(chat.requests) == 12


def test_a_chat_model_that_fails_leaves_it_to_the_rules_with_a_warning(home: Path, chat: ChatServer) -> None:
    chat.fault = "shape"
    with chatting(home, chat) as memory:
        asked = questions(memory)
    assert len(chat.requests) == 1
    assert asked.labelled.queries
    assert asked.warnings[0].startswith("the rules made questions, because the chat model could not")

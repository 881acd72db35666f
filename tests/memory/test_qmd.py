"""Searches that are asked for go to qmd: what it finds is quoted from the notes as they are now."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from memlines import Memory
from memlines.errors import SettingsError
from tests.memories import write
from tests.qmd import SETTINGS, open_qmd, real_qmd

pytestmark = [
    pytest.mark.skipif(os.name != "posix", reason="the program is wrapped in a script"),
    pytest.mark.timeout(1200),  # the first of them waits until qmd is installed
]

NOTES = {
    "MEMORY.md": "# Memory\n\nAna rotates the zanzibar secret every month.\n",
    "memory/2026-11-01.md": "# 2026-11-01\n\n- Lunch is at noon\n- The zanzibar vault moved to Frankfurt\n",
    "memory/My Note_Two.md": "# Two\n\nThe falcon key is of brass.\n",
}


@pytest.fixture(scope="session")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return real_qmd(tmp_path_factory.mktemp("qmd"))


@pytest.fixture
def notes(workspace: Path, program: Path) -> Memory:
    return open_qmd(workspace, program, NOTES)


def found(memory: Memory, query: str, **options: Any) -> list[str]:
    """Return the citations of an answer by qmd."""
    with memory:
        result = memory.search(query, **options)
    assert result.provider == "qmd"
    return [hit.citation for hit in result]


def test_a_word_is_found_in_every_collection(notes: Memory) -> None:
    assert found(notes, "zanzibar") == ["MEMORY.md#L3", "memory/2026-11-01.md#L4"]


def test_a_question_is_answered_although_no_note_holds_all_its_words(notes: Memory) -> None:
    assert found(notes, "how do we rotate the zanzibar secret, and who?")[0] == "MEMORY.md#L3"


def test_a_file_with_blanks_in_its_name_is_cited_by_that_name(notes: Memory) -> None:
    assert found(notes, "falcon key") == ["memory/My Note_Two.md#L3"]


def test_the_lines_that_are_cited_hold_what_is_quoted(notes: Memory, workspace: Path) -> None:
    with notes:
        hits = [hit for word in ("zanzibar", "falcon", "lunch") for hit in notes.search(word)]
    held = [(workspace / hit.path).read_text(encoding="utf-8").split("\n") for hit in hits]
    assert [hit.snippet for hit in hits] == [
        "\n".join(lines[hit.start_line - 1 : hit.end_line]) for hit, lines in zip(hits, held, strict=True)
    ]


def test_an_answer_says_that_qmd_gave_it_by_words(notes: Memory) -> None:
    with notes:
        result = notes.search("zanzibar vault")
    assert (result.provider, result.mode, result.fallback) == ("qmd", "words", None)


def test_lines_with_most_words_of_the_question_are_likely_and_others_weak(notes: Memory) -> None:
    with notes:
        bands = {hit.path: hit.band for hit in notes.search("zanzibar vault moved")}
    assert bands == {"memory/2026-11-01.md": "likely", "MEMORY.md": "weak"}


def test_what_was_just_remembered_is_found(notes: Memory) -> None:
    with notes:
        notes.search("zanzibar")
        written = notes.remember("The osprey nests on the crane")
        hits = notes.search("where does the osprey nest?")
    assert hits[0].path == written.path


def test_another_program_finds_what_was_remembered_by_qmd(
    notes: Memory, program: Path, workspace: Path
) -> None:
    found(notes, "zanzibar")
    write(workspace, {"memory/new.md": "The osprey nests on the crane\n"})
    with Memory(workspace, {**SETTINGS, "qmd.command": str(program)}) as other:
        assert found(other, "osprey") == ["memory/new.md#L1"]


def test_a_note_that_is_gone_is_not_quoted(notes: Memory, workspace: Path) -> None:
    with notes:
        notes.search("zanzibar")
        (workspace / "memory/2026-11-01.md").unlink()
        assert [hit.path for hit in notes.search("zanzibar")] == ["MEMORY.md"]


def test_what_is_forgotten_is_in_no_file_of_qmd(notes: Memory, workspace: Path) -> None:
    with notes:
        notes.search("zanzibar")
        receipt = notes.forget(notes.forget_candidates("memory/My Note_Two.md"))
        notes.search("zanzibar")
    files = [file for file in (workspace / ".memory/qmd").rglob("*") if file.is_file()]
    held = [file.name for file in files if b"falcon" in file.read_bytes()]
    assert (receipt.left, held) == ((), [])


def test_private_blocks_are_not_quoted(workspace: Path, program: Path) -> None:
    private = {"memory/a.md": "<private>\nthe zanzibar pin\n</private>\n\nopen words\n"}
    with open_qmd(workspace, program, private) as memory:
        assert memory.search("zanzibar pin").hits == ()


@pytest.mark.parametrize(
    "query", ["-zanzibar", "--help", "-n 0 zanzibar", "lex: zanzibar", "intent: zanzibar", '"zanzibar']
)
def test_a_query_is_never_an_option_or_an_error(notes: Memory, query: str) -> None:
    with notes:
        notes.search(query)
        assert notes.status().fallback is None


def test_where_qmd_finds_nothing_the_builtin_engine_is_asked(notes: Memory) -> None:
    with notes:
        result = notes.search("zanzibr")  # it corrects spelling
    assert (result.provider, len(result)) == ("none", 2)


@pytest.mark.parametrize("query", ["zanzibar source:memory", "zanzibar last week", '"zanzibar vault"'])
def test_filters_and_days_are_for_the_builtin_engine(notes: Memory, query: str) -> None:
    with notes:
        assert notes.search(query).provider == "none"


@pytest.mark.parametrize(
    "options", [{"strict": True}, {"min_score": 0.1}, {"full": True}, {"mode": "vectors"}]
)
def test_exact_scores_and_unasked_recall_are_for_the_builtin_engine(
    workspace: Path, program: Path, options: dict[str, Any]
) -> None:
    with open_qmd(workspace, program, NOTES, embeddings__provider="builtin") as memory:
        assert memory.search("zanzibar", **options).provider != "qmd"


def test_a_collection_that_qmd_lost_is_added_again(notes: Memory, workspace: Path) -> None:
    with notes:
        notes.search("zanzibar")
        (workspace / ".memory/qmd/main/config/qmd/memlines.yml").write_text(
            "collections: {}", encoding="utf-8"
        )
        assert notes.search("falcon").provider == "qmd"


def test_an_index_that_is_lost_is_made_again_by_a_sync(notes: Memory, workspace: Path) -> None:
    with notes:
        notes.search("zanzibar")
        shutil.rmtree(workspace / ".memory/qmd")
        notes.sync()
        assert notes.search("falcon").provider == "qmd"


def test_what_a_repository_brings_for_qmd_is_not_run(workspace: Path, program: Path) -> None:
    ran = workspace / "ran"
    bad = json.dumps(
        {"collections": {"x": {"path": str(workspace), "pattern": "*.md", "update": f"touch {ran}"}}}
    )
    for file in (".qmd/index.yml", ".memory/qmd/main/config/qmd/memlines.yml"):
        (workspace / file).parent.mkdir(parents=True)
        (workspace / file).write_text(bad, encoding="utf-8")
    found(open_qmd(workspace, program, NOTES), "zanzibar")
    assert not ran.exists()


def test_what_an_index_from_elsewhere_brings_for_qmd_is_not_used(
    workspace: Path, program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_qmd(workspace, program, NOTES) as memory:
        memory.sync()
    write(tmp_path / "own", {"memory/trip.md": "The heron stood in the lake.\n"})
    index = sqlite3.connect(workspace / ".memory/qmd/main/cache/qmd/memlines.sqlite")
    with closing(index), index:
        index.execute(
            "UPDATE store_collections SET path = ?, update_command = ?",
            (str(tmp_path / "own"), f"touch {tmp_path / 'ran'}"),
        )
    monkeypatch.setenv("MEMLINES_HOME", str(tmp_path / "another machine"))
    write(workspace, {"memory/new.md": "The osprey nests on the crane\n"})
    with Memory(workspace, {**SETTINGS, "qmd.command": str(program)}) as memory:
        memory.sync()
        providers = [memory.search(word).provider for word in ("osprey", "heron")]
    assert (providers, (tmp_path / "ran").exists()) == (["qmd", "none"], False)


def test_a_link_in_place_of_the_index_is_not_followed(workspace: Path, program: Path, tmp_path: Path) -> None:
    place = workspace / ".memory/qmd/main/cache/qmd"
    place.mkdir(parents=True)
    (place / "memlines.sqlite").symlink_to(tmp_path / "other.sqlite")
    with open_qmd(workspace, program, NOTES) as memory:
        memory.search("zanzibar")
    assert not (tmp_path / "other.sqlite").exists()


def test_hits_are_as_many_and_as_long_as_the_limits_say(workspace: Path, program: Path) -> None:
    many = {f"memory/{number}.md": f"zanzibar {'x' * 300}\n" for number in range(5)}
    limits = {"qmd__limits__max_snippet_chars": 100, "qmd__limits__max_injected_chars": 350}
    with open_qmd(workspace, program, many, **limits) as memory:
        assert [len(hit.snippet) for hit in memory.search("zanzibar")] == [100, 100, 100]


def test_a_folder_of_your_own_is_searched(workspace: Path, program: Path, tmp_path: Path) -> None:
    write(tmp_path / "own", {"memory/trip.md": "# Trip\n\nThe heron stood in the lake.\n"})
    paths = {str(tmp_path / "own"): "**/*.md"}
    memory = open_qmd(workspace, program, NOTES, qmd__paths=paths)
    assert found(memory, "heron") == ["qmd/custom-0-main/memory/trip.md#L3"]


def test_files_in_the_workspace_that_are_no_notes_are_not_quoted(workspace: Path, program: Path) -> None:
    write(workspace, {})
    (workspace / "draft.md").write_text("The heron stood in the lake.\n", encoding="utf-8")
    with open_qmd(workspace, program, NOTES, qmd__paths={str(workspace): "*.md"}) as memory:
        assert memory.search("heron").hits == ()


def test_a_scope_that_denies_direct_chats_leaves_nothing_to_answer(workspace: Path, program: Path) -> None:
    with open_qmd(workspace, program, NOTES, qmd__scope__rules=[]) as memory:
        result = memory.search("zanzibar")
    assert (result.hits, result.warnings) == ((), ("qmd.scope allows no answer in this conversation",))


def test_without_models_vectors_are_left_to_the_builtin_engine(
    workspace: Path, program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with open_qmd(workspace, program, NOTES, qmd__search_mode="vsearch") as memory:
        result = memory.search("zanzibar")
    assert (result.provider, len(result)) == ("none", 2)


@pytest.mark.parametrize(
    "text",
    [
        "qmd: {command: evil}",
        "qmd: {paths: {/etc: '*'}}",
        "qmd: {sessions: {export_dir: /etc}}",
        "agents: {w: {qmd: {command: evil}}}",
    ],
)
def test_a_project_may_never_name_a_program_or_folders(workspace: Path, text: str) -> None:
    file = workspace / ".memory/config.yaml"
    file.parent.mkdir()
    file.write_text(f"{text}\n", encoding="utf-8")
    with pytest.raises(SettingsError, match="only your own file may"):
        Memory(workspace)


# Conversations


def said(role: str, text: str) -> str:
    message = {"role": role, "content": [{"type": "text", "text": text}]}
    return json.dumps({"type": "message", "timestamp": "2026-11-16T10:00:00Z", "message": message})


TALK = [
    json.dumps({"type": "session", "id": "s1", "timestamp": "2026-11-16T10:00:00Z"}),
    said("user", "where does the pelican sleep?"),
    said("assistant", "The pelican sleeps on the zanzibar pier"),
]
WITH_SESSIONS = {"sources": ["memory", "sessions"], "qmd__sessions__enabled": True}


@pytest.fixture
def talk(workspace: Path) -> Path:
    file = workspace / "sessions/s1.jsonl"
    write(workspace, {})
    file.parent.mkdir(parents=True)
    file.write_text("\n".join(TALK) + "\n", encoding="utf-8")
    return file


@pytest.mark.usefixtures("talk")
def test_a_conversation_is_cited_by_the_line_of_its_transcript(workspace: Path, program: Path) -> None:
    memory = open_qmd(workspace, program, NOTES, **WITH_SESSIONS)
    assert found(memory, "pelican sleeps pier") == ["sessions/s1.jsonl#L3"]


def test_a_turn_on_the_first_line_of_a_transcript_is_quoted_without_the_title(
    workspace: Path, program: Path, talk: Path
) -> None:
    talk.write_text("\n".join(TALK[1:]) + "\n", encoding="utf-8")
    with open_qmd(workspace, program, {}, **WITH_SESSIONS) as memory:
        (hit,) = memory.search("where pelican sleep")
    assert (hit.citation, hit.snippet) == ("sessions/s1.jsonl#L1", "user: where does the pelican sleep?")


@pytest.mark.usefixtures("talk")
def test_the_title_of_an_export_is_not_quoted(workspace: Path, program: Path) -> None:
    with open_qmd(workspace, program, {}, **WITH_SESSIONS) as memory:
        assert memory.search("session s1").provider == "none"


@pytest.mark.usefixtures("talk")
def test_notes_and_conversations_take_turns(workspace: Path, program: Path) -> None:
    memory = open_qmd(workspace, program, NOTES, **WITH_SESSIONS)
    sources = [path.partition("#")[0] for path in found(memory, "zanzibar")]
    assert sources == ["MEMORY.md", "sessions/s1.jsonl", "memory/2026-11-01.md"]


@pytest.mark.usefixtures("talk")
def test_conversations_are_left_out_unless_they_are_asked_for(workspace: Path, program: Path) -> None:
    with open_qmd(workspace, program, NOTES, sources=["memory", "sessions"]) as memory:
        memory.search("zanzibar")
    assert not (workspace / ".memory/qmd/main/sessions").exists()


def test_the_export_of_a_conversation_that_is_gone_goes_too(
    workspace: Path, program: Path, talk: Path
) -> None:
    with open_qmd(workspace, program, NOTES, **WITH_SESSIONS) as memory:
        memory.search("pelican")
        talk.unlink()
        memory.search("zanzibar")
    assert list((workspace / ".memory/qmd/main/sessions").iterdir()) == []


def test_a_conversation_past_its_retention_is_not_exported(
    workspace: Path, program: Path, talk: Path
) -> None:
    os.utime(talk, (0, 0))
    with open_qmd(workspace, program, NOTES, **WITH_SESSIONS, qmd__sessions__retention_days=30) as memory:
        assert "sessions" not in {hit.source for hit in memory.search("zanzibar")}


def test_what_is_forgotten_of_a_conversation_leaves_its_export(
    workspace: Path, program: Path, talk: Path, tmp_path: Path
) -> None:
    own = {"qmd__sessions__export_dir": str(tmp_path / "exports")}
    with open_qmd(workspace, program, NOTES, **WITH_SESSIONS, **own) as memory:
        memory.search("pelican")
        memory.forget(memory.forget_candidates("sessions/s1.jsonl#L3"))
        memory.search("zanzibar")
    (export,) = [
        file.read_text(encoding="utf-8") for file in (tmp_path / "exports").glob("memlines-main-*/s1.md")
    ]
    assert ("where does" in export, "pier" in export) == (True, False)


@pytest.mark.usefixtures("talk")
@pytest.mark.promise("P7")
def test_exports_leave_the_notes_of_a_folder_and_other_exports_alone(
    workspace: Path, program: Path, tmp_path: Path
) -> None:
    top = tmp_path / "own"
    top.mkdir()
    (top / "diary.md").write_text("# Diary\n", encoding="utf-8")
    (top / "s1.md").write_text("Mine\n", encoding="utf-8")
    other = tmp_path / "other"
    for root, agent in [(workspace, "main"), (workspace, "work"), (other, "main")]:
        root.mkdir(exist_ok=True)
        own = {"qmd__sessions__export_dir": str(top), "agent": agent}
        with open_qmd(root, program, NOTES, **WITH_SESSIONS, **own) as memory:
            memory.sync()
    assert (top / "diary.md").read_text(encoding="utf-8") == "# Diary\n"
    assert (top / "s1.md").read_text(encoding="utf-8") == "Mine\n"
    exports = sorted(file.parent.name.rpartition("-")[0] for file in top.glob("*/s1.md"))
    assert exports == ["memlines-main", "memlines-work"]
    assert [one.name for one in top.iterdir() if one.is_dir() and one.stat().st_mode & 0o077] == []


def test_what_is_no_export_stays_among_the_exports(workspace: Path, program: Path, talk: Path) -> None:
    folder = workspace / ".memory/qmd/main/sessions"
    with open_qmd(workspace, program, NOTES, **WITH_SESSIONS) as memory:
        memory.sync()
        (folder / "todo.md").write_text("Buy milk\n", encoding="utf-8")
        (folder / "sub.md").mkdir()
        talk.unlink()
        assert memory.sync().warnings == ()
    assert sorted(one.name for one in folder.iterdir()) == ["sub.md", "todo.md"]


@pytest.mark.usefixtures("talk")
@pytest.mark.promise("P7")
def test_exports_follow_no_link(workspace: Path, program: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    place = workspace / ".memory/qmd/main/sessions"
    place.parent.mkdir(parents=True)
    place.symlink_to(tmp_path / "elsewhere")
    with open_qmd(workspace, program, NOTES, **WITH_SESSIONS) as memory:
        assert memory.search("zanzibar").provider == "none"
    assert list((tmp_path / "elsewhere").iterdir()) == []

"""Conversations with ChatGPT become transcripts, along the branch that was shown last."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlines import Memory
from memlines.admin.imports import json_export as opening
from memlines.admin.imports.chatgpt import ImportedChats, conversation_of, import_chatgpt
from memlines.errors import PathError
from memlines.files.tombstones import bury
from memlines.paths import Workspace
from memlines.settings import load
from tests.admin.backups import tree
from tests.indexes import silent
from tests.memories import WORDS_ONLY

SESSION = "6650f0de-1111-4111-8111-111111111111"
TRANSCRIPT = f"sessions/chatgpt-{SESSION}.jsonl"
SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def message(role: str, *parts: Any, time: float | None = 1_700_000_000.5, **more: Any) -> dict[str, Any]:
    content = {"content_type": "text", "parts": list(parts)}
    return {"id": f"m-{role}", "author": {"role": role}, "create_time": time, "content": content, **more}


def node(parent: str | None, said: dict[str, Any] | None = None, *children: str) -> dict[str, Any]:
    return {"id": "n", "parent": parent, "children": list(children), "message": said}


def conversation(**changes: Any) -> dict[str, Any]:
    mapping = {
        "root": node(None, None, "ask"),
        "ask": node("root", message("user", "Which tide table is right?"), "old", "new"),
        "old": node("ask", message("assistant", "The Admiralty one.")),
        "new": node("ask", message("assistant", "The one of the harbour office."), "thanks"),
        "thanks": node("new", message("user", "Thanks!")),
    }
    return {
        "title": "Tides",
        "create_time": 1_700_000_000.0,
        "conversation_id": SESSION,
        "current_node": "thanks",
        "mapping": mapping,
        **changes,
    }


def said(item: Any) -> list[tuple[str, str]]:
    found = conversation_of(item)
    assert found is not None
    return [(turn.role, turn.text) for turn in found.transcript.turns]


def line_of(*messages: dict[str, Any]) -> dict[str, Any]:
    """Return a conversation without branches."""
    names = [str(number) for number in range(len(messages))]
    mapping = {name: node(str(int(name) - 1), one) for name, one in zip(names, messages, strict=True)}
    return conversation(mapping=mapping, current_node=names[-1])


def packed(file: Path, content: Any, name: str = "conversations.json", **more: Any) -> Path:
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("chat.html", "<html></html>")
        archive.writestr(name, content if isinstance(content, str) else json.dumps(content))
        for other, value in more.items():
            archive.writestr(other.replace("_json", ".json"), json.dumps(value))
    return file


@pytest.fixture
def export(tmp_path: Path) -> Path:
    return packed(tmp_path / "export.zip", [conversation()])


def bring_in(folder: Path, file: Path, *, dry_run: bool = False) -> ImportedChats:
    workspace = Workspace.at(folder)
    return import_chatgpt(workspace, load(workspace).settings, file, dry_run=dry_run, progress=silent)


# One conversation


def test_the_branch_that_was_shown_last_counts() -> None:
    assert said(conversation()) == [
        ("user", "Which tide table is right?"),
        ("assistant", "The one of the harbour office."),
        ("user", "Thanks!"),
    ]


def test_without_a_last_node_the_newest_branch_counts() -> None:
    item = conversation(current_node=None)
    item["mapping"]["old"]["message"]["create_time"] = 1_800_000_000
    assert said(item)[-1] == ("assistant", "The Admiralty one.")


@pytest.mark.parametrize("parent", ["thanks", "new"])
def test_a_tree_that_runs_in_a_circle_is_none(parent: str) -> None:
    item = conversation()
    item["mapping"]["ask"]["parent"] = parent
    assert conversation_of(item) is None


def test_a_message_that_was_hidden_is_not_said() -> None:
    hidden = message("user", "my profile", metadata={"is_visually_hidden_from_conversation": True})
    assert said(line_of(hidden, message("user", "Hello there"))) == [("user", "Hello there")]


def test_what_a_tool_was_told_is_a_call() -> None:
    call = message("assistant", "import this", recipient="python")
    found = conversation_of(line_of(message("user", "Run it"), call, message("assistant", "Done")))
    assert found is not None
    assert [(turn.text, turn.tools) for turn in found.transcript.turns] == [
        ("Run it", ()),
        ("Done", ("python",)),
    ]


def test_what_was_spoken_is_said_and_a_picture_is_not() -> None:
    parts = [{"content_type": "image_asset_pointer"}, {"content_type": "audio_transcription", "text": "Ahoy"}]
    spoken = message("user")
    spoken["content"] = {"content_type": "multimodal_text", "parts": [*parts, "See this"]}
    assert said(line_of(spoken)) == [("user", "Ahoy\nSee this")]


def test_thoughts_are_not_said() -> None:
    thought = message("assistant", "hm")
    thought["content"]["content_type"] = "thoughts"
    assert said(line_of(thought, message("assistant", "Yes"))) == [("assistant", "Yes")]


def test_marks_of_citations_are_taken_out() -> None:
    assert said(line_of(message("assistant", "It is so \ue200cite\ue202turn0search1\ue201."))) == [
        ("assistant", "It is so .")
    ]


def test_characters_that_cannot_be_stored_are_replaced() -> None:
    assert said(line_of(message("user", "a\ud800b\0c"))) == [("user", "a\ufffdb c")]


@given(
    st.recursive(
        st.none() | st.text(max_size=5) | st.integers() | st.floats() | st.booleans(),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(
                    [
                        "mapping",
                        "message",
                        "parent",
                        "author",
                        "role",
                        "content",
                        "parts",
                        "current_node",
                        "a",
                        "b",
                    ]
                ),
                inner,
                max_size=4,
            )
        ),
        max_leaves=20,
    )
)
def test_any_item_is_read_or_left(item: Any) -> None:
    found = conversation_of(item)
    assert found is None or found.client == "chatgpt"


# An export


def test_a_conversation_becomes_a_transcript(workspace: Path, export: Path) -> None:
    assert bring_in(workspace, export).imported == 1
    assert "harbour office" in (workspace / TRANSCRIPT).read_text(encoding="utf-8")


def test_a_conversation_is_found(workspace: Path, export: Path) -> None:
    bring_in(workspace, export)
    with Memory(workspace, {**WORDS_ONLY, "sources": ["memory", "sessions"]}) as memory:
        assert memory.search("tide table of the harbour office")[0].path == TRANSCRIPT


def test_the_time_of_a_message_is_kept(workspace: Path, export: Path) -> None:
    bring_in(workspace, export)
    records = [json.loads(line) for line in (workspace / TRANSCRIPT).read_text(encoding="utf-8").splitlines()]
    assert [record["timestamp"] for record in records[:2]] == [
        "2023-11-14T22:13:20.000Z",
        "2023-11-14T22:13:20.500Z",
    ]


def test_the_list_itself_is_taken_too(workspace: Path, tmp_path: Path) -> None:
    file = tmp_path / "conversations.json"
    file.write_text(json.dumps([conversation()]), encoding="utf-8")
    assert bring_in(workspace, file).imported == 1


def test_all_parts_of_a_large_export_are_taken(workspace: Path, tmp_path: Path) -> None:
    file = packed(tmp_path / "x.zip", [conversation()], "conversations-000.json")
    with zipfile.ZipFile(file, "a") as archive:
        archive.writestr("conversations-001.json", json.dumps([conversation(conversation_id="two")]))
    assert bring_in(workspace, file).imported == 2


def test_a_second_import_adds_nothing(workspace: Path, export: Path) -> None:
    bring_in(workspace, export)
    before = tree(workspace)
    done = bring_in(workspace, export)
    assert (done.imported, done.same, tree(workspace)) == (0, 1, before)


def test_a_conversation_that_went_on_replaces_its_beginning(
    workspace: Path, export: Path, tmp_path: Path
) -> None:
    bring_in(workspace, export)
    longer = conversation(current_node="more")
    longer["mapping"]["more"] = node("thanks", message("assistant", "You are welcome."))
    done = bring_in(workspace, packed(tmp_path / "later.zip", [longer]))
    assert (done.replaced, len(list((workspace / "sessions").iterdir()))) == (1, 1)


def test_a_conversation_that_took_another_branch_is_kept_beside_it(
    workspace: Path, export: Path, tmp_path: Path
) -> None:
    bring_in(workspace, export)
    done = bring_in(workspace, packed(tmp_path / "later.zip", [conversation(current_node="old")]))
    assert (done.imported, len(list((workspace / "sessions").iterdir()))) == (1, 2)


def test_a_dry_run_counts_and_writes_nothing(workspace: Path, export: Path) -> None:
    assert bring_in(workspace, export, dry_run=True).imported == 1
    assert tree(workspace) == {}


def test_a_secret_is_taken_out(workspace: Path, tmp_path: Path) -> None:
    done = bring_in(workspace, packed(tmp_path / "x.zip", [line_of(message("user", f"Use {SECRET}"))]))
    assert SECRET not in (workspace / TRANSCRIPT).read_text(encoding="utf-8")
    assert sum(done.redacted.values()) == 1


def test_a_conversation_that_was_forgotten_does_not_come_back(workspace: Path, export: Path) -> None:
    bury(Workspace.at(workspace), [], [f"chatgpt-{SESSION}"])
    done = bring_in(workspace, export)
    assert (done.imported, done.left_out) == (0, 1)


def test_what_is_no_conversation_is_counted(workspace: Path, tmp_path: Path) -> None:
    circle = conversation(conversation_id="circle")
    circle["mapping"]["ask"]["parent"] = "thanks"
    empty = conversation(conversation_id="empty", mapping={"root": node(None)})
    done = bring_in(workspace, packed(tmp_path / "x.zip", [conversation(), circle, empty, 7, {}]))
    assert (done.imported, done.skipped, done.left_out) == (1, 3, 1)


def test_a_name_that_leads_elsewhere_stays_inside(workspace: Path, tmp_path: Path) -> None:
    bring_in(workspace, packed(tmp_path / "x.zip", [conversation(conversation_id="../../../evil")]))
    assert [file.parent for file in workspace.rglob("*.jsonl")] == [workspace / "sessions"]


# Saved memories


def test_what_was_saved_as_a_memory_is_an_entry(workspace: Path, tmp_path: Path) -> None:
    saved = message("assistant", "Sails a yawl called Petrel.", recipient="bio")
    done = bring_in(workspace, packed(tmp_path / "x.zip", [line_of(message("user", "Remember it"), saved)]))
    note = (workspace / "memory/imported/chatgpt.md").read_text(encoding="utf-8")
    assert (done.memories.added, "2023-11-14: Sails a yawl called Petrel. [chatgpt " in note) == (1, True)


def test_memories_that_an_export_lists_are_entries(workspace: Path, tmp_path: Path) -> None:
    listed = {"memories": [{"id": "1", "content": "Sails a yawl."}]}
    done = bring_in(workspace, packed(tmp_path / "x.zip", [conversation()], memories_json=listed))
    assert done.memories.added == 1


# What cannot be used


@pytest.mark.parametrize("content", ["", "{}", "[", '[{"mapping": {}}]', "[" * 10_000, "null", '["\\ud800"]'])
def test_a_broken_export_changes_nothing(workspace: Path, tmp_path: Path, content: str) -> None:
    with pytest.raises(PathError):
        bring_in(workspace, packed(tmp_path / "x.zip", content))
    assert tree(workspace) == {}


def test_an_export_that_breaks_off_changes_nothing(workspace: Path, tmp_path: Path) -> None:
    text = json.dumps([conversation(), conversation(conversation_id="two")])
    with pytest.raises(PathError, match="nothing was changed"):
        bring_in(workspace, packed(tmp_path / "x.zip", text[:-20]))
    assert tree(workspace) == {}


def test_an_archive_without_conversations_is_refused(workspace: Path, tmp_path: Path) -> None:
    with pytest.raises(PathError, match=r"no conversations\.json"):
        bring_in(workspace, packed(tmp_path / "x.zip", [], "../../conversations.txt"))


def test_an_archive_that_unpacks_to_too_much_is_refused(
    workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = packed(tmp_path / "bomb.zip", " " * 2_000_000)
    monkeypatch.setattr(opening, "MAX_BYTES", 1_000_000)
    with pytest.raises(PathError, match="unpacks to more"):
        bring_in(workspace, file)


def test_an_archive_that_lies_about_its_size_is_refused(
    workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = packed(tmp_path / "bomb.zip", " " * 2_000_000)
    content = file.read_bytes()
    size = (2_000_000).to_bytes(4, "little")
    file.write_bytes(content.replace(size, (10).to_bytes(4, "little")))
    monkeypatch.setattr(opening, "MAX_BYTES", 1_000_000)
    with pytest.raises(PathError):
        bring_in(workspace, file)


def test_a_damaged_archive_is_refused(workspace: Path, export: Path) -> None:
    content = bytearray(export.read_bytes())
    content[150:200] = bytes(50)
    export.write_bytes(content)
    with pytest.raises(PathError):
        bring_in(workspace, export)
    assert tree(workspace) == {}

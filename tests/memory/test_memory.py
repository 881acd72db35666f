"""`Memory` keeps its index up to date, answers whatever happens, and leaves the notes alone."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from memlines import Memory, PathError, UsageError, WorkspaceError
from memlines.index.store.sqlite.index import Index
from memlines.memory import open_index
from tests.memories import WORDS_ONLY, fake_memory, words_memory, write
from tests.providers import MeaningsProvider

NOTES = {"MEMORY.md": "# Memory\n\nWe like the heron.\n", "a.md": "The kestrel lives here.\n"}


def paths(memory: Memory, query: str) -> list[str]:
    return [hit.path for hit in memory.search(query, min_score=0)]


def index_file(workspace: Path) -> Path:
    return workspace / ".memory/index.sqlite"


# The first search


def test_a_search_makes_the_index(workspace: Path) -> None:
    with words_memory(workspace, NOTES) as memory:
        assert paths(memory, "kestrel") == ["memory/a.md"]
    assert index_file(workspace).is_file()


def test_a_search_in_an_empty_workspace_finds_nothing_and_hints(workspace: Path) -> None:
    with words_memory(workspace, {}) as memory:
        result = memory.search("kestrel")
    assert len(result) == 0
    assert "there are no notes" in result.warnings[0]
    assert "memlines init" in result.warnings[0]


def test_a_search_in_an_empty_workspace_writes_nothing(workspace: Path) -> None:
    with words_memory(workspace, {}) as memory:
        memory.search("kestrel")
    assert [entry.name for entry in workspace.iterdir()] == ["memory"]


def test_a_workspace_needs_no_memory_md(workspace: Path) -> None:
    with words_memory(workspace, {"a.md": "The kestrel.\n"}) as memory:
        assert paths(memory, "kestrel") == ["memory/a.md"]


def test_a_workspace_needs_no_memory_folder(tmp_path: Path) -> None:
    with words_memory(tmp_path, {"MEMORY.md": "The kestrel.\n"}) as memory:
        assert paths(memory, "kestrel") == ["MEMORY.md"]


def test_a_workspace_that_does_not_exist_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(WorkspaceError, match="does not exist"):
        Memory(tmp_path / "nowhere")


def test_searching_leaves_the_notes_as_they_are(workspace: Path) -> None:
    write(workspace, NOTES)
    before = {file: (file.read_bytes(), file.stat().st_mtime_ns) for file in workspace.rglob("*.md")}
    with words_memory(workspace, {}) as memory:
        memory.search("kestrel")
        memory.sync(force=True)
    after = {file: (file.read_bytes(), file.stat().st_mtime_ns) for file in workspace.rglob("*.md")}
    assert after == before


# Changes


def test_a_changed_file_is_noticed_at_the_next_search(workspace: Path) -> None:
    with words_memory(workspace, NOTES) as memory:
        assert paths(memory, "submarine") == []
        write(workspace, {"a.md": "The submarine lives here.\n"})
        assert paths(memory, "submarine") == ["memory/a.md"]
        assert paths(memory, "kestrel") == []


def test_a_change_that_keeps_size_and_time_is_noticed_right_after_writing(workspace: Path) -> None:
    with words_memory(workspace, NOTES) as memory:
        memory.sync()
        info = (workspace / "memory/a.md").stat()
        write(workspace, {"a.md": "The bittern lives here.\n"})
        os.utime(workspace / "memory/a.md", ns=(info.st_atime_ns, info.st_mtime_ns))
        assert paths(memory, "bittern") == ["memory/a.md"]


def test_a_new_file_is_noticed_at_the_next_search(workspace: Path) -> None:
    with words_memory(workspace, NOTES) as memory:
        memory.sync()
        write(workspace, {"deep/new.md": "A submarine.\n"})
        assert paths(memory, "submarine") == ["memory/deep/new.md"]


def test_a_deleted_file_is_noticed_at_the_next_search(workspace: Path) -> None:
    with words_memory(workspace, NOTES) as memory:
        memory.sync()
        (workspace / "memory/a.md").unlink()
        assert paths(memory, "kestrel") == []


def test_a_renamed_file_is_cited_by_its_new_name(workspace: Path) -> None:
    with words_memory(workspace, NOTES) as memory:
        memory.sync()
        (workspace / "memory/a.md").rename(workspace / "memory/b.md")
        assert paths(memory, "kestrel") == ["memory/b.md"]


def test_the_last_note_gone_leaves_nothing_to_find(workspace: Path) -> None:
    with words_memory(workspace, {"a.md": "The kestrel.\n"}) as memory:
        memory.sync()
        (workspace / "memory/a.md").unlink()
        assert paths(memory, "kestrel") == []


def test_another_memory_sees_changed_new_and_deleted_files(workspace: Path) -> None:
    with words_memory(workspace, NOTES) as memory:
        memory.sync()
    write(workspace, {"MEMORY.md": "We like the submarine.\n", "b.md": "Another submarine.\n"})
    (workspace / "memory/a.md").unlink()
    with words_memory(workspace, {}) as memory:
        assert sorted(paths(memory, "submarine")) == ["MEMORY.md", "memory/b.md"]
        assert paths(memory, "kestrel") == []


def test_a_change_by_another_program_is_seen_by_an_open_memory(workspace: Path) -> None:
    with words_memory(workspace, NOTES) as memory, words_memory(workspace, {}) as other:
        memory.sync()
        write(workspace, {"a.md": "A submarine.\n"})
        other.sync()
        assert paths(memory, "submarine") == ["memory/a.md"]


def test_an_index_rebuilt_by_another_program_is_opened_again(workspace: Path) -> None:
    with words_memory(workspace, NOTES) as memory, words_memory(workspace, {}) as other:
        memory.search("kestrel")
        other.sync(force=True)
        assert paths(memory, "kestrel") == ["memory/a.md"]


def test_an_index_deleted_while_open_is_made_again(workspace: Path) -> None:
    with words_memory(workspace, NOTES) as memory:
        memory.search("kestrel")
        for file in (workspace / ".memory").glob("index.sqlite*"):
            file.unlink()
        assert paths(memory, "kestrel") == ["memory/a.md"]


def test_with_on_search_off_a_change_waits_for_a_sync(workspace: Path) -> None:
    with words_memory(workspace, NOTES, sync__on_search=False) as memory:
        memory.sync()
        write(workspace, {"a.md": "A submarine.\n"})
        assert paths(memory, "submarine") == []
        memory.sync()
        assert paths(memory, "submarine") == ["memory/a.md"]


def test_with_on_search_off_the_first_search_still_makes_the_index(workspace: Path) -> None:
    with words_memory(workspace, NOTES, sync__on_search=False) as memory:
        assert paths(memory, "kestrel") == ["memory/a.md"]


def test_looking_for_changes_rests_where_it_is_slow(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(open_index, "_QUICK_SWEEP", -1.0)
    monkeypatch.setattr(open_index, "_SWEEP_SHARE", 10**9)
    with words_memory(workspace, NOTES) as memory:
        memory.sync()
        for file in workspace.rglob("*.md"):
            os.utime(file, (1, 1))  # long ago, so that their fingerprints are trusted
        memory.sync()
        assert paths(memory, "kestrel") == ["memory/a.md"]
        write(workspace, {"a.md": "A submarine.\n"})
        assert paths(memory, "submarine") == []
        memory._manager._rest_until = 0.0
        assert paths(memory, "submarine") == ["memory/a.md"]


def test_other_settings_build_the_index_anew(workspace: Path) -> None:
    with words_memory(workspace, NOTES) as memory:
        memory.sync()
    with words_memory(workspace, {}, chunking__tokens=100) as memory:
        report = memory.sync()
    assert report.rebuilt == "chunk tokens was 400 and is now 100"


# Sync


def test_a_report_counts_what_was_done(workspace: Path) -> None:
    with words_memory(workspace, NOTES) as memory:
        first = memory.sync()
        (workspace / "memory/a.md").unlink()
        second = memory.sync()
    assert (first.indexed, first.unchanged, first.removed) == (("MEMORY.md", "memory/a.md"), 0, ())
    assert (second.indexed, second.unchanged, second.removed) == ((), 1, ("memory/a.md",))


def test_progress_is_reported(workspace: Path) -> None:
    seen: list[tuple[int, int, str]] = []
    provider = MeaningsProvider({})
    with fake_memory(workspace, NOTES, provider) as memory:
        memory.sync(progress=lambda completed, total, label: seen.append((completed, total, label)))
    assert seen[0] == (0, 2, "indexing")
    assert (2, 2, "indexing") in seen
    assert seen[-1] == (2, 2, "embedding")


@pytest.mark.parametrize(("given", "what"), [((42,), "workspace is 42"), ((".", ["x"]), "settings are ")])
def test_a_memory_is_not_opened_with_what_makes_no_sense(given: tuple[Any, ...], what: str) -> None:
    with pytest.raises(UsageError, match=what):
        Memory(*given)


def test_a_forced_sync_builds_the_index_anew(workspace: Path) -> None:
    with words_memory(workspace, NOTES) as memory:
        memory.sync()
        report = memory.sync(force=True)
    assert (report.rebuilt, len(report.indexed)) == ("forced", 2)


# Reading


def test_read_returns_the_lines_that_are_asked_for(workspace: Path) -> None:
    with words_memory(workspace, {"a.md": "one\ntwo\nthree\nfour\n"}) as memory:
        excerpt = memory.read("memory/a.md", start=2, lines=2)
    assert (excerpt.text, excerpt.start, excerpt.lines, excerpt.next_start) == ("two\nthree", 2, 2, 4)


@pytest.mark.parametrize(
    ("citation", "text"), [("memory/a.md#L2-L3", "two\nthree"), ("memory/a.md#L4", "four")]
)
def test_read_takes_a_citation(workspace: Path, citation: str, text: str) -> None:
    with words_memory(workspace, {"a.md": "one\ntwo\nthree\nfour\n"}) as memory:
        excerpt = memory.read(citation)
    assert (excerpt.path, excerpt.text) == ("memory/a.md", text)


def test_lines_that_are_asked_for_count_more_than_a_citation(workspace: Path) -> None:
    with words_memory(workspace, {"a.md": "one\ntwo\nthree\nfour\n"}) as memory:
        assert memory.read("memory/a.md#L2-L3", lines=1).text == "two"
        assert memory.read("memory/a.md#L2-L3", start=4).text == "four"


def test_read_refuses_a_citation_of_no_lines(workspace: Path) -> None:
    with words_memory(workspace, NOTES) as memory, pytest.raises(UsageError, match="names no lines"):
        memory.read("memory/a.md#L5-L2")


def test_read_of_a_note_that_does_not_exist_is_empty(workspace: Path) -> None:
    with words_memory(workspace, NOTES) as memory:
        excerpt = memory.read("memory/none.md")
    assert (excerpt.found, excerpt.text) == (False, "")


def test_read_refuses_what_is_not_part_of_the_memory(workspace: Path) -> None:
    with words_memory(workspace, NOTES) as memory, pytest.raises(PathError):
        memory.read("../outside.md")


def test_read_needs_no_index(workspace: Path) -> None:
    with words_memory(workspace, NOTES) as memory:
        assert memory.read("MEMORY.md").found
    assert not index_file(workspace).exists()


# Status


def test_status_changes_nothing(workspace: Path) -> None:
    with words_memory(workspace, NOTES) as memory:
        status = memory.status()
    assert (status.dirty, status.files, status.last_sync) == (True, 0, None)
    assert not (workspace / ".memory").exists()


def test_status_after_a_sync(workspace: Path) -> None:
    with words_memory(workspace, NOTES) as memory:
        memory.sync()
        for file in workspace.rglob("*.md"):
            os.utime(file, (1, 1))
        memory.sync()
        status = memory.status()
    assert (status.dirty, status.files, status.chunks) == (False, 2, 2)
    assert status.last_sync is not None
    assert status.source_counts == ({"source": "memory", "files": 2, "chunks": 2},)


def test_status_sees_that_a_file_changed(workspace: Path) -> None:
    with words_memory(workspace, NOTES) as memory:
        memory.sync()
        write(workspace, {"a.md": "Something else.\n"})
        assert memory.status().dirty


def test_status_counts_vectors(workspace: Path) -> None:
    with fake_memory(workspace, NOTES, MeaningsProvider({})) as memory:
        memory.sync()
        status = memory.status()
    assert (status.provider, status.model, status.pending) == ("fake", "fake-1", 0)
    assert (status.vector["vectors"], status.vector["dims"]) == (2, 4)


def test_status_says_that_another_model_is_wanted(workspace: Path) -> None:
    with fake_memory(workspace, NOTES, MeaningsProvider({})) as memory:
        memory.sync()
    with fake_memory(workspace, {}, MeaningsProvider({}, model="fake-2")) as memory:
        status = memory.status()
    assert (status.model, status.pending) == ("fake-2", status.chunks)
    assert [(space["model"], space["state"]) for space in status.spaces] == [("fake-1", "serving")]


# Closing


def test_the_context_manager_closes_the_index(workspace: Path) -> None:
    with words_memory(workspace, NOTES) as memory:
        memory.search("kestrel")
        assert isinstance(memory._manager._reader, Index)
    assert memory._manager._reader is None


def test_closing_twice_is_harmless(workspace: Path) -> None:
    memory = words_memory(workspace, NOTES)
    memory.search("kestrel")
    memory.close()
    memory.close()


def test_a_closed_memory_opens_again_when_it_is_used(workspace: Path) -> None:
    memory = words_memory(workspace, NOTES)
    memory.close()
    with memory:
        assert paths(memory, "kestrel") == ["memory/a.md"]


def test_a_closed_memory_holds_no_file_open(workspace: Path) -> None:
    descriptors = Path("/proc/self/fd")
    if not descriptors.is_dir():
        pytest.skip("open files cannot be listed here")
    with fake_memory(workspace, NOTES, MeaningsProvider({})) as memory:
        memory.search("kestrel")
    targets = [entry.resolve() for entry in descriptors.iterdir()]
    assert not [target for target in targets if workspace in target.parents]


# Places


def test_the_index_can_be_kept_elsewhere(workspace: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere/{agent}.sqlite"
    with words_memory(workspace, NOTES, store__path=str(elsewhere), agent="coder") as memory:
        assert paths(memory, "kestrel") == ["memory/a.md"]
    assert (tmp_path / "elsewhere/coder.sqlite").is_file()
    assert not index_file(workspace).exists()


def test_two_agents_have_an_index_each(workspace: Path) -> None:
    template = ".memory/{agent}.sqlite"
    for agent in ("one", "two"):
        with words_memory(workspace, NOTES, store__path=template, agent=agent) as memory:
            memory.sync()
    assert sorted(file.name for file in (workspace / ".memory").glob("*.sqlite")) == [
        "one.sqlite",
        "two.sqlite",
    ]


def test_the_memory_can_be_named_by_a_string_with_a_tilde(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    write(tmp_path / "notes", NOTES)
    with Memory("~/notes", WORDS_ONLY) as memory:
        assert paths(memory, "kestrel") == ["memory/a.md"]

"""The note of aliases: searches find other names for the same, and say so."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from memlines import Memory
from memlines.admin.doctor.examine import examine
from memlines.memory.aliases import AliasNote
from memlines.paths import Workspace
from memlines.serve.tools import call_tool
from memlines.serve.wire import search_json
from memlines.text.aliases import PATH
from tests.memories import WORDS_ONLY, words_memory, write

CLUSTER = "The test cluster runs Kubernetes 1.32 in Dublin."
NOTES = {
    "cluster.md": CLUSTER,
    "birds.md": "The kestrel nests in the church tower.",
    "boats.md": "The ferry to Texel leaves every hour.",
    "aliases.md": "# Aliases\n\n- k8s = Kubernetes\n",
}


@pytest.fixture
def memory(workspace: Path) -> Memory:
    return words_memory(workspace, NOTES)


def paths(memory: Memory, query: str) -> list[str]:
    return [hit.path for hit in memory.search(query)]


def test_a_search_finds_what_has_another_name(memory: Memory) -> None:
    with memory:
        assert paths(memory, "which k8s version is it?") == ["memory/cluster.md"]


def test_it_goes_both_ways(workspace: Path) -> None:
    with words_memory(workspace, NOTES | {"cluster.md": "The test cluster runs k8s 1.32."}) as memory:
        assert paths(memory, "which Kubernetes version is it?") == ["memory/cluster.md"]


def test_an_answer_says_what_was_searched_too(memory: Memory) -> None:
    with memory:
        result = memory.search("which k8s version is it?")
    assert search_json(result)["aliases"] == {"k8s": "Kubernetes"}


def test_a_model_is_told_what_was_searched_too(memory: Memory) -> None:
    with memory:
        answer = call_tool(memory, "memory_search", {"query": "which k8s version is it?"})
    assert "Note: Searched by other names too: k8s → Kubernetes" in answer.text


def test_the_best_hit_is_strong_although_the_note_of_aliases_is_left_out(memory: Memory) -> None:
    with memory:
        (hit,) = memory.search("k8s test cluster Dublin")
    assert hit.band == "strong"


def test_a_search_without_such_a_name_is_as_before(memory: Memory) -> None:
    with memory:
        result = memory.search("where does the kestrel nest?")
    assert ([hit.path for hit in result], result.aliases) == (["memory/birds.md"], {})


def test_the_note_itself_is_found_by_other_words(memory: Memory) -> None:
    with memory:
        assert paths(memory, "aliases") == [PATH]


def test_a_change_of_the_note_counts_at_the_next_search(workspace: Path, memory: Memory) -> None:
    with memory:
        memory.search("kubernetes")
        write(workspace, {"aliases.md": "- kube = Kubernetes\n"})
        assert memory.search("k8s").aliases == {}
        assert paths(memory, "kube") == ["memory/cluster.md"]


def test_a_note_that_did_not_change_is_read_once(workspace: Path, memory: Memory) -> None:
    note = AliasNote(Workspace.at(workspace))
    os.utime(workspace / PATH, (1_600_000_000, 1_600_000_000))
    assert note.read() is note.read()


def test_without_a_note_nothing_is_said(workspace: Path) -> None:
    assert AliasNote(Workspace.at(workspace)).read().expand("k8s").shown == {}


@pytest.mark.parametrize("content", [b"\xff\xfe\x00", b"- a = b\n" * 20_000])
def test_a_note_that_cannot_be_used_has_no_aliases(workspace: Path, content: bytes) -> None:
    with words_memory(workspace, NOTES) as memory:
        (workspace / PATH).write_bytes(content)
        assert memory.search("k8s").aliases == {}
    assert len(AliasNote(Workspace.at(workspace)).read().problems) == 1


def test_doctor_names_lines_that_are_ignored(workspace: Path) -> None:
    write(workspace, {"aliases.md": "- k8s = Kubernetes\n- nonsense\n"})
    (finding,) = [one for one in examine(workspace, WORDS_ONLY).findings if one.check == "aliases"]
    assert finding.level == "warning"
    assert "line 2 is not of the form" in finding.message


def test_doctor_counts_aliases(workspace: Path) -> None:
    write(workspace, {"aliases.md": "- k8s = Kubernetes\n"})
    (finding,) = [one for one in examine(workspace, WORDS_ONLY).findings if one.check == "aliases"]
    assert (finding.level, finding.message) == ("ok", f"1 in {PATH}")

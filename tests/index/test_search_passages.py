"""A hit quotes the passage that answers, and cites exactly the lines that it quotes."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memlines import Hit, Memory
from memlines.index.search.passages import MOST_LINES
from memlines.serve.wire import hit_json
from tests.memories import WORDS_ONLY, fake_memory, words_memory, write
from tests.providers import MeaningsProvider
from tests.transcripts.records import HEADER, assistant, jsonl, user

ITEMS = [f"- Item {number} is about the number {number} and nothing else." for number in range(1, 21)]
SHELF = "\n".join([*ITEMS[:12], "- The kestrel nests on the shelf.", *ITEMS[12:]]) + "\n"
DATABASES = """# Databases

Postgres 17.

## Queues

Valkey streams.

## Backups

At two in the morning.
"""


def lines_of(workspace: Path, hit: Hit) -> str:
    """Return the lines of the file that a hit cites."""
    lines = (workspace / hit.path).read_text(encoding="utf-8").split("\n")
    return "\n".join(lines[hit.start_line - 1 : hit.end_line])


def only_hit(memory: Memory, query: str, *, full: bool = False) -> Hit:
    (hit,) = memory.search(query, max_results=1, min_score=0.0, full=full)
    return hit


def test_a_hit_cites_the_lines_it_quotes(workspace: Path) -> None:
    with words_memory(workspace, {"shelf.md": SHELF}) as memory:
        hit = only_hit(memory, "kestrel")
    assert hit.start_line <= 13 <= hit.end_line
    assert hit.snippet == lines_of(workspace, hit)
    assert hit.snippet.count("\n") < MOST_LINES


def test_a_hit_knows_the_lines_of_its_chunk(workspace: Path) -> None:
    with words_memory(workspace, {"shelf.md": SHELF}) as memory:
        hit = only_hit(memory, "kestrel")
    assert (hit.chunk_start_line, hit.chunk_end_line) == (1, 21)
    told = hit_json(hit)
    assert (told["chunk_start_line"], told["chunk_end_line"]) == (1, 21)
    assert told["citation"] == f"memory/shelf.md#L{hit.start_line}-L{hit.end_line}"


def test_all_of_the_chunk_can_be_asked_for(workspace: Path) -> None:
    with words_memory(workspace, {"shelf.md": SHELF}) as memory:
        hit = only_hit(memory, "kestrel", full=True)
    assert hit.citation == "memory/shelf.md#L1-L21"
    assert hit.snippet == SHELF.rstrip("\n")


def test_openclaw_cites_chunks(workspace: Path) -> None:
    with words_memory(workspace, {"shelf.md": SHELF}, profile="openclaw") as memory:
        hit = only_hit(memory, "kestrel")
    assert hit.citation == "memory/shelf.md#L1-L21"


def test_a_passage_stays_in_its_section_and_bears_its_heading(workspace: Path) -> None:
    note = f"{DATABASES}\nTo Stockholm.\n"
    with words_memory(workspace, {"databases.md": note}) as memory:
        hit = only_hit(memory, "Stockholm")
    assert (hit.citation, hit.heading) == ("memory/databases.md#L13", "Databases > Backups")


def test_words_of_a_heading_choose_its_section(workspace: Path) -> None:
    with words_memory(workspace, {"databases.md": DATABASES}) as memory:
        assert only_hit(memory, "backups").citation == "memory/databases.md#L11"


def test_a_heading_in_a_chunk_takes_the_place_of_one_above_it(workspace: Path) -> None:
    before = "\n".join(f"Filler sentence number {number} fills the chunk." for number in range(40))
    note = f"# Plants\n\n## Trees\n\n{before}\n\n## Herbs\n\nThe basil is on the sill.\n"
    with words_memory(workspace, {"plants.md": note}) as memory:
        hit = only_hit(memory, "basil")
    assert hit.chunk_start_line > 3
    assert hit.heading == "Plants > Herbs"


def test_a_chunk_of_one_short_entry_is_the_passage(workspace: Path) -> None:
    with words_memory(workspace, {"a.md": "The kestrel\nnests on\nthe shelf.\n"}) as memory:
        hit = only_hit(memory, "kestrel")
    assert (hit.citation, hit.snippet) == ("memory/a.md#L1-L3", "The kestrel\nnests on\nthe shelf.")


def test_of_a_long_table_the_lines_around_the_answer_are_shown(workspace: Path) -> None:
    rows = [f"| plant {number} | shelf {number} |" for number in range(40)]
    note = "\n".join(["| what | where |", "|---|---|", *rows[:30], "| kestrel | roof |", *rows[30:]])
    with words_memory(workspace, {"table.md": note}) as memory:
        hit = only_hit(memory, "kestrel")
    assert "| kestrel | roof |" in hit.snippet
    assert hit.snippet == lines_of(workspace, hit)
    assert hit.end_line - hit.start_line < MOST_LINES


def test_of_a_very_long_line_the_part_with_the_answer_is_shown(workspace: Path) -> None:
    filler = "nothing to see here " * 45
    note = f"First line.\n\n{filler}and the kestrel nests {filler}\n\nLast line.\n"
    with words_memory(workspace, {"long.md": note}) as memory:
        hit = only_hit(memory, "kestrel")
    assert hit.citation == "memory/long.md#L3"
    assert "kestrel" in hit.snippet
    assert hit.snippet in lines_of(workspace, hit)


def test_a_line_cut_into_chunks_does_not_shift_the_lines_after_it(workspace: Path) -> None:
    note = "word " * 700 + "\n\nA filler paragraph.\n\nThe kestrel nests on the shelf.\n"
    with words_memory(workspace, {"long.md": note}) as memory:
        hit = only_hit(memory, "kestrel")
    assert hit.end_line == 5
    assert hit.snippet.endswith(lines_of(workspace, hit).split("\n")[-1])


def test_a_rule_at_the_start_of_a_chunk_is_no_front_matter(workspace: Path) -> None:
    note = "\n---\nThe kestrel nests on the shelf.\n---\nThe heron does not.\n"
    with words_memory(workspace, {"a.md": note}) as memory:
        assert "kestrel nests" in only_hit(memory, "kestrel").snippet


def test_the_nearest_sentence_chooses_where_no_word_is_shared(workspace: Path) -> None:
    asked, far = (1.0, 0.0, 0.0, 0.0), (0.1, math.sqrt(0.99), 0.0, 0.0)
    provider = MeaningsProvider({"question": asked, "falcon": asked, "entry": far})
    provider.by_sentence = True
    entries = [
        f"- This is entry number {number}, and it is here to fill the chunk up." for number in range(1, 20)
    ]
    entries[14] = "- A falcon lives in the tower."
    with fake_memory(workspace, {"a.md": "\n".join(entries) + "\n"}, provider) as memory:
        hit = only_hit(memory, "question")
    assert hit.start_line <= 15 <= hit.end_line
    assert hit.end_line - hit.start_line < MOST_LINES


def test_a_fact_on_several_lines_is_cited_whole(workspace: Path) -> None:
    write(workspace, {"facts.md": "# Facts\n\n- Prefers tea\n  and never coffee\n"})
    with Memory(workspace, WORDS_ONLY) as memory:
        hit = only_hit(memory, "tea")
    assert hit.citation == "memory/facts.md#L3-L4"


def test_a_turn_is_cited_by_its_own_line(workspace: Path) -> None:
    tool = {"type": "tool", "name": "Bash"}
    asked = user("Where do we keep the invoices?\nI cannot find them. " + "They are gone. " * 20)
    answered = assistant("They are in the blue cabinet. " + "Look on the left. " * 20)
    more = assistant("On the roof, since Monday. " + "It nests there. " * 20)
    turns = (HEADER, asked, tool, tool, answered, tool, user("And the kestrel?"), tool, more)
    (workspace / "sessions").mkdir(parents=True)
    (workspace / "sessions/s.jsonl").write_text(jsonl(*turns), encoding="utf-8")
    with Memory(workspace, {**WORDS_ONLY, "sources": ["sessions"]}) as memory:
        kestrel, cabinet = only_hit(memory, "kestrel"), only_hit(memory, "blue cabinet")
    assert (kestrel.start_line, kestrel.end_line) == (7, 9)
    assert kestrel.snippet.startswith("User: And the kestrel?\nAssistant: On the roof")
    assert cabinet.citation == "sessions/s.jsonl#L5-L9"
    assert cabinet.snippet.startswith("Assistant: They are in the blue cabinet.")


MARKDOWN = [
    "# Title",
    "## Part",
    "- item kestrel",
    "- item",
    "  nested",
    "",
    "---",
    "```",
    "| a | b |",
    "1. one",
    "<!-- note -->",
]
TEXT = ["code kestrel", "kestrel " * 40, "word " * 60, "Text about a kestrel.", "Text.", "é漢字"]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
@given(st.lists(st.sampled_from(MARKDOWN + TEXT), min_size=1, max_size=60))
def test_whatever_a_note_looks_like_the_quote_is_what_the_cited_lines_say(
    tmp_path_factory: pytest.TempPathFactory, pieces: list[str]
) -> None:
    folder = tmp_path_factory.mktemp("note")
    with words_memory(folder, {"a.md": "\n".join(pieces) + "\n"}) as memory:
        for hit in memory.search("kestrel", min_score=0.0):
            cited = lines_of(folder, hit)
            assert hit.snippet in cited
            assert len(hit.snippet) <= 1_000
            assert hit.end_line - hit.start_line < MOST_LINES
            assert "kestrel" in hit.snippet

"""The chunks of the note of facts: one for each fact, and the rest as in any other note."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlines import Memory
from memlines.index.sync.job import identity_of
from memlines.settings import Settings
from memlines.settings.tree import Facts
from memlines.text.chunk import chunk_note, chunk_text, limit_of, text_hash, weigh
from memlines.text.fact_note import chunk_facts, facts_in
from memlines.types import Chunk
from tests.memory.facts.test_fact_lines import NOTES

TOKENS, OVERLAP = 400, 80
TABS = "- 2026-11-16 [preference] Prefers tabs over spaces. {from: capture codex 01ab} ^k3f5x2m7qa"
ACME = "- [fact] Works at Acme. ^b7c5d2e6fg"


def cut(text: str) -> list[Chunk]:
    return chunk_facts(text, TOKENS, OVERLAP)


def shown(text: str) -> list[tuple[int, int, str]]:
    return [(chunk.start_line, chunk.end_line, chunk.text) for chunk in cut(text)]


def test_a_chunk_holds_the_words_of_one_fact() -> None:
    assert shown(f"# Facts\n\n{TABS}\n{ACME}\n") == [
        (3, 3, "Prefers tabs over spaces."),
        (4, 4, "Works at Acme."),
    ]


def test_a_chunk_covers_all_lines_of_a_fact() -> None:
    assert shown("- likes tea\n  in the morning\n\n  - and rain\n- next\n") == [
        (1, 4, "likes tea in the morning - and rain"),
        (5, 5, "next"),
    ]


@pytest.mark.parametrize(
    ("item", "words"),
    [
        ("- ~~Works at Acme.~~", "Works at Acme. (no longer true)"),
        ("- ~~Works at Acme.~~ {until: 2026-11-16}", "Works at Acme. (no longer true since 2026-11-16)"),
        ("- Works at Acme. {until: 2026-11-16}", "Works at Acme."),
    ],
)
def test_what_is_no_longer_true_says_so(item: str, words: str) -> None:
    assert [chunk.text for chunk in cut(item)] == [words]


def test_the_hash_is_that_of_the_words() -> None:
    (chunk,) = cut(ACME)
    assert chunk.hash == text_hash("Works at Acme.")


@pytest.mark.parametrize(
    ("above", "heading"),
    [
        ("", ""),
        ("# Facts\n", ""),
        ("# Facts\n## Anna\n", "Anna"),
        ("# Facts\n## People\n### Anna\n", "People > Anna"),
        ("## Anna\n", "Anna"),
        ("# Facts\n# More\n", "More"),
    ],
)
def test_the_headings_above_a_fact_are_those_below_the_title(above: str, heading: str) -> None:
    assert cut(f"{above}\n- likes tea\n")[0].heading == heading


def test_headings_alone_make_no_chunk() -> None:
    assert len(cut(f"# Facts\n\n## Work\n{ACME}\n\n## Empty\n")) == 1


def test_prose_between_facts_is_a_chunk_of_its_own() -> None:
    text = f"# Facts\n\nWhat I know.\n\n{ACME}\n\n## Home\nAbout the house.\n\n{TABS}\n\nThe end.\n"
    assert [(line, words.strip()) for line, _, words in shown(text)] == [
        (1, "# Facts\n\nWhat I know."),
        (5, "Works at Acme."),
        (6, "## Home\nAbout the house."),
        (10, "Prefers tabs over spaces."),
        (11, "The end."),
    ]


def test_prose_stands_under_the_headings_of_the_whole_note() -> None:
    text = f"# Facts\n## Home\n{ACME}\n\nAbout the house.\n"
    assert cut(text)[1].heading == "Facts > Home"


def test_code_is_a_chunk_and_no_fact() -> None:
    assert [words for _, _, words in shown(f"```\n{ACME}\n```\n")] == [f"```\n{ACME}\n```"]


def test_front_matter_alone_is_kept() -> None:
    assert shown(f"---\ntags: me\n---\n# Facts\n{ACME}\n") == [
        (1, 3, "---\ntags: me\n---"),
        (5, 5, "Works at Acme."),
    ]


def test_front_matter_stands_above_the_first_prose() -> None:
    assert cut(f"---\ntags: me\n---\nProse.\n\n{ACME}\n")[0].heading == "#me"


def test_a_fact_that_is_too_long_is_cut() -> None:
    words = " ".join(f"word{number}" for number in range(400))
    chunks = cut(f"# Facts\n## Long\n- {words}\n")
    pieces = [piece.text for piece in chunk_text(words, TOKENS, OVERLAP)]
    assert [(chunk.start_line, chunk.end_line, chunk.text, chunk.heading) for chunk in chunks] == [
        (3, 3, piece, "Long") for piece in pieces
    ]


def test_an_empty_note_has_no_chunks() -> None:
    assert cut("") == []


@given(st.text(alphabet="ab#\n `", max_size=80))
def test_a_note_without_facts_is_cut_as_usual(text: str) -> None:
    has_words = any(line.strip() and not line.lstrip(" ").startswith("#") for line in text.split("\n"))
    if has_words and not facts_in(text):
        assert cut(text) == chunk_note(text, TOKENS, OVERLAP)


@given(NOTES, st.integers(1, 40))
def test_whatever_the_note_facts_are_in_chunks_that_fit_and_are_in_order(text: str, tokens: int) -> None:
    note = text.replace("\ufeff", "").replace("\r", "")
    chunks = chunk_facts(note, tokens, 2)
    covered = {line for chunk in chunks for line in range(chunk.start_line, chunk.end_line + 1)}
    facts = {line for fact in facts_in(note) for line in range(fact.first, fact.last + 1)}
    assert facts <= covered
    assert all(weigh(chunk.text) <= limit_of(tokens) for chunk in chunks)
    assert [chunk.start_line for chunk in chunks] == sorted(chunk.start_line for chunk in chunks)


# In the index


def found(memory: Memory, query: str) -> list[tuple[str, str]]:
    return [(hit.citation, hit.snippet) for hit in memory.search(query)]


def test_a_search_cites_single_facts(workspace: Path) -> None:
    (workspace / "memory/facts.md").write_text(f"# Facts\n\n{TABS}\n{ACME}\n", encoding="utf-8")
    with Memory(workspace) as memory:
        assert found(memory, "tabs or spaces")[0] == ("memory/facts.md#L3", "Prefers tabs over spaces.")


def test_other_notes_are_cut_as_ever(workspace: Path) -> None:
    (workspace / "memory/other.md").write_text(f"{TABS}\n{ACME}\n", encoding="utf-8")
    with Memory(workspace) as memory:
        assert found(memory, "tabs or spaces")[0][0] == "memory/other.md#L1-L2"


def test_the_note_may_have_another_name(workspace: Path) -> None:
    (workspace / "memory/me.md").write_text(f"{TABS}\n{ACME}\n", encoding="utf-8")
    with Memory(workspace, settings={"facts": {"file": "memory/me.md"}}) as memory:
        assert found(memory, "tabs or spaces")[0][0] == "memory/me.md#L1"


def test_another_note_of_facts_makes_another_index() -> None:
    assert identity_of(Settings()) != identity_of(Settings(facts=Facts(file="memory/me.md")))


def test_the_same_note_written_otherwise_makes_the_same_index() -> None:
    other = Settings(facts=Facts(file="memory//facts.md"))
    assert identity_of(Settings()) == identity_of(other)

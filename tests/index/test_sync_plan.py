"""The plan of a sync says beforehand what the sync then does."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from memlines.embed.base import Provider
from memlines.embed.spending.budget import estimate
from memlines.embed.spending.ledger import Ledger, Spent
from memlines.index.sync.plan import SyncPlan, plan
from tests.indexes import index_file, indexed, job, notes, sync, write
from tests.providers import FakeProvider
from tests.transcripts.records import HEADER, assistant, jsonl, user

A_DOLLAR_A_TOKEN = {"prices": {"bag-of-words": "1000000"}}


def planned(
    workspace: Path,
    provider: Provider | None = None,
    settings: Mapping[str, Any] | None = None,
    *,
    force: bool = False,
) -> SyncPlan:
    return plan(job(workspace, provider, settings, force=force))


def everything_below(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


# Nothing is written


def test_a_plan_before_the_first_sync_writes_nothing(workspace: Path) -> None:
    write(workspace, notes(2))
    before = everything_below(workspace)
    planned(workspace, FakeProvider())
    assert everything_below(workspace) == before
    assert not (workspace / ".memory").exists()


def test_a_plan_after_a_sync_writes_nothing(workspace: Path) -> None:
    write(workspace, notes(2))
    sync(workspace, FakeProvider())
    write(workspace, {"memory/n0.md": "changed\n", "memory/new.md": "new\n"})
    before = everything_below(workspace)
    planned(workspace, FakeProvider())
    assert everything_below(workspace) == before


def test_a_plan_sends_nothing(workspace: Path) -> None:
    write(workspace, notes(2))
    provider = FakeProvider()
    planned(workspace, provider)
    assert provider.texts == []


def test_a_plan_spends_nothing(workspace: Path) -> None:
    write(workspace, notes(2))
    planned(workspace, FakeProvider(id="openai"), {"spend": {"max_tokens_per_day": 1000}})
    assert Ledger().total() == Spent()


# Files


def test_before_the_first_sync_every_file_is_new(workspace: Path) -> None:
    write(workspace, notes(2))
    assert planned(workspace).new == ("memory/n0.md", "memory/n1.md")


def test_after_a_sync_nothing_is_to_do(workspace: Path) -> None:
    write(workspace, notes(2))
    sync(workspace, FakeProvider())
    assert planned(workspace, FakeProvider()) == SyncPlan(
        unchanged=2, provider="fake", model="bag-of-words", dollars=0.0
    )


def test_new_changed_and_removed_files_are_named(workspace: Path) -> None:
    write(workspace, notes(3))
    sync(workspace)
    write(workspace, {"memory/n0.md": "changed\n", "memory/new.md": "new\n"})
    (workspace / "memory/n1.md").unlink()
    found = planned(workspace)
    assert (found.new, found.changed, found.removed, found.unchanged) == (
        ("memory/new.md",),
        ("memory/n0.md",),
        ("memory/n1.md",),
        1,
    )


def test_a_file_that_was_only_touched_is_unchanged(workspace: Path) -> None:
    write(workspace, notes(1))
    sync(workspace)
    write(workspace, notes(1))
    assert planned(workspace).unchanged == 1


def test_a_file_that_is_left_out_is_told(workspace: Path) -> None:
    (workspace / "memory/binary.md").write_bytes(b"\0\0\0")
    assert [problem.path for problem in planned(workspace).skipped] == ["memory/binary.md"]


def test_a_file_that_was_left_out_before_is_told_again(workspace: Path) -> None:
    (workspace / "memory/binary.md").write_bytes(b"\0\0\0")
    sync(workspace)
    assert [problem.path for problem in planned(workspace).skipped] == ["memory/binary.md"]


def test_a_suspicious_number_of_missing_files_is_held_back(workspace: Path) -> None:
    write(workspace, notes(12))
    sync(workspace)
    for number in range(11):
        (workspace / f"memory/n{number}.md").unlink()
    found = planned(workspace)
    assert (found.removed, found.held_back) == ((), 11)


def test_force_removes_a_suspicious_number_of_missing_files(workspace: Path) -> None:
    write(workspace, notes(12))
    sync(workspace)
    for number in range(11):
        (workspace / f"memory/n{number}.md").unlink()
    assert len(planned(workspace, force=True).removed) == 11


def test_a_transcript_is_cut_like_a_sync_cuts_it(workspace: Path) -> None:
    talk = jsonl(HEADER, user("a question about tea"), assistant("an answer about tea"))
    write(workspace, {"sessions/talk.jsonl": talk})
    settings = {"sources": ["memory", "sessions"]}
    assert agreed(workspace, settings).texts == 1


# What has to be embedded


def agreed(workspace: Path, settings: Mapping[str, Any] | None = None, *, force: bool = False) -> SyncPlan:
    """Plan and sync, check that the plan named what was then sent, and return it."""
    found = planned(workspace, FakeProvider(), settings, force=force)
    provider = FakeProvider()
    sync(workspace, provider, settings, force=force)
    assert (found.texts, found.tokens) == (len(provider.texts), sum(map(estimate, provider.texts)))
    return found


def test_all_texts_of_a_first_sync_are_counted(workspace: Path) -> None:
    write(workspace, {"memory/a.md": "# Tea\nGreen tea needs 80 degrees.\n" * 200, "memory/b.md": "käse\n"})
    found = agreed(workspace)
    chunks = sum(len(lines) for lines in indexed(workspace).values())
    assert (found.chunks, found.known_chunks) == (chunks, 0)


def test_a_text_that_stands_twice_is_sent_once(workspace: Path) -> None:
    write(workspace, {"memory/a.md": "the same\n", "memory/b.md": "the same\n"})
    found = agreed(workspace)
    assert (found.chunks, found.texts) == (2, 1)


def test_equal_pieces_of_one_long_line_are_one_chunk(workspace: Path) -> None:
    write(workspace, {"memory/a.md": "x" * 64_000})
    found = agreed(workspace)
    assert found.chunks == len(indexed(workspace)["memory/a.md"])


def test_only_what_changed_is_sent(workspace: Path) -> None:
    write(workspace, notes(3))
    sync(workspace, FakeProvider())
    write(workspace, {"memory/n0.md": "something else\n"})
    assert agreed(workspace).texts == 1


def test_what_the_cache_knows_is_not_sent(workspace: Path) -> None:
    write(workspace, notes(1))
    sync(workspace, FakeProvider())
    (workspace / "memory/n0.md").rename(workspace / "memory/moved.md")
    found = agreed(workspace)
    assert (found.chunks, found.known_chunks, found.texts) == (1, 1, 0)


def test_without_a_cache_everything_that_moved_is_sent_again(workspace: Path) -> None:
    settings = {"cache": {"enabled": False}}
    write(workspace, notes(1))
    sync(workspace, FakeProvider(), settings)
    (workspace / "memory/n0.md").rename(workspace / "memory/moved.md")
    assert agreed(workspace, settings).texts == 1


def test_what_only_the_index_knows_is_not_sent_when_its_file_moves(workspace: Path) -> None:
    settings = {"cache": {"max_entries": 1}}
    write(workspace, notes(4))
    sync(workspace, FakeProvider(), settings)
    for number in range(4):
        (workspace / f"memory/n{number}.md").rename(workspace / f"memory/m{number}.md")
    assert agreed(workspace, settings).known_chunks == 4


def test_what_waits_from_an_earlier_sync_is_counted(workspace: Path) -> None:
    write(workspace, notes(3))
    sync(workspace, FakeProvider(), embed_limit=1)
    assert agreed(workspace).texts == 2


def test_what_waits_in_a_file_that_is_gone_is_not_counted(workspace: Path) -> None:
    write(workspace, notes(3))
    sync(workspace, FakeProvider(), embed_limit=1)
    (workspace / "memory/n2.md").unlink()
    assert agreed(workspace).texts == 1


def test_what_waits_in_a_file_that_changes_is_counted_once(workspace: Path) -> None:
    write(workspace, notes(1))
    sync(workspace, FakeProvider(), embed_limit=0)
    write(workspace, {"memory/n0.md": "something else\n"})
    assert agreed(workspace).chunks == 1


def test_another_model_needs_everything_anew(workspace: Path) -> None:
    write(workspace, notes(3))
    sync(workspace, FakeProvider(model="former"))
    assert agreed(workspace).texts == 3


def test_a_rebuild_needs_no_vector_that_the_index_has(workspace: Path) -> None:
    write(workspace, notes(3))
    sync(workspace, FakeProvider())
    found = agreed(workspace, force=True)
    assert (found.rebuild, found.chunks, found.known_chunks, found.texts) == ("forced", 3, 3, 0)


def test_a_rebuild_needs_no_vector_that_the_cache_has_forgotten(workspace: Path) -> None:
    settings = {"cache": {"max_entries": 1}}
    write(workspace, notes(3))
    sync(workspace, FakeProvider(), settings)
    assert agreed(workspace, settings, force=True).texts == 0


def test_a_rebuild_without_changes_has_only_unchanged_files(workspace: Path) -> None:
    write(workspace, notes(3))
    sync(workspace, FakeProvider())
    found = planned(workspace, FakeProvider(), force=True)
    assert (found.new, found.changed, found.unchanged) == ((), (), 3)


def test_another_size_of_chunks_is_a_rebuild_that_says_why(workspace: Path) -> None:
    write(workspace, {"memory/a.md": "Green tea needs 80 degrees.\n" * 200})
    sync(workspace, FakeProvider())
    found = agreed(workspace, {"chunking": {"tokens": 50, "overlap": 0}})
    assert "chunk tokens was 400 and is now 50" in found.rebuild
    assert found.texts > 0


def test_a_damaged_index_needs_everything_anew(workspace: Path) -> None:
    write(workspace, notes(3))
    sync(workspace, FakeProvider())
    index_file(workspace).write_bytes(b"no database at all" * 1000)
    found = planned(workspace, FakeProvider())
    assert (found.rebuild, found.texts) == ("damaged", 3)


def test_without_a_provider_nothing_is_embedded(workspace: Path) -> None:
    write(workspace, notes(3))
    found = planned(workspace)
    assert (found.provider, found.chunks, found.tokens, found.dollars) == ("none", 0, 0, 0.0)


# Costs


def test_a_plan_names_who_gets_the_text(workspace: Path) -> None:
    write(workspace, notes(1))
    found = planned(workspace, FakeProvider(id="openai", sends_to="api.example.org"))
    assert (found.provider, found.model, found.sends_text_to) == ("openai", "bag-of-words", "api.example.org")


def test_a_plan_costs_its_tokens(workspace: Path) -> None:
    write(workspace, {"memory/a.md": "12345678"})
    found = planned(workspace, FakeProvider(), {"spend": A_DOLLAR_A_TOKEN})
    assert (found.tokens, found.dollars) == (2, 2.0)


def test_a_price_that_nobody_knows_is_none(workspace: Path) -> None:
    write(workspace, notes(1))
    assert planned(workspace, FakeProvider()).dollars is None


def test_a_provider_of_ones_own_costs_nothing(workspace: Path) -> None:
    write(workspace, notes(1))
    assert planned(workspace, FakeProvider(id="builtin")).dollars == 0.0


@pytest.mark.parametrize(("min_texts", "dollars", "in_batch"), [(2, 2.0, True), (3, 4.0, False)])
def test_a_batch_is_planned_at_its_own_price(
    workspace: Path, min_texts: int, dollars: float, in_batch: bool
) -> None:
    write(workspace, {"memory/a.md": "12345678", "memory/b.md": "abcdefgh"})
    settings = {"spend": A_DOLLAR_A_TOKEN, "embeddings": {"batch": {"enabled": True, "min_texts": min_texts}}}
    found = planned(workspace, FakeProvider(id="openai"), settings)
    assert (found.dollars, found.in_batch) == (dollars, in_batch)


def test_a_plan_within_the_limits_is_not_stopped(workspace: Path) -> None:
    write(workspace, {"memory/a.md": "12345678"})
    assert planned(workspace, FakeProvider(), {"spend": {"max_tokens_per_run": 2}}).stopped_by == ""


def test_a_plan_beyond_a_limit_says_which_one_stops_it(workspace: Path) -> None:
    write(workspace, {"memory/a.md": "123456789"})
    found = planned(workspace, FakeProvider(), {"spend": {"max_tokens_per_run": 2}})
    assert "spend.max_tokens_per_run of 2 tokens" in found.stopped_by


def test_what_was_spent_today_counts_for_a_plan(workspace: Path) -> None:
    write(workspace, {"memory/a.md": "12345678"})
    Ledger().add("voyage", "other", Spent(tokens=9))
    found = planned(workspace, FakeProvider(), {"spend": {"max_tokens_per_day": 10}})
    assert "9 tokens went today" in found.stopped_by


def test_a_limit_in_money_stops_a_model_of_unknown_price(workspace: Path) -> None:
    write(workspace, notes(1))
    assert "spend.prices" in planned(workspace, FakeProvider(), {"spend": {"max_per_day": 5}}).stopped_by


def test_where_nothing_is_to_send_no_limit_stops(workspace: Path) -> None:
    write(workspace, notes(1))
    sync(workspace, FakeProvider())
    assert planned(workspace, FakeProvider(), {"spend": {"max_per_day": 0}}).stopped_by == ""

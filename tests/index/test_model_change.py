"""Another model takes over without a search that is empty, mixed, or by words alone."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from itertools import chain, repeat
from pathlib import Path
from typing import Any, Literal

import pytest

from memlines import Memory
from memlines.embed.passages import PASSAGES
from memlines.errors import UsageError
from memlines.index.sync import pending
from tests.embed.fake_service import ProviderServer, Status, provider_server
from tests.indexes import assert_sound, index_file
from tests.memories import write

NOTES = {f"n{number}.md": f"the okapi called name{number} sleeps" for number in range(12)}
CHUNK = NOTES["n7.md"]
"""What is embedded of a note, so that asking for it finds exactly that note by its vector."""


@pytest.fixture
def server() -> Iterator[ProviderServer]:
    with provider_server("openai-compatible") as server:
        yield server


@pytest.fixture(autouse=True)
def _small_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pending, "_GROUP", 2)


def opened(workspace: Path, server: ProviderServer, model: str, **more: Any) -> Memory:
    settings = {
        "embeddings.provider": "openai-compatible",
        "embeddings.base_url": server.url,
        "embeddings.api_key": server.key,
        "embeddings.model": model,
    }
    return Memory(workspace, {**settings, **more})


def filled(workspace: Path, server: ProviderServer, model: str = "old") -> None:
    write(workspace, NOTES)
    with opened(workspace, server, model) as memory:
        assert memory.sync().pending == 0


def states(memory: Memory) -> dict[str, tuple[str, int]]:
    return {space["model"]: (space["state"], space["vectors"]) for space in memory.status().spaces}


def embedded(server: ProviderServer, model: str) -> int:
    """Return how many texts of notes a model was given; the passages that measure a model are none."""
    sent = [seen.texts for seen in server.requests if seen.body["model"] == model]
    return sum(text not in PASSAGES for texts in sent for text in texts)


def stop_after(count: int) -> Any:
    """Return a progress that ends the work once so many chunks are embedded."""

    def progress(completed: int, total: int, label: str) -> None:
        if label == "embedding" and completed >= count:
            raise KeyboardInterrupt

    return progress


def half_changed(workspace: Path, server: ProviderServer) -> None:
    """Leave a change from `old` to `new` in the middle, as a kill would."""
    filled(workspace, server)
    with opened(workspace, server, "new") as memory, pytest.raises(KeyboardInterrupt):
        memory.sync(progress=stop_after(6))


# While it is under way


def test_the_old_model_answers_until_the_new_one_is_complete(workspace: Path, server: ProviderServer) -> None:
    half_changed(workspace, server)
    with opened(workspace, server, "new", **{"sync.on_search": False}) as memory:
        result = memory.search(CHUNK, mode="vectors")
    assert (result.model, result.mode, result.pending) == ("old", "vectors", 0)
    assert result[0].path == "memory/n7.md"


def test_status_tells_how_far_it_is(workspace: Path, server: ProviderServer) -> None:
    half_changed(workspace, server)
    with opened(workspace, server, "new") as memory:
        assert states(memory) == {"old": ("serving", 12), "new": ("filling", 6)}


def test_it_goes_on_where_it_was_stopped(workspace: Path, server: ProviderServer) -> None:
    half_changed(workspace, server)
    with opened(workspace, server, "new") as memory:
        report = memory.sync()
    assert report.switched == "from openai-compatible (old) to openai-compatible (new)"
    assert embedded(server, "new") == 12


def test_no_search_in_between_is_empty_or_mixed_or_by_words(workspace: Path, server: ProviderServer) -> None:
    filled(workspace, server)
    seen: list[tuple[str, str, str]] = []
    done = threading.Event()

    def ask() -> None:
        with opened(workspace, server, "new", **{"sync.on_search": False}) as memory:
            while not done.is_set():
                result = memory.search(CHUNK, mode="vectors")
                seen.append((result.model, result.mode, result[0].path))

    asking = threading.Thread(target=ask)
    asking.start()
    with opened(workspace, server, "new") as memory:
        memory.sync()
        while len(seen) < 50 or seen[-1][0] != "new":
            pass
    done.set()
    asking.join()
    assert {(mode, path) for _, mode, path in seen} == {("vectors", "memory/n7.md")}
    models = [model for model, _, _ in seen]
    assert models == sorted(models, reverse=True), "once the new model answers, the old one never does again"


def test_a_note_written_meanwhile_is_found_by_its_words_and_has_a_vector_at_the_end(
    workspace: Path, server: ProviderServer
) -> None:
    half_changed(workspace, server)
    write(workspace, {"late.md": "the giraffe came late\n"})
    with opened(workspace, server, "new") as memory:
        memory._manager.run(embed_limit=0)
        assert memory.search("giraffe", mode="words")[0].path == "memory/late.md"
        assert memory.sync().pending == 0
        assert states(memory)["new"] == ("serving", 13)


def test_a_long_lived_memory_changes_over_in_the_background(workspace: Path, server: ProviderServer) -> None:
    filled(workspace, server)
    with opened(workspace, server, "new") as memory:
        for _ in range(200):
            if memory.search(CHUNK).model == "new":
                break
            threading.Event().wait(0.05)
        assert states(memory)["new"] == ("serving", 12)


def test_a_program_that_asks_once_makes_a_part_of_the_new_vectors(
    workspace: Path, server: ProviderServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled(workspace, server)
    is_late = chain([False, False], repeat(True))
    monkeypatch.setattr("memlines.index.sync.job.Job.is_late", lambda job: next(is_late))
    with opened(workspace, server, "new") as memory:
        assert memory.search(CHUNK).model == "old"
        assert states(memory)["new"] == ("filling", 2)  # one request


def test_a_new_model_that_fails_leaves_the_old_one_answering(workspace: Path, server: ProviderServer) -> None:
    filled(workspace, server)
    server.always = Status(401, "bad key")
    with opened(workspace, server, "new") as memory:
        report = memory.sync()
    server.always = None
    assert (report.pending, report.switched) == (12, "")
    with opened(workspace, server, "new", **{"sync.on_search": False}) as memory:
        assert memory.search(CHUNK).model == "old"


# Cancel, roll back, resume


def test_a_cancelled_change_leaves_the_old_model_and_is_not_taken_up_by_itself(
    workspace: Path, server: ProviderServer
) -> None:
    half_changed(workspace, server)
    with opened(workspace, server, "new") as memory:
        assert memory.change_model("cancel").model == "new"
        assert memory.sync().pending == 0
        assert memory.search(CHUNK).model == "old"
        assert states(memory) == {"old": ("serving", 12)}
    assert embedded(server, "new") == 6


def test_a_cancel_stops_a_sync_that_is_under_way(workspace: Path, server: ProviderServer) -> None:
    filled(workspace, server)

    def cancel(completed: int, total: int, label: str) -> None:
        if label == "embedding" and completed == 6:
            with opened(workspace, server, "new") as other:
                other.change_model("cancel")

    with opened(workspace, server, "new") as memory:
        report = memory.sync(progress=cancel)
        assert (report.switched, report.pending) == ("", 0)
        assert "was stopped" in report.warnings[-1]
        assert states(memory) == {"old": ("serving", 12)}
    assert embedded(server, "new") <= 8


def test_a_change_that_nobody_wants_any_more_is_given_up(workspace: Path, server: ProviderServer) -> None:
    half_changed(workspace, server)
    with opened(workspace, server, "old") as memory:
        memory.sync()
        assert states(memory) == {"old": ("serving", 12)}


def test_a_roll_back_to_a_model_that_cannot_be_asked_is_refused(
    workspace: Path, server: ProviderServer
) -> None:
    filled(workspace, server)
    with opened(workspace, server, "new") as memory:
        memory.sync()
    with (
        opened(workspace, server, "new", **{"embeddings.base_url": server.url + "/x"}) as memory,
        pytest.raises(UsageError, match="cannot be asked"),
    ):
        memory.change_model("roll_back")


@pytest.mark.parametrize("way", ["rebuilt", "dropped"])
def test_what_the_service_called_its_model_outlives_an_index_and_a_cancel(
    workspace: Path, server: ProviderServer, way: str
) -> None:
    half_changed(workspace, server)
    with opened(workspace, server, "new") as memory:
        if way == "rebuilt":
            memory._manager.run(force=True, embed_limit=0)
        else:
            memory.change_model("cancel")
            memory.change_model("resume")
        server.always = "model"
    with opened(workspace, server, "new") as memory:
        report = memory.sync()
    assert report.switched == ""
    assert any("answers as new-other" in warning for warning in report.warnings)


def test_after_a_cancel_new_notes_get_vectors_of_the_old_model(
    workspace: Path, server: ProviderServer
) -> None:
    half_changed(workspace, server)
    with opened(workspace, server, "new") as memory:
        memory.change_model("cancel")
        write(workspace, {"late.md": "the giraffe came late\n"})
        memory.sync()
        assert states(memory) == {"old": ("serving", 13)}


def test_a_resumed_change_does_not_pay_twice(workspace: Path, server: ProviderServer) -> None:
    half_changed(workspace, server)
    with opened(workspace, server, "new") as memory:
        memory.change_model("cancel")
        memory.change_model("resume")
        memory.sync()
        assert states(memory)["new"] == ("serving", 12)
    assert embedded(server, "new") == 12


def test_a_roll_back_costs_nothing_and_lasts(workspace: Path, server: ProviderServer) -> None:
    filled(workspace, server)
    with opened(workspace, server, "new") as memory:
        memory.sync()
        before = embedded(server, "old")
        assert memory.change_model("roll_back").model == "old"
        memory.sync()
        assert states(memory) == {"old": ("serving", 12), "new": ("kept", 12)}
        assert memory.status().declined == "openai-compatible (new)"
    assert embedded(server, "old") == before


def test_going_back_by_the_settings_costs_nothing(workspace: Path, server: ProviderServer) -> None:
    filled(workspace, server)
    with opened(workspace, server, "new", **{"cache.enabled": False}) as memory:
        memory.sync()
    count = len(server.requests)
    with opened(workspace, server, "old", **{"cache.enabled": False}) as memory:
        assert memory.sync().switched == "from openai-compatible (new) to openai-compatible (old)"
    assert len(server.requests) == count


def test_only_the_model_before_is_kept(workspace: Path, server: ProviderServer) -> None:
    filled(workspace, server)
    for model in ("second", "third"):
        with opened(workspace, server, model) as memory:
            memory.sync()
            kept = states(memory)
    assert kept == {"second": ("kept", 12), "third": ("serving", 12)}
    assert_sound(index_file(workspace))


@pytest.mark.parametrize("command", ["cancel", "roll_back", "resume"])
def test_without_a_change_there_is_nothing_to_stop_or_take_back(
    workspace: Path, server: ProviderServer, command: Literal["cancel", "roll_back", "resume"]
) -> None:
    filled(workspace, server)
    with opened(workspace, server, "old") as memory, pytest.raises(UsageError):
        memory.change_model(command)


def test_vectors_of_a_model_that_changed_under_its_name_are_made_anew(
    workspace: Path, server: ProviderServer
) -> None:
    filled(workspace, server)
    server.always = "model"
    with opened(workspace, server, "old") as memory:
        write(workspace, {"late.md": "the giraffe came late"})
        assert "memlines model renew" in memory.sync().warnings[0]
        memory.change_model("renew")
        report = memory.sync()
        assert (report.pending, states(memory)) == (0, {"old": ("serving", 13)})


# Other changes at the same time


@pytest.mark.parametrize("settings", [{"chunking.tokens": 20}, {"store.vector.engine": "sqlite-vec"}])
def test_an_index_built_anew_in_the_middle_of_a_change_keeps_both_spaces(
    workspace: Path, server: ProviderServer, settings: Mapping[str, Any]
) -> None:
    half_changed(workspace, server)
    with opened(workspace, server, "new", **settings) as memory:
        memory.sync()
        assert {model: state for model, (state, _) in states(memory).items()} == {
            "old": "kept",
            "new": "serving",
        }


def test_a_note_deleted_in_the_middle_of_a_change_leaves_no_vector(
    workspace: Path, server: ProviderServer
) -> None:
    half_changed(workspace, server)
    (workspace / "memory/n0.md").unlink()
    with opened(workspace, server, "new") as memory:
        memory.sync()
        assert states(memory) == {"old": ("kept", 11), "new": ("serving", 11)}
    assert_sound(index_file(workspace))


def test_search_by_words_keeps_the_vectors_for_later(workspace: Path, server: ProviderServer) -> None:
    filled(workspace, server)
    with Memory(workspace, {"embeddings.provider": "none"}) as memory:
        memory.sync()
        assert memory.search("okapi").mode == "words"
    count = len(server.requests)
    with opened(workspace, server, "old") as memory:
        memory.sync()
    assert len(server.requests) == count

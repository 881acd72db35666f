"""The table of the facts at gs://, spoken by LanceDB's own client with a server that plays the service.

LanceDB speaks the XML interface of Google Cloud Storage, which the emulator of backups does not have. It is
that of S3 but for two headers, so the server that plays S3 answers, with these two translated.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from memlines.errors import StoreError
from memlines.memory.facts import lance
from memlines.memory.facts.rebuild import absent
from tests.admin.fake_s3 import S3, SERVER, serving
from tests.memory.facts.table import Kept, named, note_of

pytest.importorskip("lancedb", reason="needs the extra 'facts'")
pytest.importorskip("moto", reason="needs moto, which plays S3")

TRANSLATING = """\
from moto.moto_server import werkzeug_app

class Translating(werkzeug_app.DomainDispatcherApplication):
    def __call__(self, environ, start_response):
        environ["HTTP_AUTHORIZATION"] = "AWS4-HMAC-SHA256 Credential=x/20260101/us-east-1/s3/aws4_request"
        if environ.get("HTTP_X_GOOG_IF_GENERATION_MATCH") == "0":
            environ["HTTP_IF_NONE_MATCH"] = "*"
        return super().__call__(environ, start_response)

werkzeug_app.DomainDispatcherApplication = Translating
"""

TEA, CAKE, ACME = "Likes tea in the morning.", "Bakes cake on Sundays.", "Works at Acme since spring."


@pytest.fixture(scope="module")
def server() -> Iterator[S3]:
    with serving(TRANSLATING + SERVER) as running:
        yield running


@pytest.fixture
def google(server: S3, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> S3:
    """An empty server with one bucket, and credentials that lead to it."""
    server.request("POST", "moto-api/reset")
    server.request("PUT", "bucket")
    lead_to(server.address, monkeypatch, tmp_path)
    monkeypatch.setattr(lance, "_resting", {})
    return server


def lead_to(address: str, monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Write credentials that name a server, as the service's own libraries allow it for tests."""
    names = ("client_email", "private_key", "private_key_id")
    account = {"gcs_base_url": address, "disable_oauth": True, **dict.fromkeys(names, "")}
    (folder / "account.json").write_text(json.dumps(account), encoding="utf-8")
    monkeypatch.setenv("GOOGLE_SERVICE_ACCOUNT", str(folder / "account.json"))
    monkeypatch.setenv("GOOGLE_ALLOW_HTTP", "true")
    for name in ("GOOGLE_APPLICATION_CREDENTIALS", "GOOGLE_SERVICE_ACCOUNT_KEY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def kept(google: S3, workspace: Path) -> Kept:
    return Kept(workspace, {"facts.uri": "gs://bucket/facts"})


def test_facts_are_found_in_a_bucket(kept: Kept, google: S3) -> None:
    assert kept.keep(note_of(TEA, CAKE)) == "rebuilt"
    assert kept.nearest(TEA) == {named(0): pytest.approx(1, abs=1e-3)}
    assert {key.split("/")[0] for key in google.listing()} == {"facts"}


def test_a_change_of_the_note_reaches_the_bucket(kept: Kept) -> None:
    kept.keep(note_of(TEA, CAKE))
    assert kept.keep(note_of(TEA, ACME)) == "rebuilt"
    assert kept.texts() == kept.of_the_note()


def test_no_byte_is_left_once_the_table_is_forgotten(kept: Kept, google: S3) -> None:
    kept.keep(note_of(TEA))
    with absent(kept.uri):
        pass
    assert google.listing() == []


def test_a_missing_bucket_is_reported(google: S3, workspace: Path) -> None:
    kept = Kept(workspace, {"facts.uri": "gs://nobucket/facts"})
    with pytest.raises(StoreError, match=r"the bucket of 'gs://nobucket/facts/\w+' does not exist"):
        kept.keep(note_of(TEA))


def test_a_service_that_does_not_answer_is_reported(
    kept: Kept, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    lead_to("http://127.0.0.1:1", monkeypatch, tmp_path)
    with pytest.raises(StoreError, match=r"cannot be reached") as caught:
        kept.keep(note_of(TEA))
    assert caught.value.todo == "Check the network"

"""What the command line tells about providers, models and costs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.embed.fake_service import ProviderServer, Status, provider_server
from tests.memories import write
from tests.programs import Cli

NOTES = {f"n{number}.md": f"the okapi called name{number} sleeps" for number in range(3)}


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ProviderServer]:
    with provider_server("openai-compatible") as server:
        for key, value in {
            "PROVIDER": "openai-compatible",
            "BASE_URL": server.url,
            "API_KEY": str(server.key),
            "MODEL": "first",
        }.items():
            monkeypatch.setenv(f"MEMLINES_EMBEDDINGS__{key}", value)
        yield server


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str]) -> Cli:
    return Cli(capsys)


@pytest.fixture
def notes(workspace: Path) -> Path:
    write(workspace, NOTES)
    return workspace


@pytest.fixture
def changed(cli: Cli, notes: Path, server: ProviderServer, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workspace whose model was changed from `first` to `second`."""
    cli("sync", "-w", notes)
    monkeypatch.setenv("MEMLINES_EMBEDDINGS__MODEL", "second")
    cli("sync", "-w", notes)
    return notes


def test_a_sync_tells_that_the_model_changed(
    cli: Cli, notes: Path, server: ProviderServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    cli("sync", "-w", notes)
    monkeypatch.setenv("MEMLINES_EMBEDDINGS__MODEL", "second")
    told = cli("sync", "-w", notes)
    assert "The model changed from openai-compatible (first) to openai-compatible (second)" in told.out


def test_model_shows_what_answers_and_what_is_kept(cli: Cli, changed: Path) -> None:
    told = cli("model", "-w", changed).out
    assert "openai-compatible (second): answers, 3 of 3 chunks" in told
    assert "openai-compatible (first): is kept;" in told


def test_model_without_vectors(cli: Cli, workspace: Path) -> None:
    assert "no vectors yet" in cli("model", "-w", workspace).out


def test_model_as_json(cli: Cli, changed: Path) -> None:
    told = cli("model", "-w", changed, "--json").json
    assert told["wanted"] == {"provider": "openai-compatible", "model": "second"}
    assert {space["model"]: space["state"] for space in told["spaces"]} == {
        "first": "kept",
        "second": "serving",
    }


def test_a_rollback_and_what_status_says_of_it(cli: Cli, changed: Path) -> None:
    assert "openai-compatible (first) answers again" in cli("model", "rollback", "-w", changed).out.lower()
    assert "declined   openai-compatible (second)" in cli("status", "-w", changed).out
    assert "is accepted again" in cli("model", "resume", "-w", changed).out


def test_a_cancel_without_a_change_is_an_error_with_a_way_out(cli: Cli, changed: Path) -> None:
    told = cli("model", "cancel", "-w", changed)
    assert (told.code, "memlines model" in told.err) == (2, True)


def test_a_change_that_is_under_way_is_in_the_status(
    cli: Cli, notes: Path, server: ProviderServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    cli("sync", "-w", notes)
    monkeypatch.setenv("MEMLINES_EMBEDDINGS__MODEL", "second")
    server.always = Status(401)
    assert cli("sync", "-w", notes).code == 1
    told = cli("status", "-w", notes).out
    assert "change     to openai-compatible (second): 0 of 3 vectors made; until then the old" in told


# Costs


def test_a_dry_run_tells_tokens_price_and_where_text_goes_and_does_nothing(
    cli: Cli, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMLINES_EMBEDDINGS__PROVIDER", "openai")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    told = cli("sync", "-w", notes, "--dry-run")
    assert told.code == 0
    assert "Files: 3 new, 0 changed, 0 removed, 0 unchanged" in told.out
    assert "sent to api.openai.com" in told.out
    assert "$0.00" in told.out
    assert not (notes / ".memory").exists()


def test_a_dry_run_as_json(cli: Cli, notes: Path, server: ProviderServer) -> None:
    told = cli("sync", "-w", notes, "--dry-run", "--json").json
    assert (told["texts"], told["chunks"], told["dollars"]) == (3, 3, None)
    assert server.requests == []


def test_a_dry_run_tells_that_a_limit_would_stop_it(
    cli: Cli, notes: Path, server: ProviderServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMLINES_SPEND__MAX_TOKENS_PER_RUN", "5")
    assert "spend.max_tokens_per_run" in cli("sync", "-w", notes, "--dry-run").err


def test_status_tells_what_was_spent(cli: Cli, notes: Path, server: ProviderServer) -> None:
    cli("sync", "-w", notes)
    assert "spent      today" in cli("status", "-w", notes).out


# The probe


def test_a_probe_that_succeeds(cli: Cli, notes: Path, server: ProviderServer) -> None:
    told = cli("status", "-w", notes, "--deep")
    assert (told.code, "provider   it works and returns 8 numbers" in told.out) == (0, True)


def test_a_probe_that_fails_has_an_exit_code_of_its_own(
    cli: Cli, notes: Path, server: ProviderServer
) -> None:
    server.always = Status(401, "Incorrect API key")
    told = cli("status", "-w", notes, "--deep")
    assert told.code == 6
    assert "Incorrect API key" in told.out
    assert str(server.key) not in told.out


def test_doctor_tries_the_provider_if_asked(cli: Cli, notes: Path, server: ProviderServer) -> None:
    cli("sync", "-w", notes)
    server.always = Status(401, "Incorrect API key")
    assert "not tried" in cli("doctor", "-w", notes).out
    told = cli("doctor", "-w", notes, "--deep")
    assert "Incorrect API key" in told.out + told.err

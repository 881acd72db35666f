"""The doctor looks without changing anything, and says what is wrong whatever cannot be read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import pytest

from memlines.admin.doctor import examine as examination
from memlines.admin.doctor.examine import CHECKS, examine
from memlines.admin.doctor.findings import Checkup, Finding, ok
from memlines.errors import WorkspaceError
from tests.admin.doctor import (
    cut_off,
    everything,
    look,
    made_by_a_newer_version,
    make_old,
    make_synced,
    middle_zeroed,
    only,
    repair,
    words_garbled,
    wrong,
)
from tests.indexes import (
    index_file,
    notes,
    sync,
    write,
)
from tests.providers import FakeProvider

if TYPE_CHECKING:
    from memlines.embed.base import Vector


@pytest.fixture
def synced(workspace: Path) -> Path:
    """A workspace whose index equals its notes, by words."""
    return make_synced(workspace)


@pytest.fixture
def vectored(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workspace whose index holds vectors, of a provider that `auto` chooses."""
    monkeypatch.setattr("memlines.embed.builtin.files.BuiltinProvider", FakeProvider)
    write(workspace, notes(5))
    sync(workspace, FakeProvider())
    return workspace


# A memory that is well


def test_nothing_is_wrong_with_a_memory_that_was_just_synced(synced: Path) -> None:
    assert wrong(look(synced)) == []


def test_nothing_is_wrong_with_a_memory_that_has_vectors(vectored: Path) -> None:
    assert wrong(examine(vectored)) == []


def test_every_check_says_something_about_a_memory_with_vectors(vectored: Path) -> None:
    said = {finding.check for finding in examine(vectored).findings}
    assert said == {name for name, _ in CHECKS} - {"old-name"}, "which is for what an old name left"


def test_an_empty_workspace_is_well(workspace: Path) -> None:
    assert wrong(look(workspace)) == []


def test_looking_deep_finds_nothing_wrong_either(synced: Path) -> None:
    assert wrong(look(synced, deep=True)) == []


def test_a_workspace_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(WorkspaceError):
        look(tmp_path / "nowhere")


# Looking changes nothing


def test_looking_changes_no_file(synced: Path) -> None:
    before = everything(synced)
    look(synced, deep=True)
    assert everything(synced) == before


def test_looking_makes_no_private_folder(workspace: Path) -> None:
    write(workspace, notes(1))
    look(workspace)
    assert not (workspace / ".memory").exists()


def test_looking_at_a_damaged_memory_changes_no_file(synced: Path) -> None:
    middle_zeroed(index_file(synced))
    (synced / ".memory" / "index.sqlite.lock").write_text("{}", encoding="utf-8")
    (synced / ".memory" / "config.yaml").write_text("no: such key", encoding="utf-8")
    before = everything(synced)
    examine(synced, deep=True)
    assert everything(synced) == before


# Settings and providers


def configure(workspace: Path, text: str) -> None:
    (workspace / ".memory").mkdir(exist_ok=True)
    (workspace / ".memory" / "config.yaml").write_text(text, encoding="utf-8")


@pytest.mark.parametrize("text", ["query: {max_result: 3}", "a: [", "embeddings: {provider: openai}"])
def test_settings_that_cannot_be_used_are_a_problem(synced: Path, text: str) -> None:
    configure(synced, text)
    assert only(look(synced), "settings").level == "problem"


def test_the_index_is_checked_although_the_settings_cannot_be_used(synced: Path) -> None:
    configure(synced, "a: [")
    cut_off(index_file(synced))
    assert only(look(synced), "index").repair == "rebuild"


def test_a_project_file_that_nobody_trusts_names_the_keys_and_what_to_do(synced: Path) -> None:
    configure(synced, "extra_paths: [/etc]")
    found = only(look(synced), "settings")
    assert "sets extra_paths" in found.message
    assert "memlines config trust" in found.todo


def test_repair_without_usable_settings_does_what_needs_none(synced: Path) -> None:
    configure(synced, "a: [")
    left = synced / "memory" / f".memlines-{'0' * 32}.tmp"
    left.write_text("half", encoding="utf-8")
    make_old(left)
    cut_off(index_file(synced))
    done = {item.repair: item.done for item in repair(synced).repairs}
    assert done == {"sweep": True, "rebuild": False}


def test_a_memory_that_is_switched_off_is_a_warning(synced: Path) -> None:
    configure(synced, "enabled: false")
    assert only(look(synced), "settings").message.startswith("memory is switched off")


def test_a_provider_that_cannot_be_had_is_a_problem(synced: Path) -> None:
    found = only(examine(synced, {"embeddings.provider": "openai"}), "provider")
    assert (found.level, "openai" in found.message) == ("problem", True)


class Remote(FakeProvider):
    """A provider that must not be given anything unasked."""

    given: ClassVar[list[str]] = []

    def embed_query(self, text: str) -> Vector:
        self.given.append(text)
        return super().embed_query(text)


def test_a_provider_is_given_a_word_only_if_asked(synced: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memlines.embed.builtin.files.BuiltinProvider", Remote)
    monkeypatch.setattr(Remote, "given", [])
    examine(synced)
    assert Remote.given == []
    examine(synced, deep=True)
    assert Remote.given == ["memory"]


def test_an_old_sqlite_is_a_problem(synced: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memlines.admin.doctor.vectors._SAFE_SQLITE", (99, 0, 0))
    assert "99.0.0 and later cannot" in only(look(synced), "engines").message


# How it works


def refused(checkup: Checkup) -> Iterator[Finding]:
    yield ok("so far")
    raise PermissionError(13, "Permission denied", "/some/file")


def test_a_check_that_cannot_be_made_is_a_problem(synced: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(examination, "CHECKS", (("refused", refused),))
    assert look(synced).findings == (
        Finding("refused", "ok", "so far"),
        Finding(
            "refused",
            "problem",
            "/some/file cannot be looked at: permission denied",
            "Check its permissions and the disk",
        ),
    )


def test_repair_of_a_healthy_memory_does_nothing(synced: Path) -> None:
    before = everything(synced)
    assert repair(synced).repairs == ()
    assert everything(synced) == before


def test_what_is_not_ok_says_what_to_do(synced: Path) -> None:
    for damage in (words_garbled, made_by_a_newer_version):
        damage(index_file(synced))
        assert all(item.todo for item in wrong(look(synced)))

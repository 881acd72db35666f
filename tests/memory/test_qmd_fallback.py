"""Whatever qmd does, a search is answered: by the builtin engine, from the first failure on."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from memlines import Memory
from memlines.admin.doctor.examine import examine
from memlines.memory.fallback import seconds_to_wait
from memlines.settings.qmd import Qmd, QmdUpdate
from tests.memories import write
from tests.programs import Cli
from tests.qmd import SETTINGS, open_qmd, write_program

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the programs are scripts")

NOTES = {"memory/a.md": "The falcon key is of brass.\n"}
UPDATES = 'case "$1" in update) echo updated; exit 0;; esac'

FAULTS = {
    "killed": "kill -9 $$",
    "slow": "sleep 600",
    "garbage": "echo Segmentation fault",
    "empty": "exit 0",
    "giant": "yes",
    "wrong exit": "echo no such index >&2; exit 1",
}
REASONS = {
    "killed": "code -9",
    "slow": "took longer than",
    "garbage": "something else than hits",
    "empty": "printed nothing",
    "giant": "more than 200,000 characters",
    "wrong exit": "no such index",
}


def faulty(workspace: Path, folder: Path, fault: str) -> Memory:
    """Return a memory whose qmd updates and then fails to search."""
    program = write_program(folder / "bin", f"{UPDATES}\n{FAULTS[fault]}")
    return open_qmd(workspace, program, NOTES, qmd__limits__timeout_ms=1000)


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.promise("P6")
def test_a_search_is_answered_whatever_is_wrong_with_qmd(workspace: Path, tmp_path: Path, fault: str) -> None:
    with faulty(workspace, tmp_path, fault) as memory:
        assert [hit.citation for hit in memory.search("falcon key")] == ["memory/a.md#L1"]


@pytest.mark.parametrize("fault", FAULTS)
def test_status_says_why_the_builtin_engine_answers(workspace: Path, tmp_path: Path, fault: str) -> None:
    with faulty(workspace, tmp_path, fault) as memory:
        memory.search("falcon key")
        fallback = memory.status().fallback or {}
    assert (fallback["from"], fallback["to"], REASONS[fault] in fallback["reason"]) == (
        "qmd",
        "builtin",
        True,
    )


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        ("echo qmd 2.8.3", ("ok", "qmd 2.8.3")),
        ("kill -11 $$", ("warning", "code -11")),
        ("", ("warning", "is not")),
    ],
)
def test_doctor_says_whether_the_program_starts(
    workspace: Path, tmp_path: Path, lines: str, found: tuple[str, str]
) -> None:
    program = write_program(tmp_path / "bin", lines) if lines else tmp_path / "none"
    write(workspace, NOTES)
    (finding,) = [
        one
        for one in examine(workspace, {**SETTINGS, "qmd.command": str(program)}).findings
        if one.check == "qmd"
    ]
    assert finding.level == found[0]
    assert found[1] in finding.message


@pytest.mark.promise("P13")
def test_what_is_written_down_for_qmd_and_by_it_is_private(workspace: Path, tmp_path: Path) -> None:
    program = write_program(tmp_path / "bin", 'echo [] | tee "$XDG_CACHE_HOME/qmd/memlines.sqlite"')
    with open_qmd(workspace, program, NOTES) as memory:
        memory.search("falcon key")
    written = [path for path in (workspace / ".memory/qmd").rglob("*") if path.is_file()]
    assert {path.name for path in written} >= {"memlines.yml", "memlines.sqlite", "mark"}
    assert [path.name for path in written if path.stat().st_mode & 0o077] == []


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.promise("P6")
def test_an_update_that_fails_is_no_error_either(workspace: Path, tmp_path: Path, fault: str) -> None:
    program = write_program(tmp_path / "bin", FAULTS[fault])
    limits = {"qmd__limits__timeout_ms": 1000, "qmd__update__update_timeout_ms": 200}
    with open_qmd(workspace, program, NOTES, **limits) as memory:
        assert [hit.citation for hit in memory.search("falcon key")] == ["memory/a.md#L1"]


def test_a_qmd_that_failed_is_not_asked_again(workspace: Path, tmp_path: Path) -> None:
    program = write_program(tmp_path / "bin", f"echo $1 >>{tmp_path}/calls\n{UPDATES}\nexit 1")
    with open_qmd(workspace, program, NOTES) as memory:
        for _ in range(3):
            memory.search("falcon key")
    assert (tmp_path / "calls").read_text(encoding="utf-8").split() == ["update", "query"]


def test_a_boot_update_is_tried_three_times(workspace: Path, tmp_path: Path) -> None:
    program = write_program(tmp_path / "bin", f"echo $1 >>{tmp_path}/calls\nexit 1")
    with open_qmd(workspace, program, NOTES) as memory:
        memory.search("falcon key")
    assert (tmp_path / "calls").read_text(encoding="utf-8").split() == ["update"] * 3


def test_the_first_answer_without_qmd_warns(workspace: Path, tmp_path: Path) -> None:
    with faulty(workspace, tmp_path, "garbage") as memory:
        warned = [[text.partition(":")[0] for text in memory.search("falcon key").warnings] for _ in range(2)]
    assert warned == [["the builtin engine answers from now on"], []]


def test_another_memory_asks_qmd_again(workspace: Path, tmp_path: Path) -> None:
    with faulty(workspace, tmp_path, "garbage") as memory:
        memory.search("falcon key")
    with faulty(workspace, tmp_path, "garbage") as memory:
        assert memory.status().fallback is None


def test_status_notices_at_once_that_the_program_is_missing(workspace: Path) -> None:
    with open_qmd(workspace, "no-such-qmd", NOTES) as memory:
        fallback = memory.status().fallback or {}
    assert fallback["reason"].startswith("the program 'no-such-qmd' is not there")


@pytest.mark.promise("P6")
def test_a_search_without_the_program_is_answered(workspace: Path) -> None:
    with open_qmd(workspace, "no-such-qmd", NOTES) as memory:
        assert [hit.citation for hit in memory.search("falcon key")] == ["memory/a.md#L1"]


@pytest.mark.promise("P6")
def test_a_sync_without_the_program_warns(workspace: Path) -> None:
    with open_qmd(workspace, "no-such-qmd", NOTES) as memory:
        assert "is not there" in memory.sync().warnings[0]


def test_the_command_shows_which_engine_answers(
    workspace: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    for key, value in {"BACKEND": SETTINGS["backend"], "QMD__COMMAND": "no-such-qmd"}.items():
        monkeypatch.setenv(f"MEMLINES_{key}", str(value))
    out = " ".join(cli("status", "-w", workspace).out.split())
    assert "fallback builtin instead of qmd: the program 'no-such-qmd' is not there" in out


@pytest.mark.promise("P6")
def test_closing_a_memory_does_not_wait_for_an_update(workspace: Path, tmp_path: Path) -> None:
    program = write_program(tmp_path / "bin", "echo $$ >own; exec sleep 600")
    limits = {"qmd__limits__timeout_ms": 500}
    with open_qmd(workspace, program, NOTES, **limits) as memory:
        provider = memory.search("falcon key").provider
    assert provider == "none"


# Programs that answer


FOUND = '[{"file": "qmd://memory-dir-main/a.md?index=memlines", "line": 1, "score": 0.42}]'


def answering(workspace: Path, folder: Path, first: str = "", **settings: Any) -> Memory:
    """Return a memory whose qmd finds the note whatever it is asked, and notes each command."""
    lines = (
        f"echo $1 >>{folder}/calls\n{first}\ncase $1 in update|embed) echo done;; *) echo '{FOUND}';; esac"
    )
    return open_qmd(workspace, write_program(folder / "bin", lines), NOTES, **settings)


def calls(folder: Path) -> list[str]:
    return (folder / "calls").read_text(encoding="utf-8").split()


@pytest.fixture
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache with a file where qmd keeps its models."""
    folder = tmp_path / "cache/qmd/models"
    folder.mkdir(parents=True)
    (folder / "one.gguf").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return folder


@pytest.mark.usefixtures("models")
@pytest.mark.parametrize(("mode", "called"), [("vsearch", "vectors"), ("query", "hybrid")])
def test_a_search_by_vectors_says_so_and_keeps_the_score_of_qmd(
    workspace: Path, tmp_path: Path, mode: str, called: str
) -> None:
    with answering(workspace, tmp_path, qmd__search_mode=mode) as memory:
        result = memory.search("falcon key")
    assert (result.mode, [hit.score for hit in result]) == (called, [0.42])


@pytest.mark.usefixtures("models")
def test_vectors_are_made_after_an_update(workspace: Path, tmp_path: Path) -> None:
    with answering(workspace, tmp_path, qmd__search_mode="vsearch") as memory:
        memory.search("falcon key")
    assert calls(tmp_path) == ["update", "embed", "vsearch"]


def test_by_words_no_vectors_are_made(workspace: Path, tmp_path: Path) -> None:
    with answering(workspace, tmp_path) as memory:
        memory.search("falcon key")
    assert calls(tmp_path) == ["update", "query"]


@pytest.mark.usefixtures("models")
def test_vectors_that_failed_are_not_made_at_once_again(workspace: Path, tmp_path: Path) -> None:
    with answering(workspace, tmp_path, "[ $1 = embed ] && exit 1", qmd__search_mode="vsearch") as memory:
        memory.search("falcon key")
        memory.remember("The osprey nests on the crane")
        memory.search("falcon key")
    assert calls(tmp_path) == ["update", "embed", "vsearch", "update", "vsearch"]


def test_the_models_of_the_user_are_shared(workspace: Path, tmp_path: Path, models: Path) -> None:
    with answering(workspace, tmp_path, qmd__search_mode="vsearch") as memory:
        memory.search("falcon key")
    assert (workspace / ".memory/qmd/main/cache/qmd/models").resolve() == models.resolve()


def test_soon_after_an_update_none_is_made_and_the_builtin_engine_answers(
    workspace: Path, tmp_path: Path
) -> None:
    with answering(workspace, tmp_path, qmd__update__debounce_ms=3_600_000) as memory:
        memory.search("falcon key")
        memory.remember("The osprey nests on the crane")
        hits = memory.search("osprey crane").hits
    assert (len(hits), calls(tmp_path)) == (1, ["update", "query"])


def test_a_hit_in_a_collection_that_is_not_ours_is_left_out(workspace: Path, tmp_path: Path) -> None:
    program = write_program(tmp_path / "bin", f"echo '{FOUND.replace('memory-dir', 'other')}'")
    with open_qmd(workspace, program, NOTES) as memory:
        assert memory.search("falcon key").provider == "none"


@pytest.mark.parametrize("path", ["a\\u0000.md", "a\\ud800.md"])
def test_a_hit_that_no_file_can_be_is_left_out(workspace: Path, tmp_path: Path, path: str) -> None:
    rows = f"{FOUND[:-1]}, {FOUND[1:].replace('a.md', path)}"
    program = write_program(tmp_path / "bin", f"{UPDATES}\ncat <<'END'\n{rows}\nEND")
    with open_qmd(workspace, program, NOTES) as memory:
        result = memory.search("falcon key")
    assert (result.provider, [hit.path for hit in result]) == ("qmd", ["memory/a.md"])


@pytest.mark.usefixtures("models")
@pytest.mark.parametrize("mode", ["search", "vsearch", "query"])
@pytest.mark.parametrize("query", ["falcon\0key", "falcon \ud800 key", "falcon key " + "x" * 200_000])
def test_any_query_can_be_asked(workspace: Path, tmp_path: Path, mode: str, query: str) -> None:
    with answering(workspace, tmp_path, qmd__search_mode=mode) as memory:
        assert memory.search(query).provider == "qmd"


def test_a_query_of_which_nothing_can_be_asked_is_not_asked(workspace: Path, tmp_path: Path) -> None:
    with answering(workspace, tmp_path) as memory:
        memory.search("." * 5000 + " falcon")
        assert memory.status().fallback is None
    assert calls(tmp_path) == ["update"]


@pytest.mark.parametrize("path", ["../../secret.md", "/etc/passwd", "../config.yaml"])
@pytest.mark.promise("P7")
def test_a_hit_outside_of_the_notes_is_left_out(workspace: Path, tmp_path: Path, path: str) -> None:
    (tmp_path / "secret.md").write_text("falcon key\n", encoding="utf-8")
    program = write_program(tmp_path / "bin", f"echo '{FOUND.replace('a.md', path)}'")
    with open_qmd(workspace, program, NOTES) as memory:
        assert [hit.path for hit in memory.search("falcon key")] == ["memory/a.md"]


@pytest.mark.parametrize("link", ["qmd", "qmd/main"])
@pytest.mark.promise("P7")
def test_forgetting_follows_no_link_out_of_the_private_folder(
    workspace: Path, tmp_path: Path, link: str
) -> None:
    kept = [tmp_path / "elsewhere" / name for name in ("kept/file", "file")]
    for file in kept:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
    place = workspace / ".memory" / link
    place.parent.mkdir(parents=True)
    place.symlink_to(tmp_path / "elsewhere")
    with open_qmd(workspace, "no-such-qmd", NOTES) as memory:
        memory.forget(memory.forget_candidates("memory/a.md"))
    assert [file.exists() for file in kept] == [True, True]


# When a search updates


WAITS: dict[str, tuple[float | None, dict[str, Any]]] = {
    "nothing changed": (None, {"is_behind": False}),
    "a note changed": (0.5, {}),
    "soon after an update": (None, {"age": 14.0}),
    "the first search": (4.0, {"age": 14.0, "is_boot": True}),
    "the first search finds all as it was": (None, {"is_boot": True, "is_behind": False}),
}


@pytest.mark.parametrize("case", WAITS)
def test_a_search_waits_for_an_update_that_it_needs(case: str) -> None:
    seconds, given = WAITS[case]
    usual: dict[str, Any] = {"age": 60.0, "is_boot": False, "is_behind": True}
    assert seconds_to_wait(Qmd(), **(usual | given)) == seconds


@pytest.mark.parametrize(("minutes", "seconds"), [(1, 0.0), (2, None), (0, None)])
def test_other_folders_are_looked_at_by_the_clock_and_no_search_waits(
    minutes: int, seconds: float | None
) -> None:
    wanted = Qmd(paths=(("/elsewhere", "*.md"),), update=QmdUpdate(interval_minutes=minutes))
    assert seconds_to_wait(wanted, 60.0, is_boot=False, is_behind=False) == seconds


def test_the_first_search_waits_for_every_try_if_so_set() -> None:
    wanted = Qmd(update=QmdUpdate(wait_for_boot_sync=True))
    assert seconds_to_wait(wanted, 60.0, is_boot=True, is_behind=True) == 360.0

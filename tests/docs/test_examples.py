"""The demo does what it claims: it answers by meaning, in a folder of its own."""

from __future__ import annotations

import os
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from memlines import Memory
from tests.memories import WORDS_ONLY

DEMO = Path(__file__).resolve().parents[2] / "examples/demo.py"
MADE = runpy.run_path(str(DEMO), run_name="demo")
QUESTIONS, NOTES = MADE["QUESTIONS"], MADE["NOTES"]


@pytest.fixture(scope="module")
def by_words(tmp_path_factory: pytest.TempPathFactory) -> dict[str, set[str]]:
    """For every question of the demo, the notes that share a word with it."""
    folder = tmp_path_factory.mktemp("notes")
    for file in NOTES.rglob("*.md"):
        copy = folder / file.relative_to(NOTES)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(file.read_bytes())
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MEMLINES_HOME", str(tmp_path_factory.mktemp("home")))
        with Memory(folder, WORDS_ONLY) as memory:
            return {
                question.text: {
                    hit.path for hit in memory.search(question.text, max_results=1000, min_score=0)
                }
                for question in QUESTIONS
            }


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.text)
def test_a_question_shares_no_word_with_the_note_that_answers_it(
    question: Any, by_words: dict[str, set[str]]
) -> None:
    assert question.answered_by not in by_words[question.text]


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.text)
def test_the_telling_lines_are_in_the_note(question: Any) -> None:
    lines = (NOTES / question.answered_by).read_text(encoding="utf-8").splitlines()
    for beginning in question.telling:
        assert any(line.strip().startswith(beginning) for line in lines)


def run_demo(folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(DEMO)],
        cwd=folder,
        env=dict(os.environ),
        capture_output=True,
        encoding="utf-8",
        timeout=110,
        check=False,
    )


def test_the_demo_answers_every_question(tmp_path: Path) -> None:
    done = run_demo(tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert f"{len(QUESTIONS)} of {len(QUESTIONS)} answered from the expected note." in done.stdout
    assert done.stdout.count("no word in common") == len(QUESTIONS)
    assert "\x1b" not in done.stdout
    assert [entry.name for entry in tmp_path.iterdir()] == ["demo-workspace"]


def test_the_demo_leaves_a_folder_alone_that_it_did_not_make(tmp_path: Path) -> None:
    (tmp_path / "demo-workspace").mkdir()
    (tmp_path / "demo-workspace/mine.md").write_text("mine\n", encoding="utf-8")
    done = run_demo(tmp_path)
    assert done.returncode == 1
    assert "was left alone" in done.stderr
    assert [file.name for file in (tmp_path / "demo-workspace").iterdir()] == ["mine.md"]


def _make_room(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Prepare the workspace of the demo once more, without asking it anything."""
    monkeypatch.chdir(folder)
    assert MADE["_fresh_workspace"]()


def test_the_demo_makes_an_unchanged_workspace_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _make_room(tmp_path, monkeypatch)
    _make_room(tmp_path, monkeypatch)
    assert [entry.name for entry in tmp_path.iterdir()] == ["demo-workspace"]


def test_the_demo_keeps_what_was_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _make_room(tmp_path, monkeypatch)
    (tmp_path / "demo-workspace/memory/mine.md").write_text("mine\n", encoding="utf-8")
    _make_room(tmp_path, monkeypatch)
    assert not (tmp_path / "demo-workspace/memory/mine.md").exists()
    (kept,) = tmp_path.glob("demo-workspace-*/memory/mine.md")
    assert kept.read_text(encoding="utf-8") == "mine\n"

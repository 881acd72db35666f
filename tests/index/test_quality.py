"""Search finds what it should: floors on labelled questions, with the builtin model."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from memlines.admin.evaluation.run import MODES, copy_workspace, evaluate, evaluation_json
from memlines.admin.evaluation.sets import read_folder
from memlines.memory.memory import Memory
from memlines.types import Mode, SearchResult
from tests.indexes import silent

OURS = Path(__file__).parent / "quality"
SHARED = Path(__file__).resolve().parents[3] / "shared" / "bench"

Figures = Mapping[str, Any]


@pytest.fixture(scope="module")
def ours() -> Figures:
    return _figures(OURS)


def _figures(folder: Path, modes: Sequence[Mode] = MODES) -> Figures:
    figures: Figures = evaluation_json(evaluate(read_folder(folder), {}, modes, silent))["modes"]
    return figures


@pytest.fixture(scope="module")
def unanswerable(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Sequence[SearchResult]]:
    """Return by kind what each question gets that the notes do not answer."""
    folder = tmp_path_factory.mktemp("nothing")
    copy_workspace(OURS / "main", folder)
    got: dict[str, list[SearchResult]] = {}
    with Memory(folder) as memory:
        memory.sync()
        for line in (OURS / "nothing.jsonl").read_text(encoding="utf-8").splitlines():
            query = json.loads(line)
            got.setdefault(query["type"], []).append(memory.search(query["query"]))
    return got


def test_nonsense_is_no_match(unanswerable: Mapping[str, Sequence[SearchResult]]) -> None:
    # A part of a code may be in a note.
    assert sum(result.confident for result in unanswerable["nonsense"]) <= 1


def test_what_the_notes_do_not_hold_is_mostly_no_match(
    unanswerable: Mapping[str, Sequence[SearchResult]],
) -> None:
    assert sum(result.confident for result in unanswerable["other"]) <= 2


def test_most_questions_are_answered_with_the_default_settings(ours: Figures) -> None:
    assert ours["hybrid"]["silent"] <= 0.2


@pytest.mark.parametrize(
    ("kind", "floor"),
    [
        ("exact", 1.0),
        ("easy", 1.0),
        ("stem", 0.95),
        ("cjk", 1.0),
        ("paraphrase", 0.6),
        ("cross", 0.85),
        ("time", 0.7),
    ],
)
def test_the_lines_are_among_the_first_five(ours: Figures, kind: str, floor: float) -> None:
    assert ours["hybrid"]["types"][kind]["metrics"]["line@5"] >= floor


def test_the_first_file_is_mostly_the_right_one(ours: Figures) -> None:
    assert ours["hybrid"]["metrics"]["mrr"] >= 0.84


@pytest.mark.parametrize("metric", ["any@5", "rec@10", "mrr", "line@5", "line@10"])
def test_both_legs_together_are_not_below_either(ours: Figures, metric: str) -> None:
    words, vectors, both = (ours[mode]["metrics"][metric] for mode in ("words", "vectors", "hybrid"))
    assert both >= max(words, vectors) - 0.01


@pytest.mark.parametrize(
    ("name", "floors"),
    [
        ("locomo_md", {"any@5": 0.94, "rec@10": 0.945, "mrr": 0.835, "line@5": 0.87, "passage@5": 0.85}),
        pytest.param("xquad_de_to_en", {"line@5": 0.945}, marks=pytest.mark.slow),
        pytest.param("xquad_en", {"line@5": 0.985}, marks=pytest.mark.slow),
        pytest.param("xquad_de", {"line@5": 0.98}, marks=pytest.mark.slow),
        pytest.param("xquad_zh", {"line@5": 0.98}, marks=pytest.mark.slow),
        pytest.param("locomo_jsonl", {"any@5": 0.94, "line@5": 0.87}, marks=pytest.mark.slow),
    ],
)
@pytest.mark.timeout(600)
def test_public_sets_stay_above_their_floors(name: str, floors: Mapping[str, float]) -> None:
    if not (SHARED / name).is_dir():
        pytest.skip("the set is not here")
    figures = _figures(SHARED / name, ("hybrid",))["hybrid"]["metrics"]
    assert {metric: figures[metric] >= floor for metric, floor in floors.items()} == dict.fromkeys(
        floors, True
    )

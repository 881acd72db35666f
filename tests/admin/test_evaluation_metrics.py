"""The metrics say what their definitions say."""

from __future__ import annotations

import json
import math
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlines.admin.evaluation.sets import METRICS, Gold, HitLines, means, percentile, scores

SCORER = Path(__file__).resolve().parents[3] / "shared" / "bench" / "score.py"


def found(*hits: tuple[str, int, int]) -> list[HitLines]:
    return [HitLines(path, start, end, 0.5, start, end) for path, start, end in hits]


RANKED = found(("a", 1, 9), ("a", 10, 19), ("b", 1, 9), ("c", 1, 9), ("d", 1, 9), ("e", 1, 9), ("f", 1, 9))
"""Seven hits in six files."""


@pytest.mark.parametrize(
    ("metric", "value"),
    [
        ("any@1", 0.0),
        ("any@5", 1.0),
        ("any@10", 1.0),
        ("all@1", 0.0),
        ("all@5", 0.0),
        ("all@10", 1.0),
        ("rec@1", 0.0),
        ("rec@5", 0.5),
        ("rec@10", 1.0),
        ("mrr", 1 / 2),
        ("ndcg@10", (1 / math.log2(3) + 1 / math.log2(7)) / (1 + 1 / math.log2(3))),
        ("line@5", 1 / 3),
        ("line@10", 2 / 3),
    ],
)
def test_a_query_with_gold_in_two_files(metric: str, value: float) -> None:
    gold = [Gold("b", 9, 12), Gold("b", 10, 12), Gold("f", 5, 5)]
    assert scores(gold, RANKED)[metric] == pytest.approx(value)


def test_every_metric_is_measured() -> None:
    assert sorted(scores([Gold("a", 1, 1)], RANKED)) == sorted(METRICS)


def test_no_hit_scores_nothing() -> None:
    assert set(scores([Gold("a", 1, 1)], []).values()) == {0.0}


def test_a_perfect_answer_scores_one() -> None:
    assert set(scores([Gold("a", 3, 4)], found(("a", 4, 9))).values()) == {1.0}


def test_files_are_counted_once_however_many_hits_they_have() -> None:
    hits = found(*[("a", line, line) for line in range(1, 10)], ("b", 1, 1))
    assert scores([Gold("b", 1, 1)], hits)["any@5"] == 1.0


def test_lines_are_counted_by_hits() -> None:
    hits = found(*[("a", line, line) for line in range(1, 6)], ("b", 1, 1))
    assert scores([Gold("b", 1, 1)], hits)["line@5"] == 0.0


@pytest.mark.parametrize(
    ("start", "end", "reached"), [(1, 4, 0), (1, 5, 1), (6, 6, 1), (8, 20, 1), (9, 9, 0)]
)
def test_lines_overlap_if_they_share_one(start: int, end: int, reached: int) -> None:
    assert scores([Gold("a", 5, 8)], found(("a", start, end)))["line@5"] == reached


def test_lines_of_another_file_do_not_overlap() -> None:
    assert scores([Gold("a", 5, 8)], found(("b", 5, 8)))["line@5"] == 0.0


def test_a_passage_counts_by_the_lines_that_are_shown_and_a_line_by_those_of_the_chunk() -> None:
    values = scores([Gold("a", 5, 5), Gold("a", 8, 8)], [HitLines("a", 1, 20, 0.5, 5, 6)])
    assert (values["line@5"], values["passage@5"]) == (1.0, 0.5)


def test_the_most_relevant_passage_of_a_file_counts_for_ndcg() -> None:
    gold = [Gold("a", 1, 1, 1), Gold("b", 1, 1, 1), Gold("b", 2, 2, 3)]
    value = scores(gold, found(("a", 1, 1), ("b", 1, 1)))["ndcg@10"]
    assert value == pytest.approx((1 + 3 / math.log2(3)) / (3 + 1 / math.log2(3)))


def test_ndcg_ends_with_the_tenth_file() -> None:
    hits = found(*[(f"x{place}", 1, 1) for place in range(10)], ("a", 1, 1))
    assert scores([Gold("a", 1, 1)], hits)["ndcg@10"] == 0.0


def test_mrr_goes_as_deep_as_the_hits() -> None:
    hits = found(*[(f"x{place}", 1, 1) for place in range(15)], ("a", 1, 1))
    assert scores([Gold("a", 1, 1)], hits)["mrr"] == 1 / 16


def test_means() -> None:
    rows = [scores([Gold("a", 1, 1)], found(("a", 1, 1))), scores([Gold("a", 1, 1)], [])]
    assert set(means(rows).values()) == {0.5}


@pytest.mark.parametrize(
    ("part", "value"), [(0.0, 1), (0.5, 10), (0.95, 19), (0.951, 20), (1.0, 20)], ids=str
)
def test_percentiles(part: float, value: float) -> None:
    assert percentile(reversed(range(1, 21)), part) == value


def test_the_percentile_of_one_value_is_that() -> None:
    assert percentile([7.0], 0.95) == 7.0


paths = st.sampled_from("abcdefghijkl")
lines = st.integers(1, 30)
golds = st.lists(
    st.builds(lambda path, start, more: Gold(path, start, start + more), paths, lines, lines), min_size=1
)
hits = st.lists(
    st.builds(
        lambda path, start, more: HitLines(path, start, start + more, 0.5, start, start + more),
        paths,
        lines,
        lines,
    )
)


@given(golds, hits)
def test_every_metric_is_a_share(gold: list[Gold], ranked: list[HitLines]) -> None:
    assert all(0.0 <= value <= 1.0 + 1e-9 for value in scores(gold, ranked).values())


@given(golds, hits, hits)
def test_more_hits_never_lower_a_metric(
    gold: list[Gold], ranked: list[HitLines], more: list[HitLines]
) -> None:
    before, after = scores(gold, ranked), scores(gold, ranked + more)
    assert all(after[name] >= before[name] - 1e-9 for name in METRICS)


@pytest.mark.skipif(not SCORER.exists(), reason="the development sets are not here")
def test_the_scorer_of_the_development_sets_agrees(tmp_path: Path) -> None:
    randomly = random.Random(7)
    queries = [random_query(randomly, number) for number in range(300)]
    answers = {query["id"]: random_lines(randomly, randomly.randrange(25)) for query in queries}
    write_lines(tmp_path / "queries.jsonl", queries)
    write_lines(tmp_path / "hits.jsonl", [{"id": name, "hits": each} for name, each in answers.items()])
    done = subprocess.run(
        [sys.executable, str(SCORER), str(tmp_path), str(tmp_path / "hits.jsonl")],
        check=True,
        capture_output=True,
        encoding="utf-8",
    )
    theirs = {row["type"]: row for row in map(json.loads, done.stdout.splitlines())}
    for kind, row in theirs.items():
        ours = means(
            [
                scores(
                    [Gold(each["path"], each["start"], each["end"], each["rel"]) for each in query["gold"]],
                    [
                        HitLines(each["path"], each["start"], each["end"], 0.5, each["start"], each["end"])
                        for each in answers[query["id"]]
                    ],
                )
                for query in queries
                if kind in ("all", query["type"])
            ]
        )
        del ours["passage@5"]  # which only hits that show less than they found have
        assert {name: row[name] for name in ours} == pytest.approx(ours, abs=0.5001e-4)


def random_query(randomly: random.Random, number: int) -> dict[str, Any]:
    gold = random_lines(randomly, randomly.randint(1, 5))
    return {"id": f"q{number}", "type": randomly.choice("xyz"), "query": "?", "gold": gold}


def random_lines(randomly: random.Random, count: int) -> list[dict[str, Any]]:
    starts = [randomly.randint(1, 40) for _ in range(count)]
    return [
        {
            "path": f"memory/{randomly.choice('abcdefghijklmn')}.md",
            "start": start,
            "end": start + randomly.randrange(10),
            "rel": randomly.randint(1, 3),
        }
        for start in starts
    ]


def write_lines(file: Path, rows: list[dict[str, Any]]) -> None:
    file.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")

"""What is in bench/ and what the pages say about it are the same."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from bench.draw import Bar, Curve, write_bars, write_curves
from bench.scale_page import slope

BENCH = Path(__file__).resolve().parents[2] / "bench"
SHARED = {
    "common",
    "corpus",
    "draw",
    "embedding_server",
    "mutation_operators",
    "mutation_page",
    "mutation_tests",
    "observed",
    "peers_page",
    "processes",
    "programs",
    "run",
    "scale_page",
    "sizing_page",
    "sizing_paper",
    "soak_edits",
    "soak_gigabyte",
    "soak_servers",
    "soak_starts",
    "soak_watch",
}


def test_every_runner_is_listed() -> None:
    listed = re.findall(
        r"^\| `bench\.(\w+)` ", (BENCH / "README.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert {file.stem for file in BENCH.glob("*.py")} - SHARED - {"__init__"} == set(listed)


def test_no_result_has_a_day_in_its_name() -> None:
    assert [file.name for file in (BENCH / "results").iterdir() if re.match(r"\d{4}-", file.name)] == []


def test_bars_are_as_long_as_their_values(tmp_path: Path) -> None:
    target = tmp_path / "bars.svg"
    write_bars(
        target, "a < b", "", [("first", [Bar("ours", 1, "1 s", True), Bar("theirs", 2, "2 s", False)])]
    )
    drawn = ElementTree.parse(target).iter("{http://www.w3.org/2000/svg}rect")
    widths = {one.get("class"): float(one.attrib["width"]) for one in drawn}
    assert widths["theirs"] == 2 * widths["ours"]


def test_curves_rise_with_their_values(tmp_path: Path) -> None:
    target = tmp_path / "curves.svg"
    write_curves(target, "costs", "", [("one", "ms", [Curve("ours", [(1_000, 1), (10_000, 10)], 0)])])
    heights = [
        float(one.attrib["cy"])
        for one in ElementTree.parse(target).iter("{http://www.w3.org/2000/svg}circle")
    ]
    assert heights[0] > heights[1]


def test_the_slope_of_what_doubles_with_the_chunks_is_one() -> None:
    assert slope([1_000, 2_000, 4_000], [3.0, 6.0, 12.0]) == pytest.approx(1)

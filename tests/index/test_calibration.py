"""What `bench.calibration` reports on a set comes from other sets."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from bench.calibration import First, Sample, fit, judge, leave_out

RANDOMLY = np.random.default_rng(7)


def sample_of(shift: float, slope: float, size: int = 4_000) -> Sample:
    """Return first hits whose only feature is right as often as a curve says."""
    feature = RANDOMLY.standard_normal(size)
    chance = 1 / (1 + np.exp(-(shift + slope * feature)))
    weights = np.full(size, 1 / size)
    return Sample(feature[:, None], chance, RANDOMLY.random(size) < chance, weights, size)


def test_a_fit_finds_the_curve_that_the_hits_follow() -> None:
    assert fit([sample_of(-1.0, 2.0), sample_of(-1.0, 2.0)]) == pytest.approx([-1.0, 2.0], abs=0.15)


def test_a_set_of_the_same_group_is_not_fitted_on() -> None:
    sets = {"xquad_en": sample_of(0, 1), "xquad_de": sample_of(0, 1), "qmsum": sample_of(-1, 2)}
    german = sets["xquad_de"]
    before = leave_out(sets)
    after = leave_out(sets | {"xquad_de": replace(german, right=~german.right)})
    assert after["sets"]["xquad_en"] == before["sets"]["xquad_en"]
    assert after["sets"]["qmsum"]["fitted"] != before["sets"]["qmsum"]["fitted"]


def test_nine_of_ten_questions_weigh_as_answerable_and_those_without_a_hit_are_left_out() -> None:
    with_answer = [First((1.0,), 0.8, right=True, answerable=True)] * 2
    without = [First((1.0,), 0.8, right=False, answerable=False)] * 8
    every = Sample.of([*with_answer, *without])
    assert judge(every, every.score)["difference"] == pytest.approx(0.8 - 0.9)
    half = Sample.of([*with_answer, *[First((), None, right=False, answerable=True)] * 2, *without])
    assert half.weights @ half.right == pytest.approx(0.45 / 0.55)


def test_bands_say_how_often_hits_of_a_probability_are_right() -> None:
    firsts = [
        First((1.0,), score, right=right, answerable=True)
        for score, right in [(0.9, True), (0.85, False), (0.84, True), (0.1, False)]
    ]
    sample = Sample.of(firsts)
    bands = judge(sample, sample.score)["bands"]
    assert {border: (band["hits"], band["right"]) for border, band in bands.items()} == {
        "0.85": (2, 0.5),
        "0.7": (1, 1.0),
        "0.5": (0, None),
        "0.35": (0, None),
        "0": (1, 0.0),
    }

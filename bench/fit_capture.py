"""Fits the weights that tell a lasting statement in a user's message from any other sentence.

Logistic regression on the signals of the rules, and on those together with the builtin model's vector of a
sentence. A message is labelled, not a sentence: of one that is worth keeping the likeliest sentence counts.
Before it writes the weights into the package it prints how weights fitted without a file, and without a
language, do on that file and that language. Run
`python -m bench.fit_capture`, with `--dry` to write nothing.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tests.agent.capture.messages import labelled
from tests.agent.intents import labelled as prompts

from memlines.agent.capture.find import NAMES, NOT_EMBEDDED, WEIGHTS, read
from memlines.agent.capture.reading import LANGUAGES
from memlines.embed.builtin.files import BuiltinProvider

FILES = ("develop", "develop_more", "unseen", "fitting")
MEASURED = ("develop", "develop_more", "unseen")
FOLDS = 5
ROUNDS = 5
STEPS = 40
SCALE = 2.0
"""How much longer a vector is made than it is, so that one penalty suits it."""
SIGNAL_PENALTY, VECTOR_PENALTY = 1.0, 1.0
THRESHOLD = 0.5
"""From where on a sentence is kept: chosen for precision, by the scores of messages that were left out."""

Floats = NDArray[np.float64]


@dataclass
class Row:
    """A message, its label, and the sentences that the rules leave open, in numbers."""

    file: str
    language: str
    wanted: bool
    asked: bool
    text: str
    shown: list[str]
    embedded: list[bool]
    signals: Floats
    vectors: Floats

    def inputs(self, with_vectors: bool) -> Floats:
        """Return a line of numbers a sentence."""
        return np.hstack([self.signals, self.vectors * SCALE]) if with_vectors else self.signals


def rows() -> list[Row]:
    """Return every message to fit with; what asks for something else is worth nothing."""
    found = [_row(one.text, file, one.language, one.capture) for file in FILES for one in labelled(file)]
    others = [("coding", one) for one in prompts("coding_develop")]
    others += [("intent", one) for one in prompts("develop") if one.intent != "remember"]
    found += [_row(one.text, file, one.language, False) for file, one in others if one.language in LANGUAGES]
    texts = [text for row in found for text in row.shown]
    vectors = BuiltinProvider().embed_documents(texts).astype(np.float64)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    at = 0
    for row in found:
        row.vectors = vectors[at : at + len(row.shown)] * np.array(row.embedded).reshape(-1, 1)
        at += len(row.shown)
    return found


def _row(text: str, file: str, language: str, wanted: bool) -> Row:
    message = read(text)
    statements = [statement for _, statement in message.open.values()] if message else []
    return Row(
        file,
        language,
        wanted,
        bool(message and message.asked),
        text,
        [one.text for one in statements],
        [one.language != NOT_EMBEDDED for one in statements],
        np.array([one.signals for one in statements], dtype=np.float64).reshape(-1, len(NAMES)),
        np.zeros((0, 0)),
    )


def fit(found: Sequence[Row], with_vectors: bool) -> Floats:
    """Return the weights and, last, the bias."""
    used = [row for row in found if row.shown and not (row.wanted and row.asked)]
    inputs = [row.inputs(with_vectors) for row in used]
    penalties = np.full(inputs[0].shape[1] + 1, VECTOR_PENALTY)
    penalties[: len(NAMES)] = SIGNAL_PENALTY
    penalties[-1] = 1e-3
    weights = np.zeros(len(penalties))
    for _ in range(ROUNDS):
        chosen, labels, counts = [], [], []
        for row, lines in zip(used, inputs, strict=True):
            best = int(np.argmax(lines @ weights[:-1]))
            is_first = not weights.any()
            picked = lines if not row.wanted or is_first else lines[best : best + 1]
            chosen.append(picked)
            labels += [float(row.wanted)] * len(picked)
            counts += [1 / len(picked) if row.wanted else 1.0] * len(picked)
        fresh = _regression(np.vstack(chosen), np.array(labels), np.array(counts), penalties, weights)
        if np.abs(fresh - weights).max() < 1e-2:
            break
        weights = fresh
    return fresh


def _regression(lines: Floats, labels: Floats, counts: Floats, penalties: Floats, begin: Floats) -> Floats:
    """Return the weights that make the labels likeliest, by Newton's method."""
    full = np.hstack([lines, np.ones((len(lines), 1))])
    weights = begin.copy()
    for _ in range(STEPS):
        chances = 1 / (1 + np.exp(-np.clip(full @ weights, -30, 30)))
        slope = full.T @ (counts * (chances - labels)) + penalties * weights
        curve = (full * (counts * chances * (1 - chances) + 1e-9)[:, None]).T @ full + np.diag(penalties)
        step = np.linalg.solve(curve, slope)
        weights -= step
        if np.abs(step).max() < 1e-3:
            break
    return weights


def score(row: Row, weights: Floats, with_vectors: bool) -> float:
    """Return the score of a message: that of its likeliest sentence."""
    if row.asked:
        return 99.0
    return float((row.inputs(with_vectors) @ weights[:-1] + weights[-1]).max()) if row.shown else -99.0


def left_out(found: Sequence[Row], key: Callable[[int, Row], Any], with_vectors: bool) -> list[float]:
    """Return the score of each message by weights that were fitted without what has the same key."""
    keys = [key(at, row) for at, row in enumerate(found)]
    scores = [0.0] * len(found)
    for one in dict.fromkeys(keys):
        weights = fit([row for row, other in zip(found, keys, strict=True) if other != one], with_vectors)
        for at, row in enumerate(found):
            if keys[at] == one:
                scores[at] = score(row, weights, with_vectors)
    return scores


def told(found: Sequence[Row], scores: Sequence[float]) -> tuple[float, float, int]:
    """Return precision, recall, and how many are kept that should not be."""
    kept = [value >= THRESHOLD for value in scores]
    right = sum(one and row.wanted for one, row in zip(kept, found, strict=True))
    wrong = sum(kept) - right
    return right / max(1, sum(kept)), right / max(1, sum(row.wanted for row in found)), wrong


def _of(
    found: Sequence[Row], scores: Sequence[float], files: Sequence[str], languages: Sequence[str]
) -> tuple[list[Row], list[float]]:
    chosen = [at for at, row in enumerate(found) if row.file in files and row.language in languages]
    return [found[at] for at in chosen], [scores[at] for at in chosen]


def show(name: str, found: Sequence[Row], scores: Sequence[float]) -> None:
    """Print the figures by file and by language."""
    print(f"\n{name}")
    for file in (*FILES, "coding", "intent"):
        precision, recall, wrong = told(*_of(found, scores, (file,), LANGUAGES))
        print(f"  {file:13} precision {precision:.3f} recall {recall:.3f} wrong {wrong}")
    for code in LANGUAGES:
        precision, recall, wrong = told(*_of(found, scores, MEASURED, (code,)))
        print(f"  {code:13} precision {precision:.3f} recall {recall:.3f} wrong {wrong}")


def fold(at: int, _row: Row) -> int:
    """Return the fifth that a message belongs to."""
    return at % FOLDS


def main() -> None:
    """Cross-validate, print, and write the weights."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--dry", action="store_true", help="write nothing")
    arguments = options.parse_args()
    found = rows()
    written = {}
    for name, with_vectors in (("alone", False), ("together", True)):
        scores = left_out(found, fold, with_vectors)
        show(f"{name}: a fifth left out", found, scores)
        for what, key in (("file", lambda _, row: row.file), ("language", lambda _, row: row.language)):
            show(f"{name}: a {what} left out", found, left_out(found, key, with_vectors))
        weights = fit(found, with_vectors)
        written[name] = {
            "bias": round(float(weights[-1]), 3),
            "threshold": THRESHOLD,
            "signals": dict(zip(NAMES, np.round(weights[: len(NAMES)], 3).tolist(), strict=True)),
        }
        if with_vectors:
            written[name]["vector"] = np.round(weights[len(NAMES) : -1] * SCALE, 2).tolist()
    if not arguments.dry:
        WEIGHTS.write_text(json.dumps(written, indent=None) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

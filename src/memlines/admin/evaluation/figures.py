"""What an evaluation found, and the figures that follow from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memlines.admin.evaluation.metrics import Found, means, percentile, scores
from memlines.admin.evaluation.sets import Query
from memlines.types import Mode

_DIGITS = 4
_MILLISECOND_DIGITS = 2


@dataclass(frozen=True, slots=True)
class Answer:
    """What one query got in one mode.

    `silent` tells that the query gets nothing that reaches the settings' own `min_score`.
    """

    query: Query
    found: tuple[Found, ...]
    seconds: float
    silent: bool


@dataclass(frozen=True, slots=True)
class Evaluation:
    """Everything one run over a set found; `notes` says what speaks against its figures."""

    name: str
    workspaces: int
    files: int
    chunks: int
    index_seconds: float
    provider: str
    model: str
    min_score: float
    settings: Mapping[str, Any]
    answers: Mapping[Mode, Sequence[Answer]]
    notes: tuple[str, ...]


def evaluation_json(evaluation: Evaluation) -> dict[str, Any]:
    """Return the figures of a run as JSON."""
    return {
        "set": evaluation.name,
        "queries": max(map(len, evaluation.answers.values())),
        "workspaces": evaluation.workspaces,
        "files": evaluation.files,
        "chunks": evaluation.chunks,
        "index_seconds": round(evaluation.index_seconds, _DIGITS),
        "provider": evaluation.provider,
        "model": evaluation.model,
        "min_score": evaluation.min_score,
        "settings": dict(evaluation.settings),
        "modes": {mode: _mode_json(answers) for mode, answers in evaluation.answers.items()},
        "notes": list(evaluation.notes),
    }


def hits_json(answer: Answer) -> dict[str, Any]:
    """Return the hits of a query as JSON, best first."""
    hits = [{**hit._asdict(), "score": round(hit.score, _DIGITS)} for hit in answer.found]
    return {"id": answer.query.id, "hits": hits}


def _mode_json(answers: Sequence[Answer]) -> dict[str, Any]:
    kinds = dict.fromkeys(answer.query.kind for answer in answers if answer.query.kind is not None)
    taken = [answer.seconds * 1000 for answer in answers]
    return {
        **_group_json(answers),
        "p50_ms": round(percentile(taken, 0.5), _MILLISECOND_DIGITS),
        "p95_ms": round(percentile(taken, 0.95), _MILLISECOND_DIGITS),
        "types": {
            kind: _group_json([answer for answer in answers if answer.query.kind == kind]) for kind in kinds
        },
    }


def _group_json(answers: Sequence[Answer]) -> dict[str, Any]:
    rows = [scores(answer.query.gold, answer.found) for answer in answers]
    return {
        "queries": len(answers),
        "metrics": {name: round(value, _DIGITS) for name, value in means(rows).items()},
        "silent": round(sum(answer.silent for answer in answers) / len(answers), _DIGITS),
    }

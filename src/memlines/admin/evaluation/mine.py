"""Keep a private test set made from the notes, measure search on it, and compare settings.

The set is in `.memory/eval/`, or in the cache if the workspace cannot be written; so is a line of figures
for each run, which holds no text of the notes. The id of a question is the hash of the lines that answer it:
lines that moved are found again, and a question whose lines are gone is dropped. Forgetting removes the set.

Only the workspace's own notes are asked for and counted: the same questions must be fair to an index that
holds conversations or extra paths and to a temporary one that does not.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from datetime import UTC, datetime
from secrets import token_hex
from typing import Any

from memlines.admin.evaluation.questions import (
    FEWEST_WORDS,
    ask_in_other_words,
    digest,
    in_place,
    is_own,
    make_questions,
    passages_in,
)
from memlines.admin.evaluation.run import Answer, Evaluation, evaluate, evaluate_open
from memlines.admin.evaluation.sets import Gold, LabelledSet, Query
from memlines.errors import EmbeddingError, ProviderUnusable, UsageError, WorkspaceError
from memlines.files import atomic
from memlines.files.place import Place, attempt, ensure_index_folder
from memlines.folders import PRIVATE_FILE
from memlines.index.sync.plan import SyncPlan
from memlines.locks import WriterLock, eval_lock
from memlines.memory.memory import Memory
from memlines.memory.status import LARGEST_EVAL_FILE, MOST_RUNS, eval_place, read_eval_file, read_runs
from memlines.paths import HISTORY_FILE, QUESTIONS_FILE, Workspace
from memlines.records import dataclass
from memlines.settings import Loaded, Settings, list_settings, load, refuse_if_off
from memlines.types import Mode, Progress

LEAST = 5
"""How many questions a set has at least."""

_WAIT_SECONDS = 10.0
_DIGITS = 4
_NAME_BYTES = 4

TOLERANCE = 0.01
"""By how much `mrr` may fall without a change counting as worse."""

_ONLY_WORDS = (
    "the questions are made of words of your notes, so they hardly measure how well a model finds meaning;"
    " with a chat model (chat.provider), 'memlines eval --mine --rebuild' words them differently"
)

_MEASURED = ("query.", "embeddings.", "chunking.", "store.vector.", "profile")
_LIVE = ("query.", "profile")
_CUTS = ("query.max_results", "query.min_score")


# The set


@dataclass(frozen=True, slots=True)
class PrivateSet:
    """The questions to ask, how many of them are new, and what happened while they were made."""

    labelled: LabelledSet
    name: str
    """A random name of its own, by which runs over the same questions are recognised."""
    made: int
    warnings: tuple[str, ...] = ()


def prepare(memory: Memory, count: int, progress: Progress, *, rebuild: bool = False) -> PrivateSet:
    """Return questions about the notes of a memory: those that are kept, and new ones as far as needed."""
    refuse_if_off(memory.loaded)
    workspace, settings = memory.workspace, replace(memory.settings, extra_paths=())
    if "memory" not in settings.sources:
        raise UsageError("your notes are not indexed, so they cannot be asked", todo="Add memory to sources")
    warnings: list[str] = []
    before, name = ([], "") if rebuild else _read_set(workspace, warnings)
    kept = in_place(before, workspace, settings)
    made: list[Query] = []
    if len(kept) < max(count, len(before)):
        passages = list(passages_in(workspace, settings, progress))
        places = {passage.id: Gold(passage.path, passage.first, passage.last) for passage in passages}
        kept = [replace(query, gold=(places[query.id],)) for query in before if query.id in places]
        made = make_questions(passages, count - len(kept), {query.id for query in kept})
        if made and settings.chat.provider != "none":
            made, why = ask_in_other_words(settings, made, passages, progress)
            warnings += [f"the rules made questions, because the chat model could not: {why}"] if why else []
    queries = [*kept, *made]
    if len(queries) < LEAST:
        raise WorkspaceError(
            f"the notes in {str(workspace.root)!r} give {len(queries)} questions, and {LEAST} are needed",
            todo=f"Write at least {LEAST} entries that differ, with {FEWEST_WORDS} words of content in each",
        )
    if queries != before:
        name = _write_set(workspace, settings, queries)
    root = workspace.root
    asked = tuple(replace(query, workspace=root.name) for query in queries[:count])
    return PrivateSet(LabelledSet("mine", asked, {root.name: root}), name, len(made), tuple(warnings))


def _read_set(workspace: Workspace, warnings: list[str]) -> tuple[list[Query], str]:
    """Return the questions that are kept, and the name of the set."""
    content = read_eval_file(workspace, QUESTIONS_FILE)
    try:
        rows = [json.loads(line) for line in content.decode().splitlines()]
        return [_query_in(row) for row in rows], str(rows[0]["set"]) if rows else ""
    except (ValueError, LookupError, TypeError, RecursionError):
        warnings.append(f"the test set in {str(workspace.eval_folder)!r} was damaged, and was made again")
        return [], ""


def _query_in(row: Any) -> Query:
    (gold,) = row["gold"]
    texts = row["id"], row["query"], row["type"], gold["path"]
    lines = gold["start"], gold["end"]
    if not all(isinstance(text, str) and text.strip() for text in texts) or {*map(type, lines)} != {int}:
        raise ValueError("a field has another type")
    return Query(texts[0], texts[1], (Gold(texts[3], *lines),), "", texts[2], None)


def _write_set(workspace: Workspace, settings: Settings, queries: Sequence[Query]) -> str:
    """Keep a set, without questions whose lines went meanwhile: they may have been forgotten.

    Return its name. It is random, because it stays with the figures: a hash of what the notes held would
    confirm a guess at what was forgotten.
    """
    name = token_hex(_NAME_BYTES)
    place = eval_place(workspace, QUESTIONS_FILE)
    with _lock(workspace).held(_WAIT_SECONDS):
        rows = [
            {
                "set": name,
                "id": query.id,
                "type": query.kind,
                "query": query.text,
                "gold": [{"path": gold.path, "start": gold.start, "end": gold.end} for gold in query.gold],
            }
            for query in in_place(queries, workspace, settings)
        ]
        _write(place, rows)
    return name


# Files


def _lock(workspace: Workspace) -> WriterLock:
    """Return the lock of the set and the figures, whose folder is made first."""
    folder = workspace.eval_folder
    ensure_index_folder(workspace, folder / QUESTIONS_FILE)
    return eval_lock(folder if folder == workspace.cached_indexes else workspace.private)


def _write(place: Place, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write a file again; the caller holds the lock."""
    content = "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows).encode()

    def change() -> None:
        old = atomic.read(place.real, LARGEST_EVAL_FILE, root=place.root)
        atomic.replace(place.real, content, expected=old, mode=PRIVATE_FILE, root=place.root)

    attempt(place, change)


# Figures


@dataclass(frozen=True, slots=True)
class Figures:
    """How well the questions found their lines, in the mode that was asked for last."""

    mode: Mode
    provider: str
    model: str
    places: Mapping[str, int | None]
    """The place of the first hit that shows lines of the answer, by the id of the question."""
    notes: tuple[str, ...] = ()

    def within(self, place: int) -> int:
        """Return how many questions find their lines among the first hits."""
        return sum(found is not None and found <= place for found in self.places.values())

    @property
    def mrr(self) -> float:
        """The mean of 1 divided by the place."""
        return sum(1 / found for found in self.places.values() if found) / len(self.places)

    def to_json(self) -> dict[str, Any]:
        """Return the figures with field names that stay."""
        return {
            "questions": len(self.places),
            "top1": self.within(1),
            "top3": self.within(3),
            "mrr": round(self.mrr, _DIGITS),
            "mode": self.mode,
            "provider": self.provider,
            "model": self.model,
        }


def figures_of(evaluation: Evaluation) -> Figures:
    """Return the figures of a run."""
    mode, answers = list(evaluation.answers.items())[-1]
    places = {answer.query.id: _place_in(answer) for answer in answers}
    return Figures(mode, evaluation.provider, evaluation.model, places, tuple(evaluation.notes))


def _place_in(answer: Answer) -> int | None:
    found = [hit for hit in answer.found if is_own(hit.path)]
    for place, hit in enumerate(found, 1):
        for gold in answer.query.gold:
            if hit.path == gold.path and hit.shown_start <= gold.end and gold.start <= hit.shown_end:
                return place
    return None


def _modes_for(settings: Settings, mode: Mode | None) -> tuple[Mode, ...]:
    """Return the modes to ask in, of which the last one counts; without vectors it is the first."""
    if mode is not None:
        return (mode,)
    has_vectors = settings.embeddings.provider != "none" and settings.store.vector.enabled
    return ("words", "hybrid") if has_vectors else ("words",)


def measure(
    memory: Memory, asked: PrivateSet, mode: Mode | None, progress: Progress
) -> tuple[Figures, list[dict[str, Any]]]:
    """Ask a memory the questions; note the figures, and return them with those of all runs, oldest first."""
    modes = _modes_for(memory.settings, mode)
    figures = figures_of(evaluate_open(memory, asked.labelled, modes, progress))
    run = {
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        **figures.to_json(),
        "settings": _fingerprint(memory.loaded),
        "set": asked.name,
    }
    workspace = memory.workspace
    with _lock(workspace).held(_WAIT_SECONDS):
        runs = [*read_runs(workspace), run][-MOST_RUNS:]
        _write(eval_place(workspace, HISTORY_FILE), runs)
    return figures, runs


def _fingerprint(loaded: Loaded) -> str:
    """Return a value that changes with the settings that search depends on; secrets are no part of it."""
    rows = {row.key: row.value for row in list_settings(loaded) if row.key.startswith(_MEASURED)}
    return digest(json.dumps(rows, sort_keys=True))


# A change of settings


@dataclass(frozen=True, slots=True)
class Moved:
    """A question whose lines are at another place with the changed settings."""

    query: Query
    now: int | None
    changed: int | None

    def to_json(self) -> dict[str, Any]:
        """Return it with field names that stay."""
        return {"id": self.query.id, "query": self.query.text, "now": self.now, "changed": self.changed}


@dataclass(frozen=True, slots=True)
class Comparison:
    """The figures with the settings of today and with the changed ones, and the questions that moved."""

    now: Figures
    changed: Figures
    better: tuple[Moved, ...]
    worse: tuple[Moved, ...]
    change: Mapping[str, tuple[Any, Any]] = field(default_factory=dict)
    """The values of the changed settings, before and after, as they may be shown."""
    warnings: tuple[str, ...] = ()

    @property
    def is_worse(self) -> bool:
        """Whether the change should not be made."""
        return bool(self.worse) and self.changed.mrr < self.now.mrr - TOLERANCE


def try_settings(
    workspace: Workspace,
    changes: Mapping[str, Any],
    mode: Mode | None,
    count: int,
    progress: Progress,
    approve: Callable[[SyncPlan], None],
) -> Comparison:
    """Measure a change of settings on the private set, and change nothing.

    Settings of a search are tried on the index as it is, all others on a temporary copy of the notes. If text
    of the copy would leave this machine, `approve` is called first, and may raise.
    """
    now, then = load(workspace), load(workspace, changes)
    refuse_if_off(now)
    _refuse_unmeasured(changes, now, then)
    modes = _modes_for(then.settings, mode)
    with Memory(workspace.root) as memory:
        asked = prepare(memory, count, progress)
        if all(key.startswith(_LIVE) for key in changes):
            with Memory(workspace.root, changes) as changed_memory:
                result = evaluate_open(changed_memory, asked.labelled, modes, progress)
        else:
            result = _measure_copy(asked, changes, modes, progress, approve)
        modes = _modes_for(now.settings, mode)
        before = figures_of(evaluate_open(memory, asked.labelled, modes, progress))
    after = figures_of(result)
    queries = asked.labelled.queries
    moved = [Moved(query, before.places[query.id], after.places[query.id]) for query in queries]
    gain = {one.query.id: 1 / (one.changed or 1e9) - 1 / (one.now or 1e9) for one in moved}
    moved.sort(key=lambda one: -abs(gain[one.query.id]))
    warnings = [*asked.warnings, *before.notes, *after.notes]
    by_words = all(query.kind != "model" for query in queries)
    if by_words and any(key.startswith("embeddings.") for key in changes):
        warnings.append(_ONLY_WORDS)
    values = [{row.key: row.value for row in list_settings(loaded)} for loaded in (now, then)]
    return Comparison(
        before,
        after,
        better=tuple(one for one in moved if gain[one.query.id] > 0),
        worse=tuple(one for one in moved if gain[one.query.id] < 0),
        change={key: (values[0][key], values[1][key]) for key in changes},
        warnings=tuple(dict.fromkeys(warnings)),
    )


def _measure_copy(
    asked: PrivateSet,
    changes: Mapping[str, Any],
    modes: Sequence[Mode],
    progress: Progress,
    approve: Callable[[SyncPlan], None],
) -> Evaluation:
    def check(memory: Memory) -> None:
        if memory.provider_trouble and any(key.startswith("embeddings.") for key in changes):
            raise ProviderUnusable(f"the change cannot be measured: {memory.provider_trouble}")
        plan = memory.plan()
        if plan.sends_text_to:
            approve(plan)

    settings = {**changes, "sources": ["memory"]}
    result = evaluate(asked.labelled, settings, modes, progress, approve=check)
    if result.pending:
        reasons = "; ".join(result.notes)
        raise EmbeddingError(
            f"the change cannot be measured: {reasons}", todo="Nothing was changed; try again"
        )
    return result


def _refuse_unmeasured(changes: Mapping[str, Any], now: Loaded, then: Loaded) -> None:
    """Refuse settings that no question can measure, and those that others overrule."""
    for key in changes:
        if key in _CUTS:
            raise UsageError(
                f"{key} cannot be tried: the order of the hits is measured, and not where they are cut",
                todo="Set it with 'memlines config set'",
            )
        if not key.startswith(_MEASURED):
            raise UsageError(
                f"{key} cannot be tried: it does not change what a search finds",
                todo="Set it with 'memlines config set'",
            )
    new = [warning for warning in then.warnings if warning not in now.warnings]
    for warning in new:
        if warning.startswith(tuple(f"{key} " for key in changes)):
            raise UsageError(f"the change would do nothing: {warning}", todo="Try both settings together")

"""The tools that look after the index: sync and status."""

from __future__ import annotations

from memlines.memory.arguments import Argument
from memlines.memory.status import Status
from memlines.serve.tools.base import Call, Output, Tool
from memlines.serve.wire import report_json, status_json
from memlines.text.neutral import neutral_line
from memlines.types import Problem

_MOST_PROBLEMS = 5
_PENDING = "{} chunks have no vector yet and are found by words."


def _sync(call: Call) -> Output:
    from memlines.files.place import holds_memory

    if not holds_memory(call.memory.workspace):
        return Output("This folder has no memory yet; the first memory_remember begins one.")
    report = call.memory.sync(force=bool(call.get("force")))
    counts = f"{len(report.indexed)} indexed, {report.unchanged} unchanged, {len(report.removed)} removed"
    lines = [f"The index is up to date: {counts}."]
    if report.rebuilt:
        lines.append(f"It was rebuilt: {report.rebuilt}.")
    if report.pending:
        lines.append(_PENDING.format(report.pending))
    lines += _list_problems("could not be read", report.failed)
    lines += _list_problems("are left out", report.skipped)
    lines += [f"Note: {neutral_line(warning)}" for warning in report.warnings]
    return Output("\n".join(lines), report_json(report))


def _status(call: Call) -> Output:
    status = call.memory.status()
    return Output(status_text(status), status_json(status))


def status_text(status: Status) -> str:
    """Return the state of a memory in a few lines."""
    model = f"{status.provider} ({status.model})" if status.model else f"{status.provider}: words only"
    vector = status.vector
    searched = "" if vector["available"] else "; search goes by words"
    if vector["vectors"]:
        searched = f"; {vector['dims']} numbers each, searched by {vector['engine']}"
    lines = [
        f"Memory of {status.workspace}: {'on' if status.enabled else 'switched off'}",
        f"Holds {status.files} files in {status.chunks} chunks; sources: {', '.join(status.sources)}",
        f"Model: {model}; text goes to: {status.sends_text_to}",
        f"Vectors: {vector['vectors']} of {status.chunks} chunks;"
        f" cache: {status.cache['entries']} vectors{searched}",
        f"Last sync: {status.last_sync or 'never'}{', and files changed since' if status.dirty else ''}",
    ]
    if status.pending:
        lines.append(_PENDING.format(status.pending))
    if status.fallback:
        fallback = status.fallback
        instead = "words" if fallback["to"] == "none" else fallback["to"]
        lines.append(f"Fallback {instead} instead of {fallback['from']}: {fallback['reason']}")
    lines += _list_problems("could not be read", status.failed)
    lines += [f"Note: {neutral_line(warning)}" for warning in status.warnings]
    return "\n".join(lines)


def _list_problems(what: str, problems: tuple[Problem, ...]) -> list[str]:
    if not problems:
        return []
    named = [f"- {neutral_line(f'{problem.path} {problem.reason}')}" for problem in problems[:_MOST_PROBLEMS]]
    more = len(problems) - len(named)
    return [f"Files that {what}: {len(problems)}", *named, *([f"- and {more} more"] if more else [])]


SYNC = Tool(
    "memory_sync",
    "Bring the index up to date",
    "writes",
    "Bring the index up to date with the notes. Searches do that by themselves; use it when the user asks, "
    "or when notes seem to be missing.",
    {"force": Argument("bool", "Rebuild the index.")},
    _sync,
    seconds=120.0,
    maintenance=True,
)

STATUS = Tool(
    "memory_status",
    "State of the memory",
    "reads",
    "Tell the state of the memory: where it is, how much is in it, which model makes its vectors, when it "
    "was last synced, and what is wrong if something is.",
    {},
    _status,
    maintenance=True,
)

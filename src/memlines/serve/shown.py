"""Record what leaves for a client: the lines that a tool answers with, and those that an agent gets unasked.

An answer never waits long for its record, and never fails because of it.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from itertools import takewhile
from typing import TYPE_CHECKING, Any

from memlines.errors import reason_of
from memlines.files.shown import ShownLine
from memlines.memory.scopes import PERSONAL, list_scopes
from memlines.types import cite

if TYPE_CHECKING:
    from memlines.memory.memory import Memory

_CITATION = re.compile(r"[^\s`'\"()<>\[\]*,;|]+\.(?:md|jsonl?)#L\d{1,9}(?:-L?\d{1,9})?")
_MOST_READ = 20_000
"""Characters of what an agent said that are looked through for citations."""

_noticed: set[str] = set()
"""The workspaces of which it was said in this process that nothing can be recorded."""


def record_shown(
    memory: Memory,
    kind: str,
    lines: Sequence[ShownLine],
    *,
    session: str | None,
    client: str,
    query: str = "",
) -> None:
    """Record which lines a client is given, unless that is switched off.

    What prevents that is said once, on standard error.
    """
    if not lines or not memory.settings.blame.enabled:
        return
    from memlines.memory.recording import record

    name = (session or "").strip()
    for one in list_scopes(memory, []):  # what is personal is recorded where it belongs
        is_personal = one.scope == "personal"
        own = [
            line._replace(citation=line.citation.removeprefix(PERSONAL))
            for line in lines
            if is_personal == line.citation.startswith(PERSONAL)
        ]
        try:
            if own:
                record(one.workspace, one.settings, kind, own, session=name, client=client, query=query)
        except Exception as error:  # noqa: BLE001 (whatever it is, the answer must not fail because of it)
            root = str(one.workspace.root)
            if root not in _noticed:
                _noticed.add(root)
                reason = reason_of(error) if isinstance(error, OSError) else str(error)
                sys.stderr.write(f"memlines: what agents are shown is not recorded: {reason}\n")


def lines_in(data: Mapping[str, Any]) -> list[ShownLine]:
    """Return the lines that the answer of a tool quotes, but for those that it has just forgotten."""
    if data.get("receipt"):
        return []
    if data.get("found"):  # lines of a note
        return [ShownLine(cite(data["path"], data["from"], data["from"] + max(1, data["lines"]) - 1))]
    found = [one for name in ("facts", "results", "candidates") for one in data.get(name, ())]
    return [
        ShownLine(
            one.get("citation") or cite(one["path"], one["start_line"], one["end_line"]),
            score=one.get("score"),
        )
        for one in found
    ]


def lines_cited(messages: Sequence[Any]) -> list[ShownLine]:
    """Return the lines that an agent cites in its last turn."""
    from memlines.agent.messages import parse_messages

    said = takewhile(lambda one: one.role == "assistant", parse_messages(reversed(messages)))
    found = (citation for one in said for citation in _CITATION.findall(one.text[:_MOST_READ]))
    return [ShownLine(citation) for citation in dict.fromkeys(found)]

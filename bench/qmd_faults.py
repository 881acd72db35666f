"""Counts searches that fail while the program qmd does: killed, missing, slow, printing something else.

Run `python -m bench.qmd_faults`. Every search is the first of a new memory, because a memory asks qmd no more
after its first failure. In half of them the update works and the search by qmd fails; in the others both do.
Search is by words, so that no model is loaded.
"""

from __future__ import annotations

import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from bench.common import RESULTS, circumstances, default_settings, finish, parser, percentile
from bench.corpus import write_workspace
from memlines import MemlinesError, Memory

COMMAND = "python -m bench.qmd_faults"
SEARCHES = 50
NOTES = 100
QUERY = "where did the zanzibar vault move?"
FAULTS = {"killed": "kill -9 $$", "missing": "", "slow": "sleep 600", "garbage": "echo Segmentation fault"}
"""What the program does, as a line of a script."""

_UPDATES = 'case "$1" in update) echo updated; exit 0;; esac'
_SLOW_MS = 1000


def measure(workspace: Path, programs: Path, fault: str) -> dict[str, Any]:
    """Search so many times while qmd fails."""
    taken, by, failed, reported = [], Counter[str](), 0, 0
    for number in range(SEARCHES):
        program = programs / f"{fault}-{number % 2}"
        if fault != "missing":
            first = _UPDATES if number % 2 else ""
            program.write_text(f"#!/bin/sh\n{first}\n{FAULTS[fault]}\n", encoding="utf-8")
            program.chmod(0o755)
        given = {"backend": "qmd", "qmd.command": str(program), "qmd.limits.timeout_ms": _SLOW_MS}
        # No update of a search before may count for this one.
        stamp = workspace / ".memory/qmd/main/mark"
        stamp.unlink(missing_ok=True)
        with Memory(workspace, {**given, "embeddings.provider": "none"}) as memory:
            begin = time.perf_counter()
            try:
                result = memory.search(QUERY)
            except MemlinesError:
                failed += 1
                continue
            taken.append(time.perf_counter() - begin)
            failed += not result.hits
            by["qmd" if result.provider == "qmd" else "builtin"] += 1
            reported += (memory.status().fallback or {}).get("from") == "qmd"
    shown = ", ".join(f"{name} {count}" for name, count in by.items())
    return {
        "fault": fault,
        "searches": SEARCHES,
        "failed": failed,
        "answered": shown,
        "reported": reported,
        "p50": percentile(taken, 0.5),
        "slowest": max(taken),
    }


def main() -> None:
    """Measure and print."""
    arguments = parser(__doc__).parse_args()
    around = circumstances()
    with default_settings(), tempfile.TemporaryDirectory() as folder:
        workspace, programs = Path(folder) / "workspace", Path(folder) / "programs"
        programs.mkdir()
        write_workspace(workspace, NOTES)
        (workspace / "MEMORY.md").write_text("The zanzibar vault moved to Frankfurt.\n", encoding="utf-8")
        rows = [measure(workspace, programs, fault) for fault in FAULTS]
    lines = [
        "| qmd is | searches | failed | answered by | status says so | p50 s | slowest s |",
        "|---|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {row['fault']} | {row['searches']} | {row['failed']} | {row['answered']} | {row['reported']} | "
        f"{row['p50']:.2f} | {row['slowest']:.2f} |"
        for row in rows
    ]
    shown = "\n".join(lines)
    count = sum(row["searches"] for row in rows)
    how = (
        f"{count} searches in {NOTES} notes by words, each the first of a new memory. "
        f"In half of them `qmd update` works and its search fails, in the others both fail. "
        f"`qmd.limits.timeout_ms` is {_SLOW_MS:,}. A slow update is no failure before "
        "`qmd.update.update_timeout_ms`, two minutes, so status names none for half of the slow ones; the "
        "builtin engine answers meanwhile."
    )
    where = f"Python {around['python']}, {around['system']}, {around['cores']} cores, load {around['load']}"
    page = f"# Searches while qmd fails\n\n{around['date']}, `{COMMAND}`: {where}.\n\n{how}\n\n{shown}\n"
    (RESULTS / "qmd.md").write_text(page, encoding="utf-8", newline="\n")
    finish({"faults": rows, "circumstances": around}, shown, arguments.json)


if __name__ == "__main__":
    main()

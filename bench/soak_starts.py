"""The part of `bench.soak` that starts every server and kills it, a hundred times.

Of four starts, the first and the third are asked for a word that a note got just before, and then killed
or ended; the second and the fourth are killed or ended at some moment, perhaps in the middle of their start.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import statistics
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from bench.common import environment
from bench.corpus import write_workspace
from bench.observed import holding, processes_of, temporaries
from bench.soak_servers import DEADLINE, SERVERS, Server

NOTES, STARTS, SHORT_STARTS = 20, 100, 5
KNOWN = "# Harbour\n\n- We decided that the lighthouse {word} is painted white.\n"
LONGEST_MOMENT = 1.5
END_SECONDS = 10.0
"""How long a process may be there after its end was asked for."""


def start_and_kill(folder: Path, *, short: bool) -> dict[str, Any]:
    """Start every server in turn; return what each held and left behind."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # in a background job, children would ignore it
    found = {}
    for server in SERVERS:
        place = folder / server.name.replace(" ", "-")
        found[server.name] = _ends_of(server, place, SHORT_STARTS if short else STARTS)
        shutil.rmtree(place)
    return found


def _ends_of(kind: type[Server], place: Path, starts: int) -> dict[str, Any]:
    """Start one server many times."""
    root, home, scratch = place / "notes", place / "home", place / "tmp"
    scratch.mkdir(parents=True)
    write_workspace(root, NOTES)
    variables = environment(home, TMPDIR=str(scratch), HOME=str(place))
    variables.pop("CLAUDE_PROJECT_DIR", None)
    randomly = random.Random(kind.name)
    codes: Counter[str] = Counter()
    held: list[dict[str, float]] = []
    files: list[int] = []
    left = unanswered = 0
    for number in range(starts):
        word = f"heron{number}"
        (root / "memory/harbour.md").write_text(KNOWN.format(word=word), encoding="utf-8")
        server = kind(root, variables)
        if number % 2 == 0:
            unanswered += not _answers(server, word)
            held.append(holding(server.pid))
        else:
            time.sleep(randomly.uniform(0, LONGEST_MOMENT))
        code = server.end(signal.SIGKILL if number % 4 < 2 else kind.ending)
        codes["did not end" if code is None else str(code)] += 1
        left += _left_after(home)
        files.append(_files(root, home, scratch))
    return {
        "starts": starts,
        "asked": len(held),
        "unanswered": unanswered,
        "processes_left": left,
        "exit_codes": dict(codes),
        "temporaries": len(temporaries(root, home, scratch)),
        "sockets": sum(path.is_socket() for path in place.rglob("*")),
        "files_early": files[min(4, starts - 1)],
        "files_at_end": files[-1],
        "descriptors": _first_and_last(held, "descriptors"),
        "threads": _first_and_last(held, "threads"),
        "rss_mb": _first_and_last(held, "rss_mb"),
    }


def _answers(server: Server, word: str) -> bool:
    """Return whether the server knows what was written just before its start, soon."""
    end = time.monotonic() + DEADLINE
    while time.monotonic() < end:
        if word in server.ask(word):
            return True
        time.sleep(0.2)
    return False


def _left_after(home: Path) -> int:
    """Return how many processes outlive their end, and kill them."""
    end = time.monotonic() + END_SECONDS
    while (running := processes_of(home)) and time.monotonic() < end:
        time.sleep(0.02)
    for process in running:
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)
    return len(running)


def _files(root: Path, home: Path, scratch: Path) -> int:
    """Count the files that are not notes and not compiled modules."""
    places = (root / ".memory", home, scratch)
    return sum("compiled" not in path.parts for place in places for path in place.rglob("*"))


def _first_and_last(rows: Sequence[Mapping[str, float]], name: str) -> dict[str, float]:
    """Return the medians of the first and the last ten."""
    values = [row[name] for row in rows]
    return {"first": statistics.median(values[:10]), "last": statistics.median(values[-10:])}

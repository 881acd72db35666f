"""The part of `bench.soak` that watches and edits, and looks at what the watcher holds."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from bench.common import MEMLINES, environment, run_fresh
from bench.corpus import queries, write_workspace
from bench.observed import HOLDING, holding, index_bytes, processes_of, quarters, temporaries, text_of
from memlines.index.store.sqlite import cache, db


class Pace(NamedTuple):
    """How many notes are edited for how long, how often the watcher is looked at, and how fast the edits."""

    notes: int
    seconds: float
    sample_seconds: float
    times: float = 1.0


HOUR = Pace(2_000, 3_600.0, 10.0)
FASTER = Pace(500, 1_200.0, 5.0, 5.0)
SHORT = Pace(100, 60.0, 2.0)

SEARCH_EVERY = 3
"""Samples between two searches by a process of its own."""
QUIET_SECONDS = 600.0
"""How long the watcher may take to index what is left after the last edit."""

CHECKOUT = Path(__file__).parents[1]

_SIZES = ("index_mb", "cached", "wal_mb", "private_mb", "text_mb", "notes")
FIGURES = (*HOLDING, "cpu_share", "temporaries", *_SIZES)


def watch_and_edit(folder: Path, pace: Pace, log: Path | None = None) -> dict[str, Any]:
    """Watch a workspace that another process edits; return how what the watcher holds went."""
    root, home, scratch = folder / "notes", folder / "home", folder / "tmp"
    scratch.mkdir()
    write_workspace(root, pace.notes)
    variables = environment(home, TMPDIR=str(scratch))
    with _watcher(root, variables, folder) as watcher:
        _until_whole(root, variables, watcher)
        how = str(root), str(pace.seconds), str(pace.times)
        editing = [sys.executable, "-m", "bench.soak_edits", *how]
        editor = _start(editing, variables, cwd=CHECKOUT)
        rows = list(_samples(root, variables, watcher, editor, pace.sample_seconds, log))
        done = json.loads(editor.communicate()[0])
        caught_up = _until_whole(root, variables, watcher)
        at_end = holding(watcher.pid)
        watcher.send_signal(signal.SIGINT)
        code = watcher.wait(timeout=60)
    return {
        "notes": pace.notes,
        "times": pace.times,
        "seconds": rows[-1]["s"],
        "samples": len(rows),
        "edits": done,
        "searches": sum(int(row["searched"]) for row in rows),
        "figures": quarters(rows, FIGURES),
        "processor_s": at_end["cpu_s"],
        "peak_mb": at_end["peak_mb"],
        "caught_up_s": caught_up,
        "exit_code": code,
        "notices": (folder / "notices").read_text(encoding="utf-8").splitlines(),
        "left": {"processes": len(processes_of(home)), "temporaries": len(temporaries(root, scratch))},
        **_compare(root, folder, variables),
    }


def _start(command: list[str], variables: Mapping[str, str], **streams: Any) -> subprocess.Popen[str]:
    return subprocess.Popen(
        command, env=dict(variables), encoding="utf-8", **{"stdout": subprocess.PIPE, **streams}
    )


@contextmanager
def _watcher(root: Path, variables: Mapping[str, str], folder: Path) -> Iterator[subprocess.Popen[str]]:
    """Run `memlines watch`; what it says goes to files."""
    command = [str(MEMLINES), "watch", "--json", "-w", str(root)]
    with (
        (folder / "syncs").open("w", encoding="utf-8") as syncs,
        (folder / "notices").open("w", encoding="utf-8") as notices,
    ):
        watcher = _start(command, variables, stdout=syncs, stderr=notices)
        try:
            yield watcher
        finally:
            watcher.kill()
            watcher.wait()


def _until_whole(root: Path, variables: Mapping[str, str], watcher: subprocess.Popen[str]) -> float:
    """Wait until the index equals the files and no vector is missing; return the seconds that took."""
    begin = time.monotonic()
    while True:
        if watcher.poll() is not None:
            raise SystemExit(f"the watcher ended with {watcher.returncode}")
        status = _json(variables, "status", root)
        if status["files"] and not status["dirty"] and not status["pending"]:
            return time.monotonic() - begin
        if time.monotonic() - begin > QUIET_SECONDS:
            raise SystemExit(f"not whole after {QUIET_SECONDS:.0f} s: {status['pending']} vectors pending")
        time.sleep(1)


def _samples(
    root: Path,
    variables: Mapping[str, str],
    watcher: subprocess.Popen[str],
    editor: subprocess.Popen[str],
    pause: float,
    log: Path | None,
) -> Iterator[dict[str, float]]:
    """Look at the watcher while the editor works; search now and then."""
    scratch = root.parent / "tmp"
    asked = iter(queries(100_000))
    randomly = random.Random(5)
    begin = last = time.monotonic()
    spent = holding(watcher.pid)["cpu_s"]
    while editor.poll() is None:
        time.sleep(pause)
        searched = randomly.randrange(SEARCH_EVERY) == 0
        if searched:
            run_fresh([str(MEMLINES), "search", next(asked), "--json", "-w", str(root)], variables)
        now, seen = time.monotonic(), holding(watcher.pid)
        count, size = text_of(root)
        row = {
            "s": now - begin,
            **{name: seen[name] for name in HOLDING},
            "cpu_share": (seen["cpu_s"] - spent) / (now - last),
            "temporaries": len(temporaries(root, scratch)),
            **index_bytes(root),
            "cached": _count_cached(root),
            "text_mb": size / 1e6,
            "notes": count,
            "searched": searched,
        }
        last, spent = now, seen["cpu_s"]
        if log:
            with log.open("a", encoding="utf-8") as stream:
                stream.write(json.dumps({name: round(value, 3) for name, value in row.items()}) + "\n")
        yield row


def _count_cached(root: Path) -> int:
    with closing(db.open_reader(root / ".memory/index.sqlite")) as connection:
        return cache.count(connection)


def _compare(root: Path, folder: Path, variables: Mapping[str, str]) -> dict[str, Any]:
    """Check the index against the files, and its size against that of an index made at once."""
    report = _json(variables, "sync", root)
    doctor = _json(variables, "doctor", root, "--deep")
    lasting = index_bytes(root)["index_mb"]
    fresh = folder / "fresh"
    fresh.mkdir()
    (root / "memory").rename(fresh / "memory")
    run_fresh([str(MEMLINES), "sync", "--json", "-w", str(fresh)], variables)
    return {
        "to_sync": len(report["indexed"]) + len(report["removed"]) + report["pending"],
        "doctor": {
            "healthy": doctor["healthy"],
            "found": [each["message"] for each in doctor["findings"] if each["level"] != "ok"],
        },
        "index_mb": lasting,
        "fresh_index_mb": index_bytes(fresh)["index_mb"],
    }


def _json(variables: Mapping[str, str], command: str, root: Path, *options: str) -> Any:
    """Run a command and return what it prints, whatever its exit code says."""
    done = subprocess.run(
        [str(MEMLINES), command, "--json", *options, "-w", str(root)],
        env=dict(variables),
        stdout=subprocess.PIPE,
        encoding="utf-8",
        check=False,
    )
    return json.loads(done.stdout)

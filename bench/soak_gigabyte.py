"""The part of `bench.soak` that indexes a gigabyte of notes by words, searches it, and looks at it again.

The model would take hours for as much: its rate is measured on a megabyte, and the whole follows from it.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bench.common import MEMLINES, WORDS_ONLY, environment
from bench.corpus import queries, write_workspace
from bench.observed import index_bytes, text_of

NOTES, NOTE_BYTES = 100_000, 10_000
SAMPLE = 100
"""Notes for the rate of the model."""
QUERIES = 5


def index_gigabyte(folder: Path) -> dict[str, Any]:
    """Return what a gigabyte of notes takes; notes that are in the folder already are used."""
    root = folder / "notes"
    if not root.exists():
        write_workspace(root, NOTES, NOTE_BYTES)
    variables = environment(folder / "home", **WORDS_ONLY)
    notes, text = text_of(root)
    first = run(["sync", "--json", "-w", str(root)], variables)
    sizes = index_bytes(root)
    return {
        "notes": notes,
        "text_mb": text / 1e6,
        **sizes,
        "index_to_text": sizes["index_mb"] * 1e6 / text,
        "first_sync": first,
        "second_sync": run(["sync", "--json", "-w", str(root)], variables),
        "searches": [
            run(["search", query, "--json", "-w", str(root)], variables) for query in queries(QUERIES)
        ],
        "model": _rate_of_the_model(folder, text),
    }


def run(arguments: list[str], variables: Mapping[str, str]) -> dict[str, float]:
    """Run a command to its end; return its seconds, those of the processor, and the most memory it had."""
    begin = time.perf_counter()
    process = subprocess.Popen([str(MEMLINES), *arguments], env=dict(variables), stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"memlines {arguments[0]} ended with {process.returncode}")
    return {
        "s": time.perf_counter() - begin,
        "processor_s": usage.ru_utime + usage.ru_stime,
        "peak_mb": usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024) / 1e6,
    }


def _rate_of_the_model(folder: Path, text: int) -> dict[str, float]:
    """Index a megabyte by words and with the model; return what the model alone takes for it and for all."""
    spent = {}
    for name, settings in {"words": WORDS_ONLY, "model": {}}.items():
        root = folder / f"rate-{name}"
        sampled = write_workspace(root, SAMPLE, NOTE_BYTES)
        variables = environment(folder / f"home-{name}", **settings)
        spent[name] = run(["sync", "--json", "-w", str(root)], variables)["processor_s"]
    alone = spent["model"] - spent["words"]
    return {
        "sample_mb": sampled / 1e6,
        "processor_s": alone,
        "kb_a_processor_s": sampled / 1e3 / alone,
        "whole_processor_h": alone * text / sampled / 3600,
    }

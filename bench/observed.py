"""What a process holds and what programs leave behind, as Linux says it in `/proc`."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from memlines.files.atomic import TEMPORARY_PREFIXES, TEMPORARY_SUFFIX

PROC = Path("/proc")
HOLDING = ("rss_mb", "anonymous_mb", "descriptors", "threads", "children")

_TICK = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100
_MEMORY = {"VmRSS": "rss_mb", "RssAnon": "anonymous_mb", "VmHWM": "peak_mb"}


def holding(process: int) -> dict[str, float]:
    """Return the memory, descriptors, threads, children and processor seconds of a process."""
    place = PROC / str(process)
    lines = dict(
        line.split(":", 1) for line in (place / "status").read_text(encoding="utf-8").splitlines() if line
    )
    after_name = (place / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    children = (place / f"task/{process}/children").read_text(encoding="ascii").split()
    return {
        **{name: int(lines[field].split()[0]) * 1024 / 1e6 for field, name in _MEMORY.items()},
        "descriptors": len(list((place / "fd").iterdir())),
        "threads": int(lines["Threads"]),
        "children": len(children),
        "cpu_s": (int(after_name[11]) + int(after_name[12])) / _TICK,
    }


def processes_of(home: Path) -> list[int]:
    """Return the processes that still run with this folder as the home of Memlines."""
    mark = f"MEMLINES_HOME={home}".encode()
    found = []
    for place in PROC.iterdir():
        if place.name.isdigit() and int(place.name) != os.getpid():
            with suppress(OSError):  # it ended meanwhile, or is not ours
                if mark in (place / "environ").read_bytes().split(b"\0"):
                    found.append(int(place.name))
    return found


def temporaries(*places: Path) -> list[Path]:
    """Return the temporary files of ours in some folders, and all files in a folder named `tmp`."""
    return [
        path
        for place in places
        for path in _files(place)
        if place.name == "tmp"
        or (path.name.startswith(TEMPORARY_PREFIXES) and path.name.endswith(TEMPORARY_SUFFIX))
    ]


def index_bytes(root: Path) -> dict[str, float]:
    """Return the size of the index of a workspace, of what is not merged into it, and of all beside it."""
    sizes = {path.name: _size(path) for path in _files(root / ".memory")}
    index = "index.sqlite"
    return {
        "index_mb": sizes.get(index, 0) / 1e6,
        "wal_mb": sizes.get(index + "-wal", 0) / 1e6,
        "private_mb": sum(sizes.values()) / 1e6,
    }


def text_of(root: Path) -> tuple[int, int]:
    """Return how many notes there are, and how many bytes they hold."""
    sizes = [_size(path) for path in _files(root / "memory") if path.suffix == ".md"]
    return len(sizes), sum(sizes)


def _files(place: Path) -> Iterator[Path]:
    for folder, _, names in os.walk(place):
        yield from (Path(folder) / name for name in names)


def _size(path: Path) -> int:
    try:
        return path.lstat().st_size
    except OSError:  # deleted meanwhile
        return 0


def median_by(rows: list[dict[str, float]], name: str) -> float:
    """Return the median of one column."""
    values = sorted(row[name] for row in rows)
    return values[len(values) // 2]


def quarters(rows: list[dict[str, float]], names: tuple[str, ...]) -> Mapping[str, dict[str, float]]:
    """Return the medians of three quarters of the time, the highest value, and the slope of the second half.

    The slope is that of a line, per hour: what grows without bound still grows there, and has grown from the
    third quarter to the last one.
    """
    part = max(1, len(rows) // 4)
    late = rows[len(rows) // 2 :]
    return {
        name: {
            "first": median_by(rows[:part], name),
            "third": median_by(rows[-2 * part : -part], name),
            "last": median_by(rows[-part:], name),
            "highest": max(row[name] for row in rows),
            "slope_an_hour": 3600 * _slope([row["s"] for row in late], [row[name] for row in late]),
        }
        for name in names
    }


def _slope(across: list[float], up: list[float]) -> float:
    middle, height = sum(across) / len(across), sum(up) / len(up)
    spread = sum((x - middle) ** 2 for x in across)
    return sum((x - middle) * (y - height) for x, y in zip(across, up, strict=True)) / spread if spread else 0

"""Shows what `bench.peers` measured: as Markdown with ratios, and as a picture."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from bench.common import RESULTS
from bench.draw import Bar, write_bars

Figures = dict[str, Any]
_TIMES = "\N{MULTIPLICATION SIGN}"
_OURS = {"hybrid": "Memlines", "words": "Memlines, words"}
_TITLES = {"hybrid": "Words and vectors", "words": "Words only"}


def _seconds(value: float) -> str:
    return f"{value:.2f} s" if value < 10 else f"{value:.0f} s"


def _milliseconds(value: float) -> str:
    return f"{value:.1f} ms" if value < 10 else f"{value:.0f} ms"


def _megabytes(value: float) -> str:
    return f"{value / 1e6:.1f} MB" if value < 1e7 else f"{value / 1e6:.0f} MB"


Row = tuple[str, Callable[[float], str], dict[str, float]]
"""What was measured, how it is written, and the figure of each program that has one."""


def rows(results: Figures, size: Figures, names: Sequence[str]) -> Iterator[Row]:
    """Yield what was measured of some programs at one size."""
    programs = {name: size["programs"][name] for name in names}
    yield "installed", _megabytes, {name: results["programs"][name]["install_bytes"] for name in programs}
    steps = list(dict.fromkeys(step for figures in programs.values() for step in figures["steps"]))
    for step in steps:
        for key, unit in (("seconds", ""), ("cpu_seconds", ", processor")):
            yield (
                f"{step}{unit}",
                _seconds,
                {name: figures["steps"][step][key] for name, figures in programs.items()},
            )
    for way, title in (("library", "in a process"), ("server", "through a server")):
        warm = {name: figures["warm"][way] for name, figures in programs.items() if way in figures["warm"]}
        if warm:
            yield f"warm search {title}, p50", _milliseconds, _column(warm, "p50_ms")
            yield f"warm search {title}, p95", _milliseconds, _column(warm, "p95_ms")
            yield f"start to first answer, {title}", _seconds, _column(warm, "start_to_first_answer_s")
            yield f"memory, {title}", _megabytes, _column(warm, "resident_bytes")
    yield "index", _megabytes, {name: figures["index_bytes"] for name, figures in programs.items()}


def _column(warm: dict[str, Figures], key: str) -> dict[str, float]:
    return {name: figures[key] for name, figures in warm.items()}


def table(results: Figures) -> str:
    """Write the figures as Markdown; in brackets how many times ours each one is."""
    lines: list[str] = []
    for size in results["sizes"]:
        for mode, title in _TITLES.items():
            names = [name for name in size["programs"] if results["programs"][name]["mode"] == mode]
            if names:
                about = f"{size['files']:,} notes, {size['bytes'] / 1e6:.1f} MB"
                lines += [f"## {title}: {about}", "", *_size_lines(results, size, names, _OURS[mode]), ""]
    if results["quality"]:
        lines += ["## Found", "", *_quality_lines(results), ""]
    for name, reason in results["left_out"].items():
        lines.append(f"Left out: {name}. {reason}")
    return "\n".join(lines).rstrip()


def _size_lines(results: Figures, size: Figures, names: Sequence[str], ours: str) -> Iterator[str]:
    heads = [f"{name} {results['programs'][name]['version']}" for name in names]
    yield f"| | {' | '.join(heads)} |"
    yield "|---" * (len(names) + 1) + "|"
    for title, shown, figures in rows(results, size, names):
        cells = []
        for name in names:
            value = figures.get(name)
            ratio = (
                f" ({value / figures[ours]:.2g}{_TIMES})"
                if value and name != ours and figures.get(ours)
                else ""
            )
            cells.append(f"{shown(value)}{ratio}" if value is not None else "")
        yield f"| {title} | {' | '.join(cells)} |"
    programs = {name: size["programs"][name] for name in names}
    if any(figures["steps"]["first index"]["requests"] for figures in programs.values()):
        for step in ("first index", "sync, every note moved"):
            if any(step not in figures["steps"] for figures in programs.values()):
                continue
            cells = [
                f"{figures['steps'][step]['requests']} with {figures['steps'][step]['texts']} texts"
                for figures in programs.values()
            ]
            yield f"| {step}: requests to the service | {' | '.join(cells)} |"
    shares = [
        ", ".join(f"{warm['found']:.2f}" for warm in figures["warm"].values())
        for figures in programs.values()
    ]
    yield f"| warm searches that find the note that the words are from | {' | '.join(shares)} |"


def _quality_lines(results: Figures) -> Iterator[str]:
    names = list(results["programs"])
    yield (
        "The share of questions whose note is among the first five hits; every program asks a service for the"
        " vectors of our builtin model."
    )
    yield ""
    yield f"| set | questions | {' | '.join(names)} |"
    yield "|---" * (len(names) + 2) + "|"
    for name, figures in results["quality"].items():
        cells = [f"{figures['found'][each]:.2f}" if each in figures["found"] else "" for each in names]
        yield f"| {name} | {figures['questions']} | {' | '.join(cells)} |"


def page(command: str, results: Figures, around: Figures) -> str:
    """Write the tables under what they were measured with."""
    return (
        "# Memlines beside its peers\n\n"
        f"{around['date']}, `{command}`: Python {around['python']}, SQLite {around['sqlite']},"
        f" {around['system']}, {around['cores']} cores, load {around['load']} at the"
        f" start and {around['load_at_end']} at the end. Medians of {results['rounds']} rounds; each step was"
        f" run by every program before the next. Warm searches: {results['questions']} questions, in turns."
        " The service for vectors is on this machine and answers after"
        f" {1000 * results['delay_seconds']:.0f} ms. In brackets: how many times the figure of Memlines."
        " [What is fair here and what is not](../../docs/benchmarks.md).\n\n"
        "![The figures as bars](peers.svg)\n\n"
        f"{table(results)}\n"
    )


def draw(results: Figures, around: Figures) -> None:
    """Draw what a person notices, at the largest size."""
    size = results["sizes"][-1]
    found = {title: (shown, figures) for title, shown, figures in rows(results, size, list(size["programs"]))}
    panels = [
        (title.capitalize(), _bars(results, *found[title]))
        for title in ("first index", "sync, one note changed", "search, one command", "sync, nothing changed")
    ]
    for title, shown, key in (
        ("Warm search, p50", _milliseconds, "p50_ms"),
        ("Memory while running", _megabytes, "resident_bytes"),
    ):
        ways: dict[str, dict[str, float]] = {"server": {}, "library": {}}
        for name, figures in size["programs"].items():
            for way, warm in figures["warm"].items():
                ways[way][name] = warm[key]
        servers = _bars(results, shown, ways["server"])
        others = {name: value for name, value in ways["library"].items() if name not in ways["server"]}
        panels.append((title, servers + _bars(results, shown, others, ways["library"])))
    panels += [(name.capitalize(), _bars(results, *found[name])) for name in ("index", "installed")]
    write_bars(
        RESULTS / "peers.svg",
        f"{size['files']:,} notes, the same vectors, {around['cores']} cores: less is better",
        f"{around['date']}, in turns in one run. qmd and “words” search by words only."
        " Warm: through a server, memsearch as a library.",
        panels,
    )


def _bars(
    results: Figures,
    shown: Callable[[float], str],
    figures: dict[str, float],
    all_figures: dict[str, float] | None = None,
) -> list[Bar]:
    """Return a bar for each program, with how many times ours it is; ours may be among other figures."""
    bars = []
    for name, value in figures.items():
        ours = (all_figures or figures).get(_OURS[results["programs"][name]["mode"]])
        is_ours = name.startswith("Memlines")
        ratio = f" ({value / ours:.2g}{_TIMES})" if ours and not is_ours else ""
        bars.append(Bar(name, value, f"{shown(value)}{ratio}", is_ours))
    return bars

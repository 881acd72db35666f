"""Shows what `bench.scale` measured: as curves with their slopes, in Markdown and as a picture."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bench.common import RESULTS
from bench.draw import Curve, write_curves

MODES = ("words", "vectors", "hybrid")

Figures = dict[str, Any]

_PANELS: list[tuple[str, str, list[tuple[str, str, int]]]] = [
    (
        "Indexing",
        "s",
        [
            ("first index by words, s", "first, by words", 0),
            ("limit: bare FTS5 loop, s", "bare FTS5 loop", 0),
            ("adding vectors, s", "adding vectors", 1),
        ],
    ),
    (
        "Sync again",
        "ms",
        [
            ("sync, nothing changed, ms", "nothing changed", 0),
            ("sync, one note changed, ms", "one note changed", 1),
            ("limit: one look at every file, ms", "a look at every file", 0),
        ],
    ),
    (
        "First search in a new process",
        "s",
        [
            ("first search in a new process by words, s", "by words", 0),
            ("first search in a new process, hybrid, s", "hybrid", 2),
            ("limit: Python that does nothing, s", "bare Python", 0),
        ],
    ),
    (
        "Memory",
        "MB",
        [
            ("resident after warm searches, MB", "warm searches", 2),
            ("peak of the first index, MB", "first index by words", 0),
        ],
    ),
]
"""What is drawn beside warm searches: titles, units, and the curves with their labels and colours."""


def curves(sizes: list[Figures]) -> dict[str, list[float]]:
    """Return every cost by its name, a figure for each size."""
    found: dict[str, Callable[[Figures], float]] = {
        "first index by words, s": lambda one: one["first_index_s"],
        "limit: bare FTS5 loop, s": lambda one: one["bare_index_s"],
        "adding vectors, s": lambda one: one["add_vectors_s"],
        "index bytes a byte of text, words": lambda one: one["index_bytes_words"] / one["text_bytes"],
        "index bytes a byte of text, with vectors": lambda one: one["index_bytes"] / one["text_bytes"],
        "bare FTS5 bytes a byte of text": lambda one: one["bare_bytes"] / one["text_bytes"],
        "sync, nothing changed, ms": lambda one: 1000 * one["sync_s"]["unchanged"],
        "sync, one note changed, ms": lambda one: 1000 * one["sync_s"]["changed"],
        "limit: one look at every file, ms": lambda one: 1000 * one["sync_s"]["look"],
        "first search in a new process by words, s": lambda one: one["new_process_s"]["words"],
        "first search in a new process, hybrid, s": lambda one: one["new_process_s"]["hybrid"],
        "limit: Python that does nothing, s": lambda one: one["new_process_s"]["python"],
        "resident after warm searches, MB": lambda one: one["resident_mb"],
        "peak of the first index, MB": lambda one: one["first_index_peak_mb"],
    }
    made = {name: [figure(one) for one in sizes] for name, figure in found.items()}
    for name in sizes[0]["searches"]:
        title = f"limit: {name}" if name.startswith("bare") else f"warm search, {name}"
        for part in ("p50", "p95"):
            made[f"{title}, {part}, ms"] = [one["searches"][name][f"{part}_ms"] for one in sizes]
    return made


def slope(chunks: list[int], values: list[float]) -> float | None:
    """Return the slope of a line through the points with both axes logarithmic."""
    import numpy as np

    if len(chunks) < 2:
        return None
    return float(np.polyfit(np.log(chunks), np.log(values), 1)[0])


def table(results: Figures) -> str:
    """Write the curves as Markdown, a column for each size."""
    sizes = results["sizes"]
    heads = [f"{one['chunks']:,} chunks" for one in sizes]
    lines = [f"| | {' | '.join(heads)} | slope |", "|---" * (len(sizes) + 2) + "|"]
    notes = [f"{one['files']:,} notes, {one['text_bytes'] / 1e6:.1f} MB" for one in sizes]
    lines.append(f"| text | {' | '.join(notes)} | |")
    for name, values in results["curves"].items():
        grown = results["slopes"][name]
        cells = [f"{value:.3g}" if value < 1000 else f"{value:,.0f}" for value in values]
        lines.append(f"| {name} | {' | '.join(cells)} | {'' if grown is None else f'{grown:.2f}'} |")
    return "\n".join(lines)


def page(command: str, results: Figures, around: Figures) -> str:
    """Write the table under what it was measured with."""
    return (
        "# How our costs grow\n\n"
        f"{around['date']}, `{command}`: Python {around['python']}, SQLite {around['sqlite']},"
        f" {around['system']}, {around['cores']} cores, load {around['load']} at the"
        f" start and {around['load_at_end']} at the end. {results['queries']} questions, in turns; random"
        " vectors of 512 numbers with sentences, as the builtin model makes; making them is not counted."
        " Seconds are those of the processor, with one thread."
        f" The first index and its limit are medians of up to {results['rounds']}, in turns. Slope: of a line"
        " through the points, both axes logarithmic; 1 grows as the number of chunks does.\n\n"
        "![The figures as curves](scale.svg)\n\n"
        f"{table(results)}\n"
    )


def draw(results: Figures, around: Figures) -> None:
    """Draw the curves beside their limits."""
    counts = [one["chunks"] for one in results["sizes"]]

    def curve(name: str, label: str, colour: int) -> Curve:
        grown = results["slopes"][name]
        told = "" if grown is None else f" ({grown:.2f})"
        points = list(zip(counts, results["curves"][name], strict=True))
        return Curve(label + told, points, colour, limit=name.startswith(("limit", "bare")))

    def searches(part: str) -> list[Curve]:
        return [
            *(curve(f"warm search, {mode}, {part}, ms", mode, place) for place, mode in enumerate(MODES)),
            curve(f"limit: bare FTS5 query, {part}, ms", "bare FTS5", 0),
            curve(f"limit: bare matrix pass, {part}, ms", "bare matrix", 1),
        ]

    panels = [(f"Warm search, {part}", "ms", searches(part)) for part in ("p50", "p95")]
    panels += [(title, unit, [curve(*each) for each in shown]) for title, unit, shown in _PANELS]
    write_curves(
        RESULTS / "scale.svg",
        f"How our costs grow with the number of chunks, {around['cores']} cores",
        f"{around['date']}, time of the processor. Dashed: what the machine cannot do without. In brackets:"
        " the slope; 1 grows as the chunks do.",
        panels,
    )

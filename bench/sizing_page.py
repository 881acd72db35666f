"""Writes the page of `bench.sizing`: what was measured, the paper beside it, and what it says of more."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from bench.sizing_paper import (
    DISK_ROOM,
    MEMORY_ROOM,
    PLANS,
    SHARD_LOG,
    Chunks,
    Machine,
    Plan,
    Prices,
    disk_bytes,
    disk_parts,
    memory_bytes,
    memory_parts,
    needs_of,
)

Figures = Mapping[str, Any]

CODES = {plan.codes: plan for plan in PLANS}
COUNTS = (10**5, 10**6, 10**7, 10**8, 10**9)

ON_DISK = {
    "vectors, float32 and smaller": ("vector_storage-meaning",),
    "graph": ("vector_index-meaning",),
    "words of chunks": ("vector_storage-words",),
    "postings of words": ("vector_index-words",),
    "text, fields, sentences": ("payload_storage",),
    "payload indexes": ("payload_index",),
    "ids": ("id_tracker", "mutable_id_tracker"),
    "log": ("wal",),
}
"""The parts of the paper, and the files that they are."""


def needed_memory(layout: Figures, plan: Plan) -> dict[str, int]:
    """Return the measured bytes that searches cannot do without.

    Payloads and the log are left out, which the system drops when memory is short, and so are vectors of
    which smaller ones are in memory.
    """
    memory = layout["memory"]
    needed = {
        "own: postings, smaller vectors, ids": memory["own"] - layout["own memory of an empty node"],
        "graph": memory.get("vector_index-meaning", 0),
        "payload indexes": memory["payload_index"],
        "ids": memory.get("id_tracker", 0),
    }
    return needed if plan.vectors_on_disk else {"vectors": memory["vector_storage-meaning"], **needed}


def ratios(size: Figures, codes: str) -> tuple[float, float, float, float]:
    """Return the bytes on the disk and the needed memory of one layout, and paper / measured of both."""
    chunks, plan, layout = Chunks(**size["chunks"]), CODES[codes], size["layouts"][codes]  # type: ignore[index]
    disk, memory = sum(layout["disk"].values()), sum(needed_memory(layout, plan).values())
    return (
        disk,
        memory,
        disk_bytes(chunks, plan) / disk,
        memory_bytes(chunks, plan, layout["segments"]) / memory,
    )


def _measured(sizes: Sequence[Figures]) -> Iterator[str]:
    yield "| | " + " | ".join(f"{size['chunks']['number']:,} chunks" for size in sizes) + " |"
    yield "|---|" + "---|" * len(sizes)
    as_made = [size["layouts"]["none"] for size in sizes]
    numbers = [size["chunks"]["number"] for size in sizes]
    disks = [sum(layout["disk"].values()) for layout in as_made]
    needed = [sum(needed_memory(layout, CODES["none"]).values()) for layout in as_made]
    writing = [size["seconds to write"] for size in sizes]
    rows = {
        "points": [f"{one['points']:,}" for one in as_made],
        "segments": [f"{one['segments']}" for one in as_made],
        "seconds to write": [f"{one:.0f}" for one in writing],
        "chunks a second": [f"{number / one:.0f}" for number, one in zip(numbers, writing, strict=True)],
        "seconds until green": [f"{one['seconds until green']:.0f}" for one in as_made],
        "disk, bytes a chunk": [f"{one / many:,.0f}" for one, many in zip(disks, numbers, strict=True)],
        "needed memory, bytes a chunk": [
            f"{one / many:,.0f}" for one, many in zip(needed, numbers, strict=True)
        ],
        "resident set, MB": [f"{one['resident'] / 1e6:.0f}" for one in as_made],
        "the same before the restart, MB": [
            f"{one['resident before the restart'] / 1e6:.0f}" for one in as_made
        ],
    }
    yield from (f"| {name} | {' | '.join(values)} |" for name, values in rows.items())


def _compared(sizes: Sequence[Figures]) -> Iterator[str]:
    yield "| chunks | layout | disk MB | paper / measured | needed memory MB | paper / measured |"
    yield "|---|---|---|---|---|---|"
    for size in sizes:
        for codes in size["layouts"]:
            disk, memory, disk_ratio, memory_ratio = ratios(size, codes)
            number, name = size["chunks"]["number"], CODES[codes].name
            cells = [f"{number:,}", name, f"{disk / 1e6:.0f}", f"{disk_ratio:.2f}"]
            yield "| " + " | ".join([*cells, f"{memory / 1e6:.0f}", f"{memory_ratio:.2f}"]) + " |"


def _parts_on_disk(size: Figures) -> Iterator[str]:
    chunks, layout = Chunks(**size["chunks"]), size["layouts"]["none"]
    paper = disk_parts(chunks, PLANS[0])
    paper["vectors, float32 and smaller"] = paper.pop("vectors, float32") + paper.pop("vectors, smaller")
    paper["log"] = SHARD_LOG / chunks.number
    yield "| on the disk | measured | paper |"
    yield "|---|---|---|"
    for name, files in ON_DISK.items():
        measured = sum(layout["disk"].get(file, 0) for file in files) / chunks.number
        yield f"| {name} | {measured:,.0f} | {paper[name]:,.0f} |"


def _parts_in_memory(size: Figures) -> Iterator[str]:
    chunks, layout = Chunks(**size["chunks"]), size["layouts"]["none"]
    seen = {name: part / chunks.number for name, part in needed_memory(layout, PLANS[0]).items()}
    paper = memory_parts(chunks, PLANS[0])
    everything = memory_bytes(chunks, PLANS[0], layout["segments"]) / chunks.number
    own = paper["postings of words"] + paper["vectors, smaller"] + paper["ids"]
    rows = {
        "vectors": (seen["vectors"], paper["vectors, float32"]),
        "postings of words, smaller vectors, ids": (seen["own: postings, smaller vectors, ids"], own),
        "graph": (seen["graph"], paper["graph"]),
        "payload indexes": (seen["payload indexes"], paper["payload indexes"]),
        "ids in files": (seen["ids"], 0.0),
        "files larger than what is in them": (None, everything - sum(paper.values())),
    }
    yield "| needed memory | measured | paper |"
    yield "|---|---|---|"
    for name, (measured, said) in rows.items():
        yield f"| {name} | {'in the above' if measured is None else f'{measured:,.0f}'} | {said:,.0f} |"


def paper_table() -> Iterator[str]:
    """Yield the lines of the table of what clusters need."""
    yield "| chunks | layout | memory GB | disk GB | nodes and shards | $ a month |"
    yield "|---|---|---|---|---|---|"
    for number in COUNTS:
        for plan in PLANS:
            needs = needs_of(Chunks(number), plan)
            cells = [f"{number:,}", plan.name, f"{needs.memory_gb:,.0f}", f"{needs.disk_gb:,.0f}"]
            yield f"| {' | '.join([*cells, f'{needs.nodes:,}', f'{needs.dollars:,.0f}'])} |"


def _paragraph(*sentences: str) -> str:
    return textwrap.fill(" ".join(sentences), 120, break_long_words=False, break_on_hyphens=False)


def _describe(chunks: Chunks) -> str:
    return (
        f"{chunks.characters:,.0f} characters, {chunks.terms:.0f} different words, {chunks.sentences:.0f} "
        f"sentences and a vector of {chunks.dims} numbers each, {chunks.per_file} to a file."
    )


def write_page(command: str, around: Figures, sizes: Sequence[Figures]) -> str:
    """Return the page."""
    largest, machine, prices = Chunks(**sizes[-1]["chunks"]), Machine(), Prices()
    lines = [
        "# What chunks cost on a Qdrant cluster",
        _paragraph(
            f"{around['date']}, `{command}`: Python {around['python']}, Qdrant 1.16.3, {around['system']},",
            f"{around['cores']} cores, load {around['load']} at the start; other programs were at work,",
            "which seconds show most.",
            "One node, one shard, one copy, one client that writes. The collection is made and written by",
            "the code that a sync uses. Chunks are made up, their texts by Zipf's law:",
            _describe(largest),
        ),
        "## Measured",
        "As the program makes a collection: float32 in memory.",
        *_table(_measured(sizes)),
        _paragraph(
            "Memory was read after a restart and 300 searches. The resident set counts payloads and the log,",
            "which the system drops when memory is short, and counts twice what is mapped twice. Needed",
            "memory has neither; whether a node is quick with that alone was not tried.",
        ),
        "## The paper beside it",
        _paragraph(
            "Its constants were chosen on all sizes but the largest, which was measured once, after that,",
            "and only as the program makes it.",
        ),
        *_table(_compared(sizes)),
        f"Bytes a chunk of {largest.number:,}, float32 in memory:",
        *_table(_parts_on_disk(sizes[-1])),
        *_table(_parts_in_memory(sizes[-1])),
        "## Extrapolated",
        _paragraph(
            "Nothing below was measured. Two copies of everything, all nodes together, with room to work:",
            f"{DISK_ROOM:g} times the disk, {MEMORY_ROOM:g} times the memory. At least three nodes, each of",
            f"{machine.memory_gb:g} GB of memory, {machine.cores} cores and {machine.disk_gb:,g} GB of disk.",
            f"Prices are an assumption: ${prices.memory_gb:g} a GB of memory with its cores and",
            f"${prices.disk_gb:.2f} a GB of disk a month, for what is needed, not for whole nodes. Chunks of",
            _describe(Chunks(1)),
        ),
        *_table(paper_table()),
    ]
    return "\n\n".join(lines) + "\n"


def _table(lines: Iterator[str]) -> list[str]:
    return ["\n".join(lines)]

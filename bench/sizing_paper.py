"""The paper for a Qdrant cluster: bytes a chunk by part, and what follows for memory, disks, nodes and cost.

The constants without a source in a format were chosen on what `bench.sizing` measured with 10,000 and 30,000
chunks. What it measured with more was only compared.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, NamedTuple

SENTENCE_NUMBERS = 4
"""Dimensions of which two bits each are one byte of the vector of a sentence, which has four more bytes."""

BASE64 = 4 / 3
TEXT = 0.9
"""Of a byte of text: Qdrant compresses payloads with LZ4, which makes little of a short text."""

FIELDS = 370
"""What the other fields of a point of a chunk take, with what is lost to blocks of 128 bytes."""

HEAD = 380
"""The payload of the head of a file."""

LINKS = 66
"""Links of a chunk in the graph, those for filters too; each takes the bits of a number in its segment."""

WORD_KEPT, WORD_POSTED, WORD_IN_MEMORY = 8.16, 6.6, 9.5
"""Bytes a term: in the vector as it was written, in the postings on the disk, and in those in memory."""

KEYS, IDS, IDS_IN_MEMORY = 215, 30, 40
"""Bytes a point: payload indexes on the disk and in memory, and ids."""

SEGMENT_POINTS = 1_000_000
"""About the most points in a segment: more are divided."""

SHARD_LOG = 64_000_000
"""The write-ahead log of a shard: one file of 32 MB that is written and one that is ready."""

SEGMENT_INDEXES, SEGMENT_VECTORS = 17_000_000, 13_000_000
"""Of a segment, in files that are larger than what is in them; a shard has one segment for each core."""

DISK_ROOM, MEMORY_ROOM = 1.5, 1.3
"""What a node needs beside its chunks: a copy of the segments that are being optimised, deleted points until
then, snapshots; the system, the searches at work and payloads that were read just now."""

Codes = Literal["none", "int8", "binary"]


class Chunks(NamedTuple):
    """How many chunks there are and what they look like on average."""

    number: int
    dims: int = 512
    characters: float = 1_400
    terms: float = 150
    """Different words of a chunk, those of its title too."""
    sentences: float = 13
    per_file: float = 4


@dataclass(frozen=True)
class Plan:
    """How chunks are kept."""

    name: str
    codes: Codes = "none"
    """Beside the vectors, smaller ones that are searched first."""
    vectors_on_disk: bool = False
    replication: int = 2


PLANS = (
    Plan("float32 in memory"),
    Plan("int8 in memory, float32 on disk", "int8", vectors_on_disk=True),
    Plan("binary in memory, float32 on disk", "binary", vectors_on_disk=True),
)


@dataclass(frozen=True)
class Prices:
    """Dollars a month: an assumption, of the order that public clouds list for rented machines."""

    memory_gb: float = 5.0
    disk_gb: float = 0.10


@dataclass(frozen=True)
class Machine:
    """What a node has."""

    memory_gb: float = 64
    cores: int = 8
    disk_gb: float = 1_000


def points(chunks: Chunks) -> float:
    """Return how many points a chunk takes: itself and its share of the head of its file."""
    return 1 + 1 / chunks.per_file


def codes_bytes(chunks: Chunks, codes: Codes) -> float:
    """Return the bytes of the smaller vectors of a chunk."""
    point = {"none": 0.0, "int8": chunks.dims + 4, "binary": chunks.dims / 8}[codes]
    return point * points(chunks)


def graph_bytes(chunks: Chunks) -> float:
    """Return the bytes of a chunk in the graph of its vectors."""
    bits = math.ceil(math.log2(max(2, min(chunks.number * points(chunks), SEGMENT_POINTS))))
    return LINKS * bits / 8


def payload_bytes(chunks: Chunks) -> float:
    """Return the bytes of a chunk's text, fields and sentence vectors, and its share of a head."""
    sentence = chunks.dims / SENTENCE_NUMBERS + SENTENCE_NUMBERS
    return TEXT * chunks.characters + BASE64 * sentence * chunks.sentences + FIELDS + HEAD / chunks.per_file


def disk_parts(chunks: Chunks, plan: Plan) -> dict[str, float]:
    """Return the bytes of a chunk on the disk of one node, by part."""
    return {
        "vectors, float32": 4 * chunks.dims * points(chunks),
        "vectors, smaller": codes_bytes(chunks, plan.codes),
        "graph": graph_bytes(chunks),
        "words of chunks": WORD_KEPT * chunks.terms,
        "postings of words": WORD_POSTED * chunks.terms,
        "text, fields, sentences": payload_bytes(chunks),
        "payload indexes": KEYS * points(chunks),
        "ids": IDS * points(chunks),
    }


def memory_parts(chunks: Chunks, plan: Plan) -> dict[str, float]:
    """Return the bytes of a chunk that must be in the memory of one node, by part."""
    vectors = 0 if plan.vectors_on_disk else 4 * chunks.dims
    return {
        "vectors, float32": vectors * points(chunks),
        "vectors, smaller": codes_bytes(chunks, plan.codes),
        "graph": graph_bytes(chunks),
        "postings of words": WORD_IN_MEMORY * chunks.terms,
        "payload indexes": KEYS * points(chunks),
        "ids": IDS_IN_MEMORY * points(chunks),
    }


def disk_bytes(chunks: Chunks, plan: Plan, shards: int = 1) -> float:
    """Return the bytes of one copy of all chunks on the disk, without room to work."""
    return chunks.number * sum(disk_parts(chunks, plan).values()) + shards * SHARD_LOG


def memory_bytes(chunks: Chunks, plan: Plan, segments: int = 2) -> float:
    """Return the bytes of one copy of all chunks that must be in memory, without room to work."""
    segment = SEGMENT_INDEXES + (0 if plan.vectors_on_disk else SEGMENT_VECTORS)
    return chunks.number * sum(memory_parts(chunks, plan).values()) + segments * segment


class Needs(NamedTuple):
    """What a cluster needs; everything of all its nodes together."""

    memory_gb: float
    disk_gb: float
    nodes: int
    """Also the number of shards, of which the program makes one for each node."""
    dollars: float
    """A month, for what is needed: whole machines cost up to one machine more."""


def needs_of(chunks: Chunks, plan: Plan, machine: Machine = Machine(), prices: Prices = Prices()) -> Needs:
    """Return what a cluster needs that holds chunks and has room to work."""
    wanted, nodes = max(3, plan.replication), 0
    while nodes < wanted:
        nodes = wanted
        memory = memory_bytes(chunks, plan, nodes * machine.cores) * plan.replication * MEMORY_ROOM / 1e9
        disk = disk_bytes(chunks, plan, nodes) * plan.replication * DISK_ROOM / 1e9
        wanted = max(nodes, math.ceil(memory / machine.memory_gb), math.ceil(disk / machine.disk_gb))
    return Needs(memory, disk, nodes, memory * prices.memory_gb + disk * prices.disk_gb)

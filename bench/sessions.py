"""Measures what one more message costs in a transcript of 10 MB. Run `python -m bench.sessions`.

The same message is added to a transcript that is read on from its last stretch, and to one whose
place to read on was taken away, so that it is read whole: what every sync would cost without it.
"""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any

from bench.common import RandomVectors, circumstances, finish, medians, parser, seconds
from bench.corpus import queries
from memlines import Memory
from memlines.embed.select import Choice
from memlines.files import read
from memlines.index.store.sqlite.index import Index

BYTES = 10_000_000
ROUNDS = 5
SETTINGS = {"sources": ["sessions"], "cache.max_entries": 100_000}


class Counting(RandomVectors):
    """Counts the texts it is asked for."""

    texts = 0

    def embed_documents(self, texts: Any) -> Any:
        """Return vectors that mean nothing."""
        self.texts += len(texts)
        return super().embed_documents(texts)


class Bytes:
    """Counts what is read of transcripts."""

    def __init__(self) -> None:
        """Begin to count."""
        self.count = 0
        whole = read.bounded_lines

        def counted(*arguments: Any) -> Any:
            found = whole(*arguments)
            self.count += len(found[0])
            return found

        setattr(read, "bounded_lines", counted)  # noqa: B010 (mypy knows the one that is there)


def main() -> None:
    """Measure, print, and write the figures if asked to."""
    arguments = parser(__doc__).parse_args()
    with tempfile.TemporaryDirectory(prefix="memlines-bench-") as folder:
        os.environ["MEMLINES_HOME"] = f"{folder}/home"
        figures = measure(Path(folder))
    results = {**circumstances(), "command": "python -m bench.sessions", **figures}
    finish(results, table(results), arguments.json)


def measure(folder: Path) -> dict[str, Any]:
    """Add messages one by one, in turns with and without the place to read on."""
    workspace = folder / "workspace"
    transcript = workspace / "sessions" / "long.jsonl"
    transcript.parent.mkdir(parents=True)
    words = list(queries(4_000))
    write(transcript, words)
    read_bytes, provider = Bytes(), Counting()
    with Memory(workspace, SETTINGS) as memory:
        memory._manager.choice = Choice("random", provider)
        first = seconds(memory.sync)
        chunks = memory.status().chunks
        taken: dict[str, list[float]] = {"read on": [], "read whole": []}
        counts: dict[str, tuple[int, int]] = {}
        for turn in range(2 * ROUNDS):
            name = "read on" if turn % 2 == 0 else "read whole"
            if name == "read whole":
                forget_place(memory._manager.index_file)
            add(transcript, f"one more thing, number {turn}: {words[turn]}")
            before = read_bytes.count, provider.texts
            taken[name].append(seconds(memory.sync))
            counts[name] = read_bytes.count - before[0], provider.texts - before[1]
    return {
        "bytes": transcript.stat().st_size,
        "chunks": chunks,
        "first_s": first,
        "rows": {
            name: {"s": value, "bytes_read": counts[name][0], "texts_embedded": counts[name][1]}
            for name, value in medians(taken).items()
        },
    }


def write(transcript: Path, words: list[str]) -> None:
    """Write a conversation of 10 MB: short questions, long answers, and the output of tools."""
    with transcript.open("w", encoding="utf-8") as stream:
        stream.write(json.dumps({"type": "session", "timestamp": "2026-03-01T09:30:00Z"}) + "\n")
        number = 0
        while stream.tell() < BYTES:
            asked = words[number % len(words)]
            answer = " ".join(words[(number * 7 + place) % len(words)] for place in range(12))
            stream.write(line("user", asked) + line("assistant", f"{answer}. {number}"))
            stream.write(json.dumps({"type": "tool", "output": answer * 2}) + "\n")
            number += 1


def line(role: str, text: str) -> str:
    """Return a message as a line of a transcript."""
    return json.dumps({"type": "message", "message": {"role": role, "content": text}}) + "\n"


def add(transcript: Path, text: str) -> None:
    """Add one message, and make the file old enough to be trusted."""
    with transcript.open("a", encoding="utf-8") as stream:
        stream.write(line("user", text))
    when = 1_700_000_000 + transcript.stat().st_size
    os.utime(transcript, (when, when))


def forget_place(index_file: Path) -> None:
    """Take away where to read the transcript on."""
    index = Index.writer(index_file, {})
    index.connection.execute("DELETE FROM tails")
    index.close()


def table(results: dict[str, Any]) -> str:
    """Return the figures as Markdown."""
    rows = [
        f"| {name} | {row['s']:.2f} | {row['bytes_read']:,} | {row['texts_embedded']} |"
        for name, row in results["rows"].items()
    ]
    return "\n".join(
        [
            "# One more message in a long transcript",
            "",
            f"{results['date']}, `{results['command']}`: Python {results['python']},"
            f" SQLite {results['sqlite']}, {results['system']}, {results['cores']} cores,"
            f" load {results['load']} at the start.",
            "",
            f"A transcript of {results['bytes'] / 1e6:.1f} MB, {results['chunks']:,} chunks;"
            f" the first sync took {results['first_s']:.1f} s with vectors that cost no time."
            f" Each row is the median of {ROUNDS} syncs after one new message, in turns.",
            "",
            "| | s | bytes read | texts embedded: a chunk and its sentences |",
            "|---|---|---|---|",
            *rows,
        ]
    )


if __name__ == "__main__":
    main()

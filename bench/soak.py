"""Uses Memlines for long, often and much, and reports what grows and what is left behind.

Run `python -m bench.soak`, which takes more than two hours, or some `--parts` of it:

- `watch`: an hour of `memlines watch` while another process edits 2,000 notes and a third one searches.
- `faster`: twenty minutes of it with 500 notes and five times as many edits, which fill the cache.
- `starts`: every server is started a hundred times and killed or ended.
- `gigabyte`: 1 GB of notes is indexed by words, searched, and looked at again.

Each part has its own date in `results/soak.json`. `--short` does a little of watching and starts and keeps
nothing.
`--log FILE` gets a line for each look at the watcher, `--notes FOLDER` names the place of the gigabyte,
and `--kept` writes the page again. Linux only.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench.common import RESULTS, circumstances, verdict
from bench.soak_gigabyte import index_gigabyte
from bench.soak_starts import start_and_kill
from bench.soak_watch import FASTER, HOUR, SHORT, watch_and_edit

KEPT = RESULTS / "soak.json"
PARTS = ("watch", "faster", "starts", "gigabyte")
INDEX_TO_TEXT, SYNC_MB = 3, 300

_LABELS = {
    "rss_mb": "resident memory, MB",
    "anonymous_mb": "of it not backed by files, MB",
    "descriptors": "descriptors",
    "threads": "threads",
    "children": "children",
    "cpu_share": "share of one core",
    "temporaries": "temporary files",
    "index_mb": "index, MB",
    "cached": "vectors in its cache",
    "wal_mb": "its journal, MB",
    "text_mb": "text, MB",
    "notes": "notes",
}


def main() -> None:
    """Run the parts, each in a folder of its own, and keep the figures of each as soon as it ends."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS)
    options.add_argument("--short", action="store_true")
    options.add_argument("--log", type=Path)
    options.add_argument("--notes", type=Path)
    options.add_argument("--kept", action="store_true")
    arguments = options.parse_args()
    kept = json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else {}
    works: dict[str, Callable[[Path], dict[str, Any]]] = {
        "watch": lambda folder: watch_and_edit(folder, SHORT if arguments.short else HOUR, arguments.log),
        "faster": lambda folder: watch_and_edit(folder, FASTER, arguments.log),
        "starts": lambda folder: start_and_kill(folder, short=arguments.short),
        "gigabyte": lambda folder: index_gigabyte(arguments.notes or folder),
    }
    for name in () if arguments.kept else arguments.parts:
        around = circumstances()
        with tempfile.TemporaryDirectory(prefix="memlines-soak-") as folder:
            figures = works[name](Path(folder).resolve())
        if arguments.short:
            print(json.dumps(figures, indent=2))
            continue
        command = " ".join(["python -m bench.soak", *sys.argv[1:]])
        kept[name] = {"command": command, "circumstances": around, "figures": figures}
        KEPT.write_text(json.dumps(kept, indent=2) + "\n", encoding="utf-8", newline="\n")
    if not arguments.short:
        KEPT.with_suffix(".md").write_text(page(kept), encoding="utf-8", newline="\n")


def page(kept: dict[str, Any]) -> str:
    """Return the figures as Markdown."""
    writers = {"watch": _watch, "faster": _watch, "starts": _starts, "gigabyte": _gigabyte}
    lines = ["# Long, often, much", "", "What `python -m bench.soak` does is described in its source."]
    for name, write in writers.items():
        if name in kept:
            part, around = kept[name], kept[name]["circumstances"]
            told = (
                f"{around['date']}, `{part['command']}`: Python {around['python']},"
                f" SQLite {around['sqlite']}, {around['system']}, {around['cores']} cores,"
                f" load {around['load']} at the start."
            )
            title, *rest = write(part["figures"])
            lines += ["", f"## {title}", "", told, "", *rest]
    return "\n".join([*lines, ""])


def _watch(found: dict[str, Any]) -> list[str]:
    edits = ", ".join(f"{name} {count}" for name, count in found["edits"].items())
    times = found.get("times", 1)
    quarters = [each for each in ("first", "third", "last") if each in found["figures"]["rss_mb"]]
    return [
        "An hour of watching" if times == 1 else f"Watching while edits are {times:g} times as fast",
        f"`memlines watch` with the builtin model on {found['notes']:,} notes for {found['seconds'] / 60:.0f}"
        f" minutes, while another process made {sum(found['edits'].values()):,} edits ({edits}) and"
        f" {found['searches']} searches ran in processes of their own. {found['samples']} looks."
        " Of a quarter of the time it is the median; the slope is that of a line through the second half.",
        "",
        f"| | {' | '.join(f'{each} quarter' for each in quarters)} | highest | slope an hour |",
        "|---|" + "---|" * len(quarters) + "---|---|",
        *(
            f"| {label} | {' | '.join(f'{row[each]:.4g}' for each in (*quarters, 'highest'))}"
            f" | {row['slope_an_hour']:+.3g} |"
            for name, label in _LABELS.items()
            if (row := found["figures"].get(name))
        ),
        "",
        f"Afterwards the index equalled the files {found['caught_up_s']:.1f} seconds after the last edit:"
        f" {found['to_sync']} files or vectors were left to `memlines sync`, and `memlines doctor --deep`"
        f" found {'nothing wrong' if found['doctor']['healthy'] else found['doctor']['found']}."
        f" The index had {found['index_mb']:.1f} MB; one made at once from the same notes has"
        f" {found['fresh_index_mb']:.1f} MB. The watcher used {found['processor_s']:.0f} seconds of the"
        f" processor, the first index included, ended with {found['exit_code']} at Ctrl-C, and left"
        f" {found['left']['processes']} processes and {found['left']['temporaries']} temporary files."
        f" It reported {len(found['notices'])} troubles.",
        "",
        "The index grows until the cache of vectors is full: it keeps those of texts that were rewritten, in"
        " case they come back. After each round of embedding there are at most `cache.max_entries` of them"
        " (10,000 with about 4 kB each). Its journal is begun again from 16 MB on at a moment when no one"
        " reads, and is cut if it became longer than 64 MB meanwhile. Memory grows until it holds the terms"
        " of 50,000 words, and each thread the buffers of the largest texts that it embedded.",
    ]


def _starts(found: dict[str, Any]) -> list[str]:
    return [
        "A hundred starts and ends of every server",
        "Of four starts, two are asked for a word that a note got just before; half of all are killed, half"
        " ended cleanly, and half of both at some moment, which may be in the middle of the start. Files are"
        " all but notes and compiled modules; early is after five starts. First and last are medians of ten.",
        "",
        "| | starts | unanswered | processes left | temporary files | sockets | files early, at the end"
        " | descriptors first, last | threads | resident MB | exit codes |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
        *(
            f"| {name} | {row['starts']} | {row['unanswered']} of {row['asked']} | {row['processes_left']}"
            f" | {row['temporaries']} | {row['sockets']} | {row['files_early']}, {row['files_at_end']} | "
            + " | ".join(
                f"{row[each]['first']:.0f}, {row[each]['last']:.0f}"
                for each in ("descriptors", "threads", "rss_mb")
            )
            + f" | {', '.join(f'{code}: {count}' for code, count in row['exit_codes'].items())} |"
            for name, row in found.items()
        ),
        "",
        "A negative code is the signal; 1 is Python interrupted while it started. A socket"
        " is that of a killed engine: the next one replaces it.",
    ]


def _gigabyte(found: dict[str, Any]) -> list[str]:
    first, second, model = found["first_sync"], found["second_sync"], found["model"]
    searches = found["searches"]
    peak = max(each["peak_mb"] for each in searches)
    return [
        "A gigabyte of notes",
        f"{found['notes']:,} notes with {found['text_mb']:,.0f} MB of text, by words.",
        "",
        "| | s | s of the processor | peak MB |",
        "|---|---|---|---|",
        *(
            f"| {label} | {row['s']:.1f} | {row['processor_s']:.1f} | {row['peak_mb']:.0f} |"
            for label, row in (("first sync", first), ("second sync, nothing changed", second))
        ),
        *(
            f"| search {number} | {row['s']:.1f} | {row['processor_s']:.1f} | {row['peak_mb']:.0f} |"
            for number, row in enumerate(searches, 1)
        ),
        "",
        f"The index has {found['index_mb']:,.0f} MB, {found['index_to_text']:.2f} times the text (target ≤"
        f" {INDEX_TO_TEXT}: {verdict(found['index_to_text'], INDEX_TO_TEXT)}). The first sync peaks at"
        f" {first['peak_mb']:.0f} MB (target ≤ {SYNC_MB}: {verdict(first['peak_mb'], SYNC_MB)}), a search at"
        f" {peak:.0f} MB.",
        "",
        f"The builtin model reads {model['kb_a_processor_s']:.0f} kB a second of the processor, measured on"
        f" {model['sample_mb']:.2f} MB: all would take {model['whole_processor_h']:.1f} hours of a core.",
    ]


if __name__ == "__main__":
    main()

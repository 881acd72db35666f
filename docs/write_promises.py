"""Write the page of the documentation that lists the promises, the tests of each, and what they said last."""

from __future__ import annotations

import ast
import json
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "bench" / "results" / "promises.json"

PROMISES = {
    "P1": "An acknowledged note is on the disk, complete, whatever fails next: the process, the "
    "power, or the space on the disk.",
    "P2": "No text of a note is overwritten without a copy being kept, unless you asked to forget it. "
    "You can undo and redo what was written last, and an archive or a backup returns every "
    "byte.",
    "P3": "After a sync the index always matches the files. While a watch runs, it matches them "
    "within seconds after the last change.",
    "P4": "An index that is damaged, foreign, old or newer is noticed and rebuilt without being "
    "asked, and the notes stay untouched.",
    "P5": "Any number of processes can use a workspace at once. A writer that waits too long learns "
    "which process it waits for; readers never wait.",
    "P6": "A full disk, no network, a provider or a cluster that fails or hangs: you get an error or "
    "a warning that says what to do, nothing is lost, and search by words still works.",
    "P7": "Nothing outside the workspace and its extra paths is read or written, and no link is "
    "followed, even while another program swaps a folder for a link.",
    "P8": "Secrets in known forms are not stored, embedded, sent or shown.",
    "P9": "Retrieved text is data: it is quoted, cited, and cannot end its quote or pass for a turn "
    "or a tag.",
    "P10": "No page in a browser can reach what is served, and what notes contain runs no script and "
    "loads nothing.",
    "P11": "The settings, the index and the history of an unknown repository cannot widen anything or "
    "run anything.",
    "P12": "No process, thread, temporary file, cache or history grows without bound.",
    "P13": "Other users of the machine cannot read what is private: the index, history, trash, exports "
    "and tokens.",
    "P14": "What you forget is gone from notes, index, history and trash, and does not come back from "
    "earlier days, conversations, backups or a cluster.",
}

_PAGE = """\
# Promises and their tests

<!-- Written by `make docs` from docs/write_promises.py and the last results of `make promises`. -->

Each test that proves a promise is marked with it: `@pytest.mark.promise("P3")`.

```console
$ make promises                 # run them all with small numbers, and keep the results for this page
$ make faults                   # run the fault tests with their large numbers
$ make mutation                 # break the code in small ways, and count what the tests notice
```

What each fault test does, and what the promises do not cover, is on
[the page about reliability](reliability.md).

Last results: **{date}**, Python {python}, {system}. A test that is given many inputs counts as one under
"tests" and once per input under "passed". "Skipped" needs something that was missing: another system, a
program, a user that is not root. "Known" is a limit with a test that is expected to fail until it is fixed.

| | tests | passed | failed | skipped | known |
|---|---|---|---|---|---|
{totals}
{sections}"""

_COUNTS = ("tests", "passed", "failed", "skipped", "known")


def render_page() -> str:
    """Return the page as Markdown."""
    results = json.loads(RESULTS.read_text(encoding="utf-8"))
    of_promise = {name: results["promises"].get(name, {}) for name in PROMISES}
    return _PAGE.format(
        date=results["date"],
        python=results["python"],
        system=results["system"],
        totals="\n".join(
            f"| [{name}](#{name.lower()}) | {_cells(_sum(of_promise[name]))} |" for name in PROMISES
        ),
        sections="".join(_section(name, of_promise[name]) for name in PROMISES),
    )


def _section(name: str, files: dict[str, Any]) -> str:
    rows = "".join(
        f"| `{file}` | {_claim(file)} | {_cells(counts)} |\n" for file, counts in sorted(files.items())
    )
    return (
        f"\n## {name}\n\n{PROMISES[name]}\n\n"
        "| file | what it shows | tests | passed | failed | skipped | known |\n"
        f"|---|---|---|---|---|---|---|\n{rows}"
    )


def _claim(file: str) -> str:
    """Return the sentence that a file of tests begins with."""
    path = ROOT / file
    says = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) if path.is_file() else None
    return " ".join((says or "").partition("\n\n")[0].split()).replace("|", "\\|")


def _sum(files: dict[str, Any]) -> dict[str, int]:
    return {count: sum(counts.get(count, 0) for counts in files.values()) for count in _COUNTS}


def _cells(counts: dict[str, int]) -> str:
    return " | ".join(f"{counts.get(count, 0):,}" for count in _COUNTS)


def main(arguments: list[str]) -> None:
    """Write the page to the file that is named."""
    if len(arguments) != 1:
        sys.exit("usage: python docs/write_promises.py PATH")
    Path(arguments[0]).write_text(render_page(), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main(sys.argv[1:])

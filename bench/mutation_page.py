"""The page about a mutation run: how many faults the tests noticed, and each one that they did not."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

_EQUIVALENT = Path(__file__).parent / "mutation_equivalent.json"

_NOTICED = ("killed", "timeout")
_PAGE = """\
# What tests notice

{date}, `make mutation`: Python {python}, SQLite {sqlite}, {system}, {cores} cores.

A small fault is put into a module (another comparison, `and` for `or`, a condition turned around, another
number or text, nothing returned, a statement left out, arguments swapped or left out), and the tests that
execute its statement are run until one fails: those whose record takes 5 seconds together first, then those
of half a minute. {count} of {possible} possible faults were drawn with a fixed seed, by the size of each
part, and more of the small ones.

"Slow" is a run that had to be ended, which a person would notice too. "Equivalent" changes nothing that
anyone could notice: each was looked at and is listed with its reason. "Noticed" is of all that were drawn;
"of those that matter" leaves out the equivalent ones. What no test executes counts as not noticed.

{table}

Tests were written for many of the faults that were not noticed at first, and then these were tried again. No
test was written for the last {unseen} that were drawn; of these {fresh} were noticed, which is the better
guess for all that were not drawn.

The parts: `files` is `src/memlines/files`, `paths` is `paths.py` and `folders.py`, `locks` is `locks.py`,
`redaction` is `text/redaction`, `trust` is `settings/trusted_files.py` and `settings/loading.py`, `store`
is the modules of `index/store/sqlite` that write. Tests that wait for many processes or make thousands of
folders are left out, and so are those of `tests/faults`, which may notice more.

## Not noticed

| where | fault | before | after |
|---|---|---|---|
{survivors}

## Equivalent

| where | before | after | why |
|---|---|---|---|
{equivalent}
"""


def read_equivalent() -> dict[str, str]:
    """Return the mutants that change nothing one could notice, with the reason; each was looked at."""
    reasons: dict[str, str] = json.loads(_EQUIVALENT.read_text(encoding="utf-8"))
    return reasons


def render_page(
    judged: Sequence[Mapping[str, Any]], possible: Mapping[str, int], around: Mapping[str, Any]
) -> str:
    """Return the page as Markdown."""
    reasons = read_equivalent()
    unnoticed = [one for one in judged if one["verdict"] not in _NOTICED]
    real = [one for one in unnoticed if _name(one) not in reasons]
    same = [one for one in unnoticed if _name(one) in reasons]
    unseen = [one for one in judged if one["unseen"]]
    return _PAGE.format(
        **around,
        count=len(judged),
        unseen=len(unseen),
        fresh=_share(sum(one["verdict"] in _NOTICED for one in unseen), len(unseen)),
        possible=f"{sum(possible.values()):,}",
        table=_table(judged, possible, {_name(one) for one in same}),
        survivors="\n".join(
            f"| `{_place(one)}` | {one['operator']}{_untested(one)} | {_code(one['before'])} |"
            f" {_code(one['after'])} |"
            for one in sorted(real, key=_place)
        ),
        equivalent="\n".join(
            f"| `{_place(one)}` | {_code(one['before'])} | {_code(one['after'])} | {reasons[_name(one)]} |"
            for one in sorted(same, key=_place)
        ),
    )


def _table(judged: Sequence[Mapping[str, Any]], possible: Mapping[str, int], same: set[str]) -> str:
    rows = [
        "| part | possible | drawn | killed | slow | survived | equivalent | noticed"
        " | of those that matter |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for group in [*possible, "all"]:
        ones = [one for one in judged if group in (one["group"], "all")]
        verdicts = Counter(one["verdict"] for one in ones)
        noticed = sum(verdicts[verdict] for verdict in _NOTICED)
        equal = sum(_name(one) in same for one in ones)
        total = possible.get(group, sum(possible.values()))
        rows.append(
            f"| {group} | {total:,} | {len(ones)} | {verdicts['killed']} | {verdicts['timeout']}"
            f" | {len(ones) - noticed - equal} | {equal} | {_share(noticed, len(ones))}"
            f" | {_share(noticed, len(ones) - equal)} |"
        )
    return "\n".join(rows)


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.1%}" if whole else "-"


def _name(one: Mapping[str, Any]) -> str:
    return f"{one['file']}:{one['line']}:{one['number']}"


def _place(one: Mapping[str, Any]) -> str:
    return f"{one['file'].removeprefix('src/memlines/')}:{one['line']}"


def _untested(one: Mapping[str, Any]) -> str:
    return ", executed by no test" if one["verdict"] == "untested" else ""


def _code(text: str) -> str:
    return f"`` {text} ``".replace("|", "\\|")

"""Measure how large Memlines is on disk: without extras, with each of them, and for a search by words.

python -m bench.install

The wheel of this checkout is installed from the registry into empty environments. A size is that of the
folder of packages: as uv leaves it, and with the compiled modules that pip adds and that Python otherwise
makes at the first import. What several extras share counts in each of their rows.
"""

from __future__ import annotations

import csv
import os
import re
import sys
import tempfile
from collections.abc import Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

from bench.common import circumstances, keep
from bench.processes import bytes_of, run_command

ROOT = Path(__file__).resolve().parents[1]
WORDS = "by words only"
PLAIN = "memlines"
_NOT_FOR_USERS = {"dev", "docs", "examples"}
_SHOWN = 5
"""How many of the largest packages of an installation are named."""

_COMPILE = "import compileall, sys; compileall.compile_dir(sys.argv[1], quiet=2)"


def words_packages() -> list[str]:
    """Return the packages that docs/install.md names for a search by words."""
    text = (ROOT / "docs" / "install.md").read_text(encoding="utf-8")
    found = re.search(r"^\$ pip install (apsw .*)$", text, re.MULTILINE)
    assert found is not None
    return found[1].split()


def forms(wheel: Path) -> dict[str, list[list[str]]]:
    """Return what is installed for each row, as the arguments of one installation after the other."""
    (about,) = metadata.Distribution.discover(name="memlines", path=[str(wheel)])
    extras = sorted(set(about.metadata.get_all("Provides-Extra") or ()) - _NOT_FOR_USERS - {"all"})
    rows = {WORDS: [["--no-deps", str(wheel)], words_packages()], PLAIN: [[str(wheel)]]}
    return rows | {f"memlines[{extra}]": [[f"{wheel}[{extra}]"]] for extra in (*extras, "all")}


def package_sizes(packages: Path) -> dict[str, int]:
    """Return the bytes of each distribution in a folder, as its record lists them."""
    sizes = {}
    for record in packages.glob("*.dist-info/RECORD"):
        with record.open(encoding="utf-8", newline="") as lines:
            sizes[record.parent.name.split("-")[0]] = sum(int(row[2] or 0) for row in csv.reader(lines))
    return sizes


def measure(place: Path, steps: Sequence[Sequence[str]]) -> dict[str, Any]:
    """Install into a new environment, and return the sizes."""
    import uv

    program = uv.find_uv_bin()
    run_command([program, "venv", "--quiet", "--python", sys.executable, str(place)], os.environ)
    python = next(place.glob("*/python"))
    for step in steps:
        run_command([program, "pip", "install", "--quiet", "--python", str(python), *step], os.environ)
    packages = next(place.glob("[Ll]ib/**/site-packages"))
    sizes = package_sizes(packages)
    figures = {"packages": len(sizes), "megabytes": bytes_of(packages) / 1e6}
    run_command([str(python), "-c", _COMPILE, str(packages)], os.environ)
    largest = sorted(sizes, key=sizes.__getitem__, reverse=True)[:_SHOWN]
    compiled = {"compiled": bytes_of(packages) / 1e6}
    return figures | compiled | {"largest": {name: sizes[name] / 1e6 for name in largest}}


def page(command: str, found: Mapping[str, Mapping[str, Any]], around: Mapping[str, Any]) -> str:
    """Return the page with the figures."""
    rows = [
        f"| {name} | {row['packages']} | {row['megabytes']:.0f} | {row['compiled']:.0f} "
        f"| {row['megabytes'] - found[PLAIN]['megabytes']:+.0f} | "
        + ", ".join(f"{package} {size:.0f}" for package, size in row["largest"].items())
        + " |"
        for name, row in found.items()
    ]
    return "\n".join(
        [
            "# Install sizes",
            "",
            f"{around['date']}, `{command}`: Python {around['python']}, {around['system']}.",
            "",
            (__doc__ or "").split("\n\n")[2].replace("\n", " ").strip(),
            "",
            "| installation | packages | MB | MB, compiled | MB beside `memlines` | the largest, MB |",
            "|---|---|---|---|---|---|",
            *rows,
            "",
        ]
    )


def main() -> None:
    """Measure all installations, one after the other, and write the page."""
    if sys.argv[1:]:
        sys.exit(__doc__)
    around = circumstances()
    with tempfile.TemporaryDirectory() as temporary:
        base = Path(temporary)
        pip_wheel = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps"]
        run_command([*pip_wheel, "-w", str(base), str(ROOT)], os.environ)
        (wheel,) = base.glob("*.whl")
        found = {}
        for number, (name, steps) in enumerate(forms(wheel).items()):
            found[name] = measure(base / str(number), steps)
            print(name, found[name], file=sys.stderr)
    command = "python -m bench.install"
    keep("install", command, page(command, found, around), found, around)


if __name__ == "__main__":
    main()

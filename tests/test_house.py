"""The packages, their layers and their sizes are those that docs/architecture.md shows."""

from __future__ import annotations

import re
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import grimp
import pytest

from draw_house import draw

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "memlines"
PACKAGES = sorted(folder.name for folder in SOURCE.iterdir() if (folder / "__init__.py").is_file())
MOST_EDGES = 65


@pytest.fixture(scope="module")
def imports() -> dict[str, set[str]]:
    """Return what each module imports, at its top or later, but for the names that only types need."""
    graph = grimp.build_graph("memlines", exclude_type_checking_imports=True, cache_dir=None)
    return {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}


def room_of(module: str) -> str:
    """Return the package of a module; those beside the packages are the ground that all stand on."""
    name = module.split(".")[1] if "." in module else ""
    return name if name in PACKAGES else "ground"


def test_there_are_twelve_packages() -> None:
    assert len(PACKAGES) == 12


def test_few_packages_import_each_other(imports: dict[str, set[str]]) -> None:
    edges = {
        (room_of(module), room_of(imported))
        for module, found in imports.items()
        for imported in found
        if module not in ("memlines", "memlines.__main__") and room_of(module) != room_of(imported)
    }
    print(f"{len(edges)} edges between packages")  # noqa: T201 (shown with -s)
    assert len(edges) <= MOST_EDGES


def test_modules_do_not_import_each_other_in_circles(imports: dict[str, set[str]]) -> None:
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        pytest.fail(" imports ".join(reversed(error.args[1])))


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_says_what_lives_there_and_what_does_not(package: str) -> None:
    docstring = SOURCE.joinpath(package, "__init__.py").read_text(encoding="utf-8").split('"""')[1]
    assert len(re.findall(r"[.:](?:\s|$)", docstring)) >= 3


def test_the_picture_shows_the_contract() -> None:
    assert (ROOT / "docs" / "house.svg").read_text(encoding="utf-8") == draw(), "run 'make docs'"

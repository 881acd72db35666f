"""The Python API: what public methods take and return is exported from `memlines`, and is on its page."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

import pytest

import memlines
import write_api as page
from memlines.memory import opened
from tests.docs.pages import ROOT, text_of

CLASSES = {name: one.value for name, one in page.find_exports().items() if isinstance(one.value, type)}
API = text_of(ROOT / "docs/api.md")


def is_private(name: str, module: ModuleType) -> bool:
    """Return whether a name in an annotation is a type of ours that `memlines` does not export."""
    place, its_name = page.imported(module).get(name, (module.__name__, name))
    if not place.startswith("memlines") or (place == module.__name__ and not hasattr(module, name)):
        return False
    value = getattr(import_module(place), its_name, "only for types")
    return not isinstance(value, ModuleType) and getattr(memlines, name, None) is not value


@pytest.mark.parametrize("kind", CLASSES.values(), ids=CLASSES)
def test_every_type_of_ours_that_a_public_class_names_is_exported(kind: type) -> None:
    private = [
        f"{where}: {name}"
        for where, annotation, module in page.annotations_of(kind)
        for name in page.names_in(annotation)
        if is_private(name, module)
    ]
    assert private == []


@pytest.mark.parametrize(("name", "expected"), [("Manager", True), ("Report", False), ("str", False)])
def test_a_type_that_is_not_exported_is_noticed(name: str, expected: bool) -> None:
    assert is_private(name, opened) is expected


@pytest.mark.parametrize("name", page.find_exports())
def test_the_page_has_every_name_that_is_exported(name: str) -> None:
    assert f"\n## {name}\n" in API or f"\n### {name}\n" in API or f"\n| `{name}` |" in API


@pytest.mark.parametrize("kind", CLASSES.values(), ids=CLASSES)
def test_every_attribute_of_a_result_is_described(kind: type) -> None:
    assert [one.name for one in page.attributes_of(kind) if not one.meaning] == []


@pytest.mark.parametrize("kind", CLASSES.values(), ids=CLASSES)
def test_every_public_method_is_described(kind: type) -> None:
    assert [name for name, function, _ in page.functions_of(kind) if not function.__doc__] == []


def test_the_async_page_names_only_what_is_not_there() -> None:
    (line,) = (line for line in API.splitlines() if "(#memory), awaited." in line)
    named = {word.strip("`., ") for word in line.partition("only there:")[2].split()}
    assert named
    assert not named & set(dir(memlines.AsyncMemory))

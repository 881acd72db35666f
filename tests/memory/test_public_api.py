"""What `import memlines` offers."""

from __future__ import annotations

import importlib.metadata
import importlib.resources
import inspect
import subprocess
import sys

import pytest

import memlines
from memlines import errors
from write_api import describe


def test_the_public_names_are_sorted() -> None:
    assert memlines.__all__ == sorted(memlines.__all__)


def test_no_public_name_is_given_twice() -> None:
    assert len(memlines.__all__) == len(set(memlines.__all__))


@pytest.mark.parametrize("name", memlines.__all__)
def test_a_public_name_can_be_imported(name: str) -> None:
    assert getattr(memlines, name) is not None


@pytest.mark.parametrize("name", [name for name in memlines.__all__ if not name.startswith("_")])
def test_a_public_name_is_described(name: str) -> None:
    assert describe(name)


def test_dir_lists_the_late_names_too() -> None:
    told = run_python("import memlines; print(set(memlines.__all__) <= set(dir(memlines)))")
    assert told == "True"


def test_every_error_is_public() -> None:
    every = inspect.getmembers(errors, inspect.isclass)
    assert {name for name, kind in every if issubclass(kind, Exception)} <= set(memlines.__all__)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Memroy'"):
        memlines.Memroy  # noqa: B018


def test_a_star_import_works() -> None:
    assert (
        run_python("from memlines import *; print(Memory.__name__, AsyncMemory.__name__)")
        == "Memory AsyncMemory"
    )


def test_the_version_is_the_installed_one() -> None:
    assert memlines.__version__ == importlib.metadata.version("memlines")


def test_the_package_is_typed() -> None:
    assert importlib.resources.files("memlines").joinpath("py.typed").is_file()


def test_importing_it_imports_nothing_heavy() -> None:
    heavy = "{'numpy', 'apsw', 'yaml', 'sentencepiece', 'platformdirs', 'click', 'asyncio'}"
    assert run_python(f"import sys, memlines; print(sorted({heavy} & set(sys.modules)))") == "[]"


def run_python(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, check=True, encoding="utf-8", timeout=60
    )
    return done.stdout.strip()

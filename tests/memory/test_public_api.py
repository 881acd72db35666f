"""What `import recollect` offers."""

from __future__ import annotations

import importlib.metadata
import importlib.resources
import inspect
import subprocess
import sys

import pytest

import recollect
from recollect import errors


def test_the_public_names_are_sorted() -> None:
    assert recollect.__all__ == sorted(recollect.__all__)


def test_no_public_name_is_given_twice() -> None:
    assert len(recollect.__all__) == len(set(recollect.__all__))


@pytest.mark.parametrize("name", recollect.__all__)
def test_a_public_name_can_be_imported(name: str) -> None:
    assert getattr(recollect, name) is not None


@pytest.mark.parametrize("name", [name for name in recollect.__all__ if not name.startswith("_")])
def test_a_public_name_is_described(name: str) -> None:
    assert inspect.getdoc(getattr(recollect, name))


def test_dir_lists_the_late_names_too() -> None:
    told = run_python("import recollect; print(set(recollect.__all__) <= set(dir(recollect)))")
    assert told == "True"


def test_every_error_is_public() -> None:
    every = inspect.getmembers(errors, inspect.isclass)
    assert {name for name, kind in every if issubclass(kind, Exception)} <= set(recollect.__all__)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Memroy'"):
        recollect.Memroy  # noqa: B018


def test_a_star_import_works() -> None:
    assert (
        run_python("from recollect import *; print(Memory.__name__, AsyncMemory.__name__)")
        == "Memory AsyncMemory"
    )


def test_the_version_is_the_installed_one() -> None:
    assert recollect.__version__ == importlib.metadata.version("recollect")


def test_the_package_is_typed() -> None:
    assert importlib.resources.files("recollect").joinpath("py.typed").is_file()


def test_importing_it_imports_nothing_heavy() -> None:
    heavy = "{'numpy', 'apsw', 'yaml', 'sentencepiece', 'platformdirs', 'click', 'asyncio'}"
    assert run_python(f"import sys, recollect; print(sorted({heavy} & set(sys.modules)))") == "[]"


def run_python(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, check=True, encoding="utf-8", timeout=60
    )
    return done.stdout.strip()

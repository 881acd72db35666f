"""The error tree is the one that is drawn."""

from __future__ import annotations

import inspect
import re

import pytest

from memlines import errors
from memlines.errors import MemlinesError

DRAWN = re.compile(r"^(?P<lead>[ │├└─]*)(?P<name>[A-Z]\w+) +(?:exit (?P<exit>\d+))?")
STEP = 4
EVERY = [kind for _, kind in inspect.getmembers(errors, inspect.isclass) if issubclass(kind, MemlinesError)]


def drawn_tree() -> dict[str, tuple[str, int]]:
    """Return each drawn class with its parent and exit code, as the docstring shows them."""
    tree: dict[str, tuple[str, int]] = {}
    above: list[str] = []
    for line in (errors.__doc__ or "").splitlines():
        mark = DRAWN.match(line)
        if mark is None or not mark["lead"]:
            continue
        depth = len(mark["lead"]) // STEP - 1
        above = above[:depth]
        parent = above[-1] if above else "Exception"
        code = int(mark["exit"]) if mark["exit"] else tree[parent][1]
        tree[mark["name"]] = (parent, code)
        above.append(mark["name"])
    return tree


def test_the_drawn_tree_is_the_real_one() -> None:
    real = {kind.__name__: (kind.__bases__[0].__name__, kind.exit_code) for kind in EVERY}
    assert drawn_tree() == real


def test_every_error_has_a_code_of_its_own() -> None:
    assert len({kind.code for kind in EVERY}) == len(EVERY)


@pytest.mark.parametrize("kind", EVERY)
def test_a_code_is_plain(kind: type[MemlinesError]) -> None:
    assert re.fullmatch(r"[a-z]+(-[a-z]+)*", kind.code)


@pytest.mark.parametrize("kind", EVERY)
def test_an_exit_code_is_neither_success_nor_a_signal(kind: type[MemlinesError]) -> None:
    assert 1 <= kind.exit_code < 64


@pytest.mark.parametrize("kind", EVERY)
def test_an_error_is_described(kind: type[MemlinesError]) -> None:
    assert (kind.__doc__ or "").splitlines()[0].endswith(".")


def test_an_error_says_what_happened_and_what_to_do() -> None:
    assert str(MemlinesError("it broke", todo="Mend it")) == "it broke. Mend it"


def test_an_error_without_advice_is_one_sentence() -> None:
    assert str(MemlinesError("it broke")) == "it broke"


def test_an_error_as_json() -> None:
    told = errors.PathError("no such path", todo="Name another").to_json()
    assert told == {"code": "path", "error": "no such path", "todo": "Name another"}


@pytest.mark.parametrize(
    ("kind", "state"),
    [
        (errors.MemoryOff, "disabled"),
        (errors.StoreBusy, "unavailable"),
        (errors.QuotaExceeded, "unavailable"),
    ],
)
def test_an_error_as_json_says_that_the_memory_cannot_be_used(kind: type[MemlinesError], state: str) -> None:
    told = kind("it rests", todo="Wait").to_json()
    assert told == {"code": kind.code, "error": "it rests", "todo": "Wait", state: True, "action": "Wait"}


def test_no_two_branches_share_an_exit_code() -> None:
    own = [kind for kind in EVERY if "exit_code" in vars(kind)]
    assert len({kind.exit_code for kind in own}) == len(own)

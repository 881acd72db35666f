"""Data classes whose methods are made late do what those of the standard library do."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
from typing import ClassVar

import pytest

from memlines.records import dataclass


@dataclass(frozen=True, slots=True)
class Point:
    """A place."""

    kind: ClassVar[str] = "point"
    x: int
    y: int = 0
    tags: list[str] = dataclasses.field(default_factory=list, compare=False)
    secret: str = dataclasses.field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class Named(Point):
    """A place with a name."""

    name: str = ""


@dataclass(slots=True, kw_only=True)
class Counter:
    """Something that changes."""

    count: int = 0

    def __post_init__(self) -> None:
        self.count += 1


@dataclass(frozen=True)
class Open:
    """One without slots."""

    size: int = 3

    @property
    def double(self) -> int:
        """Twice the size."""
        return 2 * self.size


def test_places_names_and_defaults_make_the_same_object() -> None:
    assert Point(1, secret="s") == Point(x=1, y=0, secret="s")
    assert Named(1, 2, ["a"], "s", "n").name == "n"


def test_defaults_that_are_made_are_not_shared() -> None:
    assert Point(1).tags is not Point(1).tags


def test_a_wrong_argument_is_refused_by_name() -> None:
    with pytest.raises(TypeError, match=r"Point.__init__\(\) got an unexpected keyword argument 'z'"):
        Point(1, z=2)  # type: ignore[call-arg]


def test_a_field_by_name_only_is_refused_by_place() -> None:
    assert Counter(count=4).count == 5
    with pytest.raises(TypeError, match="positional"):
        Counter(4)  # type: ignore[call-arg]


def test_what_is_frozen_cannot_be_changed() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot assign to field 'x'"):
        Point(1).x = 2  # type: ignore[misc]
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot delete field 'x'"):
        del Point(1).x


def test_only_compared_fields_count_and_only_of_the_same_class() -> None:
    assert Point(1, 2, ["a"]) == Point(1, 2, ["b"])
    assert hash(Point(1, 2, ["a"])) == hash(Point(1, 2, ["b"]))
    assert Point(1) != Named(1)
    assert Point(1) != Point(2)


def test_what_can_change_has_no_hash() -> None:
    with pytest.raises(TypeError, match="unhashable"):
        hash(Counter())


def test_a_representation_leaves_out_what_is_secret() -> None:
    assert repr(Named(1, 2, secret="s", name="n")) == "Named(x=1, y=2, tags=[], name='n')"


def test_slots_leave_no_room_for_more() -> None:
    assert not hasattr(Point(1), "__dict__")
    assert Open().double == 6


def test_the_functions_of_the_standard_library_work() -> None:
    point = Named(1, 2, ["a"], "s", "n")
    assert dataclasses.is_dataclass(Point)
    assert [one.name for one in dataclasses.fields(Point)] == ["x", "y", "tags", "secret"]
    assert dataclasses.replace(point, x=7).x == 7
    assert dataclasses.asdict(point) == {"x": 1, "y": 2, "tags": ["a"], "secret": "s", "name": "n"}
    assert dataclasses.astuple(Point(1, 2)) == (1, 2, [], "")


def test_copies_and_pickles_are_equal() -> None:
    for point in (Point(1, 2), Named(1, name="n")):
        assert copy.copy(point) == copy.deepcopy(point) == pickle.loads(pickle.dumps(point)) == point


def test_patterns_match_by_place() -> None:
    match Point(1, 2):
        case Point(x, y):
            assert (x, y) == (1, 2)


def test_a_signature_is_known_before_the_first_use() -> None:
    @dataclass(frozen=True, slots=True)
    class Unused:
        """One that was never made."""

        x: int
        y: int = 0

    assert list(inspect.signature(Unused).parameters) == ["x", "y"]


def test_no_method_is_compiled_before_the_first_use() -> None:
    @dataclass(frozen=True, slots=True)
    class Unused:
        """One that was never made."""

        x: int

    assert not inspect.isfunction(vars(Unused)["__init__"])
    Unused(1)
    assert inspect.isfunction(vars(Unused)["__init__"])

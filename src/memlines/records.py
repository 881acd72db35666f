"""`dataclass` as in the standard library, for programs that must start quickly.

The standard decorator compiles six methods for every class, half a millisecond each time, and a command
imports some eighty classes of which it uses twenty. Here all classes share one `__eq__`, `__hash__` and
`__repr__`, and `__init__` is compiled when a class is first used. `fields`, `replace` and `asdict` of the
standard library work as they do with its own classes.
"""

from __future__ import annotations

from dataclasses import _FIELD, MISSING, Field, FrozenInstanceError, field  # type: ignore[attr-defined]
from operator import attrgetter
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from dataclasses import dataclass

__all__ = ["dataclass"]


class _Init:
    """The `__init__` of a class that has not been used yet."""

    def __init__(self, fields: dict[str, Field[Any]], *, frozen: bool) -> None:
        self._fields = fields
        self._frozen = frozen

    def __set_name__(self, owner: type, name: str) -> None:
        self._owner = owner

    def __get__(self, instance: object, owner: type) -> Any:
        made = self._compile()
        self._owner.__init__ = made  # type: ignore[misc]
        return made if instance is None else made.__get__(instance, owner)

    def _compile(self) -> Any:
        known: dict[str, Any] = {"MISSING": MISSING, "set_field": object.__setattr__}
        by_place: list[str] = []
        by_name: list[str] = []
        body = []
        for name, one in self._fields.items():
            parameter, value = name, name
            if one.default is not MISSING:
                known[f"default_{name}"] = one.default
                parameter = f"{name}=default_{name}"
            elif one.default_factory is not MISSING:
                known[f"make_{name}"] = one.default_factory
                parameter, value = f"{name}=MISSING", f"make_{name}() if {name} is MISSING else {name}"
            (by_name if one.kw_only else by_place).append(parameter)
            body.append(f"set_field(self, {name!r}, {value})" if self._frozen else f"self.{name} = {value}")
        if hasattr(self._owner, "__post_init__"):
            body.append("self.__post_init__()")
        parameters = ", ".join(["self", *by_place, *(["*", *by_name] if by_name else ())])
        exec(f"def __init__({parameters}):\n " + "\n ".join(body or ["pass"]), known)
        made = known["__init__"]
        made.__qualname__ = f"{self._owner.__qualname__}.__init__"
        return made


def _refuse_set(self: object, name: str, value: object) -> None:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_delete(self: object, name: str) -> None:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _repr(self: Any) -> str:
    shown = [f"{name}={getattr(self, name)!r}" for name, one in self.__dataclass_fields__.items() if one.repr]
    return f"{type(self).__qualname__}({', '.join(shown)})"


def _eq(self: Any, other: Any) -> bool:
    return self._compared(self) == self._compared(other) if type(self) is type(other) else NotImplemented


def _hash(self: Any) -> int:
    return hash(self._compared(self))


def _get_state(self: Any) -> list[Any]:
    return [getattr(self, name) for name in self.__dataclass_fields__]


def _set_state(self: Any, state: list[Any]) -> None:
    for name, value in zip(self.__dataclass_fields__, state, strict=True):
        object.__setattr__(self, name, value)


def _make(cls: type, *, frozen: bool, slots: bool, repr: bool, eq: bool, kw_only: bool) -> type:  # noqa: A002
    fields: dict[str, Field[Any]] = {}
    for base in cls.__mro__[:0:-1]:
        fields |= base.__dict__.get("__dataclass_fields__", {})
    inherited = {*fields}
    space = {name: one for name, one in cls.__dict__.items() if name not in ("__dict__", "__weakref__")}
    for name, kind in cls.__annotations__.items():
        if isinstance(kind, str) and kind.startswith("ClassVar"):
            continue
        given = space.pop(name, MISSING)
        one: Any = given if isinstance(given, Field) else field(default=given)
        one.name, one.type, one._field_type = name, kind, _FIELD
        one.kw_only = kw_only
        fields[name] = one
        if not slots and one.default is not MISSING:
            space[name] = one.default
    if slots:
        space["__slots__"] = tuple(name for name in fields if name not in inherited)
        space |= {"__getstate__": _get_state, "__setstate__": _set_state} if frozen else {}
    if frozen:
        space |= {"__setattr__": _refuse_set, "__delattr__": _refuse_delete}
    if eq and "__eq__" not in space:
        space |= {"__eq__": _eq, "__hash__": _hash if frozen else None}
        compared = [name for name, one in fields.items() if one.compare]
        space["_compared"] = attrgetter(*compared) if compared else type
    if repr:
        space.setdefault("__repr__", _repr)
    space |= {
        "__init__": _Init(fields, frozen=frozen),
        "__match_args__": tuple(fields),
        "__dataclass_fields__": fields,
        "__dataclass_params__": SimpleNamespace(frozen=frozen, eq=eq, repr=repr, order=False, init=True),
        "__qualname__": cls.__qualname__,
    }
    return type(cls)(cls.__name__, cls.__bases__, space)


if not TYPE_CHECKING:

    def dataclass(
        *,
        frozen: bool = False,
        slots: bool = False,
        repr: bool = True,  # noqa: A002 (as in the standard library)
        eq: bool = True,
        kw_only: bool = False,
    ) -> Callable[[type], type]:
        """Return a decorator that makes a data class; see `dataclasses.dataclass`."""
        return lambda cls: _make(cls, frozen=frozen, slots=slots, repr=repr, eq=eq, kw_only=kw_only)

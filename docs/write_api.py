"""Write the page of the documentation about the Python API: what `memlines` exports, from its docstrings.

python docs/write_api.py docs/api.md
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, NamedTuple, get_args

import memlines

_PAGE = """\
# Python API

<!-- Written by `make docs` from src/memlines/; change it there. -->

```python
from memlines import Memory

with Memory("~/notes") as memory:
    memory.remember("We chose Postgres 17 for billing.", topic="decisions")
    for hit in memory.search("which database did billing pick?"):
        print(hit.citation, hit.band, hit.snippet)
```

Everything on this page is imported from `memlines`, and `import memlines` loads nothing else until you use
it. All of it is typed. Methods raise subclasses of `MemlinesError`, which [Errors](errors.md#all-errors)
lists.

| class | where it is | what it is |
|---|---|---|
{classes}
{sections}
## Results

What the methods return, by name. Most are frozen data classes. `to_json` returns what the command line
prints with `--json`.
{results}
## Names of values

| name | is | meaning |
|---|---|---|
{aliases}"""

DOORS = {
    "Memory": "memory",
    "AsyncMemory": "memory",
    "Facts": "memory.facts",
    "AsyncFacts": "memory.facts",
    "Tidy": "memory.tidy",
}
"""The classes that have calls to make, and what the page calls an object of each."""

COMMON = {
    "path": "The note, relative to the workspace.",
    "start_line": "The first line, counted from 1.",
    "end_line": "The last line.",
    "first": "The first line, counted from 1.",
    "last": "The last line.",
    "text": "The words.",
    "time": "When that was.",
    "source": "Whether it comes from notes or from conversations.",
    "heading": "The headings above it.",
    "scope": "Whose memory it is in.",
    "diff": "What changed, as a unified diff.",
    "warnings": "What you should know, in sentences.",
    "provider": "What makes the vectors.",
    "model": "The model that makes them.",
    "pending": "How many chunks have no vector yet.",
    "chunks": "How many chunks there are.",
    "skipped": "Files that are left out on purpose, and why.",
    "failed": "Files that could not be read, and why.",
    "forgotten": "The passages that were forgotten since, and stay out.",
    "changes": "What changed in the notes.",
    "citation": "Where it is, as `path#L3` or `path#L3-L9`.",
    "fact": "The fact.",
    "id": "Its id.",
    "todo": "What to do about it.",
    "reason": "Why; empty if there is nothing to say.",
    "command": "The command that did it, as far as that is known.",
}
"""What attributes mean that have no text of their own, because they mean the same in many classes."""

_WIDTH = 96


class Export(NamedTuple):
    """A name that `memlines` exports: the module that defines it, and what it is."""

    name: str
    module: ModuleType
    value: Any


class Attribute(NamedTuple):
    """A field or property of a result."""

    name: str
    type: str
    meaning: str


@cache
def tree_of(module: ModuleType) -> ast.Module:
    """Return the source of a module as a tree."""
    return ast.parse(Path(str(module.__file__)).read_text(encoding="utf-8"))


def described(body: list[ast.stmt]) -> dict[str, str]:
    """Return the names that are defined in a module or class, each with the text below its definition."""
    found = {}
    for node, below in zip(body, [*body[1:], ast.Pass()], strict=True):
        target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
        if isinstance(target, ast.Name):
            text = below.value if isinstance(below, ast.Expr) else None
            is_text = isinstance(text, ast.Constant) and isinstance(text.value, str)
            found[target.id] = inspect.cleandoc(str(text.value)) if is_text else ""  # type: ignore[union-attr]
    return found


def imported(module: ModuleType) -> dict[str, tuple[str, str]]:
    """Return the names that a module imports, for its types too, each with its module and name there."""
    return {
        alias.asname or alias.name: (node.module or "", alias.name)
        for top in tree_of(module).body
        for node in (top.body if isinstance(top, ast.If) else [top])
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


@cache
def find_exports() -> dict[str, Export]:
    """Return what `memlines` exports besides errors, by name."""
    places = imported(memlines)
    found = {}
    for name in memlines.__all__:
        value = getattr(memlines, name)
        if (
            name in places
            and name != "__version__"
            and not (isinstance(value, type) and issubclass(value, Exception))
        ):
            found[name] = Export(name, import_module(places[name][0]), value)
    return found


def describe(name: str) -> str:
    """Return the docstring of an exported name; that of an alias is the text below it."""
    export = find_exports().get(name)
    if export is None or isinstance(export.value, type):
        return inspect.getdoc(getattr(memlines, name)) or ""
    return described(tree_of(export.module).body)[name]


def bases_of(kind: type) -> list[type]:
    """Return a class and those of ours that it extends."""
    return [base for base in kind.__mro__ if base.__module__.startswith("memlines")]


def functions_of(kind: type) -> Iterator[tuple[str, FunctionType, bool]]:
    """Yield the public methods and properties of a class, and which they are."""
    for base in bases_of(kind):
        for name, member in vars(base).items():
            is_property = isinstance(member, property)
            function = member.fget if is_property else getattr(member, "__func__", member)
            if not name.startswith("_") and isinstance(function, FunctionType):
                yield name, function, is_property


def _class_node(kind: type) -> ast.ClassDef:
    """Return the definition of a class in the source of its module."""
    nodes = tree_of(sys.modules[kind.__module__]).body
    return next(one for one in nodes if isinstance(one, ast.ClassDef) and one.name == kind.__name__)


def attributes_of(kind: type) -> Iterator[Attribute]:
    """Yield the fields of a class, then its properties."""
    for base in bases_of(kind):
        meanings = described(_class_node(base).body)
        for name, type_ in vars(base).get("__annotations__", {}).items():
            if not name.startswith("_"):
                yield Attribute(name, type_, meanings[name] or COMMON.get(name, ""))
    for name, function, is_property in functions_of(kind):
        if is_property:
            returned = str(inspect.unwrap(function).__annotations__["return"])
            yield Attribute(name, returned, inspect.getdoc(function) or "")


def annotations_of(kind: type) -> Iterator[tuple[str, str, ModuleType]]:
    """Yield every annotation that a user of a class meets: where it is, what it says, and its module."""
    for base in bases_of(kind):
        for name, type_ in vars(base).get("__annotations__", {}).items():
            if not name.startswith("_"):
                yield f"{kind.__name__}.{name}", type_, sys.modules[base.__module__]
    for name, function, _ in functions_of(kind):
        own = inspect.unwrap(function)
        for parameter, type_ in own.__annotations__.items():
            yield f"{kind.__name__}.{name} ({parameter})", str(type_), sys.modules[own.__module__]


def names_in(annotation: str) -> set[str]:
    """Return the names in an annotation."""
    return {node.id for node in ast.walk(ast.parse(annotation)) if isinstance(node, ast.Name)}


def render_page() -> str:
    """Return the whole page as Markdown."""
    exports = find_exports()
    kinds = {name: one.value for name, one in exports.items() if isinstance(one.value, type)}
    aliases = [one for one in exports.values() if not isinstance(one.value, type)]
    return _PAGE.format(
        classes="".join(map(_door_row, DOORS.items())),
        sections="\n".join(_door(kinds[name], called) for name, called in DOORS.items()),
        results="".join(_result(kind) for name, kind in kinds.items() if name not in DOORS),
        aliases="".join(
            f"| `{one.name}` | {_alias(one)} | {_cell(describe(one.name))} |\n" for one in aliases
        ),
    )


def _door_row(door: tuple[str, str]) -> str:
    """Return the line of a class with calls."""
    name, called = door
    where = f"`{called}`" if "." in called else ""
    return f"| [`{name}`](#{name.lower()}) | {where} | {_first(describe(name))} |\n"


def _door(kind: type, called: str) -> str:
    """Return the section of a class with calls; one that waits has those of the class that it wraps."""
    text = f"## {kind.__name__}\n\n{inspect.getdoc(kind)}\n"
    if called == "memory":
        make = inspect.getattr_static(kind, "__init__")
        text += f"\n```python\n{_signature(make)}\n```\n\n{inspect.getdoc(make)}\n"
    if not kind.__name__.startswith("Async"):
        return text + "".join(_call(kind, *one, called) for one in functions_of(kind))
    wrapped = kind.__name__.removeprefix("Async")
    missing = [
        f"`{name}`" for name, _, _ in functions_of(find_exports()[wrapped].value) if name not in _names(kind)
    ]
    return (
        f"{text}\nEvery method is that of [`{wrapped}`](#{wrapped.lower()}), awaited."
        f" These are only there: {', '.join(missing)}.\n"
    )


def _names(kind: type) -> set[str]:
    """Return the names that an object of a class has, those that it is given when it is made as well."""
    assigned = (node for node in ast.walk(_class_node(kind)) if isinstance(node, ast.Attribute))
    return {*dir(kind)} | {node.attr for node in assigned if isinstance(node.ctx, ast.Store)}


def _call(kind: type, name: str, function: FunctionType, is_property: bool, called: str) -> str:
    """Return what the page says of one method or property."""
    returned = str(inspect.unwrap(function).__annotations__.get("return", "None"))
    shown = f"{name}: {returned}" if is_property else _signature(function)
    links = [f"[`{one}`](#{one.lower()})" for one in _shown_types(returned) if one != kind.__name__]
    returns = f"\nReturns: {', '.join(links)}\n" if links else ""
    return f"\n### {called}.{name}\n\n```python\n{shown}\n```\n\n{inspect.getdoc(function)}\n{returns}"


def _signature(function: FunctionType) -> str:
    """Write a method with its parameters, on one line or one below the other."""
    signature = inspect.signature(function)
    parts = []
    for one in list(signature.parameters.values())[1:]:
        if one.kind is one.KEYWORD_ONLY and "*" not in parts:
            parts.append("*")
        default = getattr(one.default, "__name__", None) or repr(one.default)
        parts.append(f"{one.name}: {one.annotation}" + ("" if one.default is one.empty else f" = {default}"))
    begin, end = f"def {function.__name__}(", f") -> {signature.return_annotation}: ..."
    line = begin + ", ".join(parts) + end
    shown = line if len(line) <= _WIDTH else "\n".join([begin, *(f"    {one}," for one in parts), end])
    return shown.replace("'", '"')


def _result(kind: type) -> str:
    """Return the section of a class that has values."""
    rows = [*attributes_of(kind)]
    for name, function, is_property in functions_of(kind):
        if not is_property:
            signature = inspect.signature(function)
            call = f"{name}({', '.join([*signature.parameters][1:])})"
            rows.append(Attribute(call, str(signature.return_annotation), inspect.getdoc(function) or ""))
    table = "".join(f"| `{one.name}` | {_linked(one.type)} | {_cell(one.meaning)} |\n" for one in rows)
    head = "| it has | type | meaning |\n|---|---|---|\n"
    return f"\n### {kind.__name__}\n\n{inspect.getdoc(kind)}\n\n{head}{table}"


def _shown_types(annotation: str) -> list[str]:
    """Return the classes of this page in an annotation, in their order."""
    exports = find_exports()
    words = re.findall(r"\w+", annotation)
    return [
        word for word in dict.fromkeys(words) if word in exports and isinstance(exports[word].value, type)
    ]


def _linked(annotation: str) -> str:
    """Write a type as code, as a link to the first class of this page in it."""
    code = f"`{annotation}`".replace("|", "\\|")
    return next((f"[{code}](#{one.lower()})" for one in _shown_types(annotation)), code)


def _alias(export: Export) -> str:
    """Write what an alias stands for."""
    values = [value for value in get_args(export.value) if isinstance(value, str)]
    return ", ".join(f"`{value!r}`" for value in values) or f"`{export.value}`".replace(
        "collections.abc.", ""
    )


def _first(text: str) -> str:
    """Return the first sentence of a docstring."""
    return " ".join(text.split("\n\n")[0].split())


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def main(arguments: list[str]) -> None:
    """Write the page to the file that is named."""
    if len(arguments) != 1:
        sys.exit("usage: python docs/write_api.py PATH")
    Path(arguments[0]).write_text(render_page(), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main(sys.argv[1:])

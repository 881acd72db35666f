"""The small faults that a mutation run puts into a module, one at a time, and how each is written down.

A mutant is one change at one place of the syntax tree: another comparison, `and` for `or`, a condition turned
around, another number or text, another value returned, a statement that is missing, two arguments swapped,
a named argument left out. Left alone are annotations, docstrings, texts of errors (what an error says is
checked where it matters), f-strings, and branches that this system never takes.
"""

from __future__ import annotations

import ast
import copy
import sys
from collections.abc import Callable, Iterator
from typing import NamedTuple, cast

_OPPOSITE: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
_OTHER_OPERATOR: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.BitOr: ast.BitAnd,
    ast.BitAnd: ast.BitOr,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}
_LONGEST_SHOWN = 100


class Mutant(NamedTuple):
    """One change of a module."""

    file: str
    number: int
    """Its place in the order in which `all_mutants` finds them."""
    line: int
    last_line: int
    operator: str
    before: str
    after: str

    @property
    def name(self) -> str:
        """What the results call it."""
        return f"{self.file}:{self.line}:{self.number}"


class _Change(NamedTuple):
    node: ast.AST
    operator: str
    make: Callable[[], ast.AST]
    put: Callable[[ast.AST], None]


def all_mutants(file: str, source: str) -> list[Mutant]:
    """Return every change that can be made to a module."""
    found = []
    for number, change in enumerate(_changes(ast.parse(source))):
        node = cast("ast.expr | ast.stmt", change.node)
        after = _shown(change.make())
        last = node.end_lineno or node.lineno
        found.append(Mutant(file, number, node.lineno, last, change.operator, _shown(node), after))
    return found


def mutated(source: str, number: int) -> str:
    """Return the source with one change made."""
    tree = ast.parse(source)
    change = next(change for at, change in enumerate(_changes(tree)) if at == number)
    change.put(ast.copy_location(change.make(), change.node))
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n"


def _shown(node: ast.AST) -> str:
    text = " ".join(ast.unparse(node).split())
    return text if len(text) <= _LONGEST_SHOWN else text[: _LONGEST_SHOWN - 1] + "…"


def _changes(tree: ast.Module) -> Iterator[_Change]:
    """Yield the changes in a stable order: from the top of the tree downwards."""
    pending: list[ast.AST] = [tree]
    while pending:
        parent = pending.pop()
        for field, value in ast.iter_fields(parent):
            if _left_alone(parent, field):
                continue
            for index, node in enumerate(value if isinstance(value, list) else [value]):
                if not isinstance(node, ast.AST) or _skipped(node):
                    continue
                put = _setter(parent, field, index if isinstance(value, list) else None)
                for operator, make in _of_node(node, parent, field):
                    yield _Change(node, operator, make, put)
                pending.append(node)


def _setter(parent: ast.AST, field: str, index: int | None) -> Callable[[ast.AST], None]:
    def put(node: ast.AST) -> None:
        if index is None:
            setattr(parent, field, node)
        else:
            getattr(parent, field)[index] = node

    return put


def _left_alone(parent: ast.AST, field: str) -> bool:
    return field in {"annotation", "returns", "decorator_list", "bases", "ctx", "ops", "op"} or (
        isinstance(parent, ast.Raise) and field in {"exc", "cause"}
    )


def _skipped(node: ast.AST) -> bool:
    """Say whether nothing below a node is changed."""
    match node:
        case ast.JoinedStr() | ast.Import() | ast.ImportFrom():
            return True
        case ast.Expr(value=ast.Constant()):  # a docstring
            return True
        case ast.If(test=test):
            text = ast.unparse(test)
            return "TYPE_CHECKING" in text or _elsewhere(text)
        case ast.Assign(targets=[ast.Name(id="__all__")]) | ast.AnnAssign(value=None):
            return True
        case ast.Assign(value=ast.Subscript()):  # an alias of types, or a slice
            return isinstance(node.value, ast.Subscript) and isinstance(node.value.slice, ast.Tuple)
        case ast.Call(func=ast.Name(id=name)) if name.endswith("Error") or name in {"cast", "TypeVar"}:
            return True
    return False


def _elsewhere(test: str) -> bool:
    windows = "'win32'" in test or "os.name" in test
    return windows and sys.platform != "win32"


def _of_node(node: ast.AST, parent: ast.AST, field: str) -> Iterator[tuple[str, Callable[[], ast.AST]]]:
    """Yield what else could stand where a node stands."""
    match node:
        case ast.Compare(ops=[operator]) if type(operator) in _OPPOSITE:
            yield "comparison", lambda: _with(node, ops=[_OPPOSITE[type(operator)]()])
        case ast.BoolOp(op=op):
            other = ast.Or() if isinstance(op, ast.And) else ast.And()
            yield "and/or", lambda: _with(node, op=other)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield "not", lambda: operand
        case ast.BinOp(op=op) if type(op) in _OTHER_OPERATOR:
            yield "arithmetic", lambda: _with(node, op=_OTHER_OPERATOR[type(op)]())
        case ast.Constant(value=value):
            yield from _of_constant(value)
        case ast.Return(value=value) if value is not None and not _is_constant(value):
            yield "return", lambda: ast.Return(ast.Constant(None))
        case ast.Call():
            yield from _of_call(node)
        case ast.stmt():
            yield from _of_statement(node)
    if field == "test" and isinstance(node, (ast.Name, ast.Attribute, ast.Call, ast.NamedExpr)):
        yield "condition", lambda: ast.UnaryOp(ast.Not(), cast("ast.expr", node))


def _of_constant(value: object) -> Iterator[tuple[str, Callable[[], ast.AST]]]:
    if isinstance(value, bool):
        yield "constant", lambda: ast.Constant(not value)
    elif isinstance(value, (int, float)):
        yield "constant", lambda: ast.Constant(value + 1)
    elif isinstance(value, str):
        yield "text", lambda: ast.Constant(value + "X" if value else "X")
    elif isinstance(value, bytes):
        yield "text", lambda: ast.Constant(value + b"X")


def _of_call(call: ast.Call) -> Iterator[tuple[str, Callable[[], ast.AST]]]:
    if len(call.args) >= 2 and not any(isinstance(argument, ast.Starred) for argument in call.args[:2]):
        yield "arguments", lambda: _with(call, args=[call.args[1], call.args[0], *call.args[2:]])
    for position, keyword in enumerate(call.keywords):
        if keyword.arg is not None:
            kept = call.keywords[:position] + call.keywords[position + 1 :]
            yield "argument", lambda kept=kept: _with(call, keywords=kept)  # type: ignore[misc]


def _of_statement(node: ast.stmt) -> Iterator[tuple[str, Callable[[], ast.AST]]]:
    match node:
        case ast.Expr(value=ast.Call() | ast.Yield() | ast.YieldFrom()) | ast.AugAssign() | ast.Delete():
            yield "statement", ast.Pass
        case ast.Raise() | ast.Assert():
            yield "statement", ast.Pass
        case ast.Break():
            yield "loop", ast.Continue
        case ast.Continue():
            yield "loop", ast.Break


def _with(node: ast.AST, **changed: object) -> ast.AST:
    made = copy.copy(node)
    for name, value in changed.items():
        setattr(made, name, value)
    return made


def _is_constant(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant)

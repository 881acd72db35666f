"""Write the page of the documentation about errors: what each means, what it says, and what to do.

python docs/write_errors.py docs/errors.md

The messages are those in the code, with … where a name or a number is filled in.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path

from memlines import errors
from memlines.cli.main import INTERRUPTED
from memlines.errors import MemlinesError

SOURCE = Path(errors.__file__).parent

_PAGE = """\
# Errors

<!-- Written by `make docs` from src/memlines/; change it there. -->

An error says what happened, to what, and what to do:

```console
$ memlines config set query.max_result 10
Error: unknown setting 'query.max_result' from the command line. The nearest known one is 'query.max_results';
'memlines config show' lists them all
$ echo $?
3
```

`--json` prints it as `{{"code", "error", "todo"}}`. Python raises the class, a subclass of `MemlinesError`
with `what`, `todo`, `code` and `exit_code`. The [engine's protocol](protocol.md#errors) answers with the same
`code`, and adds `disabled` if memory is switched off, `unavailable` if the index or the provider cannot be
used now.

## All errors

An empty cell means the exit code above it.

| exit | `code` | in Python | what happened |
|---|---|---|---|
| 0 | | | The command succeeded. So did a search that finds nothing. |
{rows}| {interrupted} | | | You pressed Ctrl-C. Progress is saved. |

Exit code 1 without an error means that something failed or was not found, and the output names it:
[Commands](commands.md) says when.

Below, … is filled in: a name, a number, or what the system said.

{sections}"""


def every_error(kind: type[MemlinesError] = MemlinesError) -> Iterator[type[MemlinesError]]:
    """Yield the errors of the tree, each before its own kinds."""
    yield kind
    for below in kind.__subclasses__():
        if below.__module__ == MemlinesError.__module__:
            yield from every_error(below)


@cache
def find_messages() -> dict[str, dict[str, str]]:
    """Return what each error says and what it says to do, as far as the texts are in the code."""
    found: dict[str, dict[str, str]] = {kind.__name__: {} for kind in every_error()}
    sources = (file.read_text(encoding="utf-8") for file in sorted(SOURCE.rglob("*.py")))
    for tree in (ast.parse(source) for source in sources if "todo=" in source):
        shared = _assigned(tree.body)
        functions = [one for one in ast.walk(tree) if isinstance(one, ast.FunctionDef)]
        for part, texts in [*((one, shared | _assigned(ast.walk(one))) for one in functions), (tree, shared)]:
            for name, message, todo in _raised(part, texts):
                if name in found and todo and re.search(r"[a-z]{3}", message):
                    found[name].setdefault(message, todo)
                elif name in found and todo:
                    found[name].setdefault("…", todo)
    for messages in found.values():
        if len(messages) > 1:
            messages.pop("…", None)
    return found


def _assigned(nodes: Iterable[ast.AST]) -> dict[str, ast.expr]:
    """Return what is assigned to names."""
    pairs = ((node.targets[0], node.value) for node in nodes if isinstance(node, ast.Assign))
    return {target.id: value for target, value in pairs if isinstance(target, ast.Name)}


def _raised(tree: ast.AST, texts: Mapping[str, ast.expr]) -> Iterator[tuple[str, str, str]]:
    """Yield every call that may make an error: what it calls, the first argument and `todo`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.args:
            todo = next((_text_of(one.value, texts) for one in node.keywords if one.arg == "todo"), "")
            yield node.func.id, _text_of(node.args[0], texts), todo


def _text_of(node: ast.expr, texts: Mapping[str, ast.expr]) -> str:
    """Return a text in the code, with … for what is filled in; nothing if it is made elsewhere."""
    if isinstance(node, ast.Name):
        node = texts.get(node.id, node)
    if isinstance(node, ast.JoinedStr):
        return "".join(_text_of(part, {}) or "…" for part in node.values)
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def render_page() -> str:
    """Return the whole page as Markdown."""
    rows, above = "", -1
    for kind in every_error():
        code = "" if kind.exit_code == above else str(kind.exit_code)
        above = kind.exit_code
        rows += f"| {code} | {_link(kind)} | `{kind.__name__}` | {_first_line(kind)} |\n"
    sections = map(_section, filter(lambda kind: find_messages()[kind.__name__], every_error()))
    return _PAGE.format(rows=rows, interrupted=INTERRUPTED, sections="\n".join(sections))


def _first_line(kind: type[MemlinesError]) -> str:
    return (kind.__doc__ or "").splitlines()[0]


def _link(kind: type[MemlinesError]) -> str:
    return f"[`{kind.code}`](#{kind.code})" if find_messages()[kind.__name__] else f"`{kind.code}`"


def _section(kind: type[MemlinesError]) -> str:
    """Return what the page says about one error."""
    messages = sorted(find_messages()[kind.__name__].items(), key=lambda one: one[0].strip("…'\" ").lower())
    rows = "".join(f"| {_cell(message)} | {_cell(todo)} |\n" for message, todo in messages)
    return f"## {kind.code}\n\n{_first_line(kind)}\n\n| it says | what to do |\n|---|---|\n{rows}"


def _cell(text: str) -> str:
    """Write a text into a table, calls of the program as code and everything else as it is."""
    pieces = re.split(r"'((?:memlines|pip) [^']*)'", " ".join(text.split()))
    plain = [re.sub(r"([\\|*_<`\[\]])", r"\\\1", piece) for piece in pieces[::2]]
    code = [f"`{piece}`".replace("|", "\\|") for piece in pieces[1::2]]
    return "".join(part for pair in zip(plain, [*code, ""], strict=True) for part in pair)


def main(arguments: list[str]) -> None:
    """Write the page to the file that is named."""
    if len(arguments) != 1:
        sys.exit("usage: python docs/write_errors.py PATH")
    Path(arguments[0]).write_text(render_page(), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main(sys.argv[1:])

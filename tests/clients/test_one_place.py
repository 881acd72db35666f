"""What is about a client is in its own files: adding one touches those, and a line in each registry."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import get_args

from memlines.clients.catalogue import CLIENTS
from memlines.settings.tree import Client
from memlines.transcripts import catalogue

SOURCE = Path(__file__).parents[2] / "src" / "memlines"
MODULES = {name.replace("-", "_") for name in CLIENTS}

REGISTRIES = {"clients/catalogue.py", "transcripts/catalogue.py", "settings/tree.py"}
REASONS = {
    "cli/config.py": "`config path` names the settings file of the project's OpenCode in a field of its own",
}
"""Files whose code may name a client all the same, and why."""


def names_a_client(file: Path) -> bool:
    """Tell whether code knows a client by its name or its module; prose may speak of any."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Constant) and node.value in list(CLIENTS):
            return True
        if isinstance(node, ast.ImportFrom) and MODULES & {alias.name for alias in node.names}:
            return True
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[-1] in MODULES:
            return True
    return False


def files_that_name_clients() -> set[str]:
    own = {SOURCE / room / f"{module}.py" for room in ("clients", "transcripts") for module in MODULES}
    found = {path for path in SOURCE.rglob("*.py") if path not in own and names_a_client(path)}
    return {path.relative_to(SOURCE).as_posix() for path in found}


def test_a_client_is_named_in_its_own_files_and_the_registries_only() -> None:
    assert files_that_name_clients() - REGISTRIES - set(REASONS) == set()


def test_every_exception_is_still_needed() -> None:
    assert set(REASONS) - files_that_name_clients() == set()


def test_every_client_has_its_files() -> None:
    for name in CLIENTS:
        assert (SOURCE.parents[1] / "integrations" / name).is_dir()
        assert (SOURCE / "transcripts" / f"{name.replace('-', '_')}.py").is_file()


def test_the_registries_agree() -> None:
    assert set(CLIENTS) < set(catalogue.CLIENTS)
    assert set(catalogue.CLIENTS) == set(get_args(Client))

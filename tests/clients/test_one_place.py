"""What is about a client is in its own files: adding one touches those, and one line."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import get_args

from memlines.clients.client import load_clients
from memlines.settings.tree import Sessions
from memlines.transcripts import catalogue
from memlines.types import ClientName

SOURCE = Path(__file__).parents[2] / "src" / "memlines"
CLIENTS = load_clients()
MODULES = {name.replace("-", "_") for name in CLIENTS}

REGISTRY = {"types.py"}
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


def test_a_client_is_named_in_its_own_files_and_the_registry_only() -> None:
    assert files_that_name_clients() - REGISTRY - set(REASONS) == set()


def test_every_exception_is_still_needed() -> None:
    assert set(REASONS) - files_that_name_clients() == set()


def test_every_client_has_its_files() -> None:
    for name in CLIENTS:
        assert (SOURCE.parents[1] / "integrations" / name).is_dir()
        assert (SOURCE / "transcripts" / f"{name.replace('-', '_')}.py").is_file()


def test_a_client_is_found_under_the_name_that_it_has_itself() -> None:
    for clients in (CLIENTS, catalogue.CLIENTS):
        assert [clients[name].name for name in clients] == list(clients)


def test_a_client_without_a_file_is_left_out() -> None:
    assert set(get_args(ClientName)) - set(CLIENTS) == {"openclaw"}
    assert list(catalogue.CLIENTS) == list(get_args(ClientName))


def test_settings_take_the_names_of_the_registry() -> None:
    assert Sessions.__annotations__["clients"] == tuple[ClientName, ...]

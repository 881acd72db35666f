"""What the tests of pages share: the interpreter that answers their commands."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pytest

from tests.docs.shell import warm_interpreter


@pytest.fixture(scope="session")
def warm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mapping[str, str]]:
    """The variables that lead a shell to the interpreter, and to the model it has unpacked."""
    with warm_interpreter(tmp_path_factory.mktemp("cache")) as variables:
        yield variables

"""How much the fault tests do: a little with all other tests, far more behind `make faults`."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from contextlib import contextmanager

FULL = os.environ.get("FAULTS") == "full"


def scaled(small: int, full: int) -> int:
    """Return how often to do something."""
    return full if FULL else small


@contextmanager
def facts_on_failure(**facts: object) -> Iterator[None]:
    """Say with a failure what is needed to see it again."""
    try:
        yield
    except BaseException as error:
        error.add_note(", ".join(f"{name} {value!r}" for name, value in facts.items()))
        raise


def chance_of(seed: int, *turn: object) -> random.Random:
    """Return the chance of one turn, which does not depend on the turns before it."""
    return random.Random(":".join(map(str, (seed, *turn))))

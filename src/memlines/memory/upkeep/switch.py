"""Whether a memory may be used at all."""

from __future__ import annotations

from memlines.errors import MemoryOff
from memlines.settings import Loaded, switched_off


def refuse_if_off(loaded: Loaded) -> None:
    """Raise if the memory is switched off, saying where that was done."""
    off = switched_off(loaded)
    if off:
        raise MemoryOff(off, todo="Switch it on with 'memlines config on', or where it was set")

"""Do work in a thread that no program waits for when it ends, because the work may hang."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import Future

_Result = TypeVar("_Result")


def begun(work: Callable[[], _Result], name: str) -> Future[_Result]:
    """Begin something in such a thread; the future returns its result or raises its error."""
    from concurrent.futures import Future

    told: Future[_Result] = Future()

    def run() -> None:
        try:
            told.set_result(work())
        except BaseException as error:  # noqa: BLE001 (the caller gets it with the result)
            told.set_exception(error)

    threading.Thread(target=run, name=name, daemon=True).start()
    return told

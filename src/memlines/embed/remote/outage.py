"""Remember that a service cannot be reached, so that not everybody waits for it to time out."""

from __future__ import annotations

import time

from memlines.errors import ProviderUnreachable

_SECONDS = 30.0


class Outage:
    """A time in which questions need not be asked; safe in several threads, because it only ever guesses."""

    def __init__(self) -> None:
        self._until = 0.0
        self._error = ProviderUnreachable("the service could not be reached")

    def begin(self, error: ProviderUnreachable) -> None:
        """Note that the service could not be reached."""
        self._error = error
        self._until = time.monotonic() + _SECONDS

    def end(self) -> None:
        """Note that it answers."""
        self._until = 0.0

    def check(self) -> None:
        """Raise the last error again if it is so fresh that another attempt would most likely fail too."""
        if time.monotonic() < self._until:
            raise ProviderUnreachable(
                f"{self._error.what} (a moment ago; it is asked again within {_SECONDS:g} seconds)",
                todo=self._error.todo,
            )

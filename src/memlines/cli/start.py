"""Where the program starts: almost nothing is imported before Ctrl-C is handled."""

import atexit
import gc
import os
import sys

_FEW_COLLECTIONS = 20_000
"""Objects that are made before those without a use are looked for; importing makes many, and all are used."""


def main() -> None:
    """Run the command line; Ctrl-C during its import leaves no traceback."""
    gc.set_threshold(_FEW_COLLECTIONS)
    code = 1

    def leave() -> None:
        """End the process at once: to free every object first takes longer than some commands."""
        try:
            sys.stdout.flush()
            sys.stderr.flush()
        except (OSError, ValueError, AttributeError):  # Python says what is wrong with them
            return
        os._exit(code)

    atexit.register(leave)  # before any other, so that it is called after all of them
    try:
        from memlines.cli.main import main as run

        code = run()
    except KeyboardInterrupt:
        sys.stderr.write("Interrupted.\n")
        code = 130
    sys.exit(code)

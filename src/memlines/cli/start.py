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
    if not os.path.isabs(os.environ.get("HOME", os.sep)):  # noqa: PTH117 (pathlib takes time to import)
        del os.environ["HOME"]  # empty or relative; the system knows the user's own
    if sys.getfilesystemencoding() != "utf-8" and sys.executable and not sys.flags.utf8_mode:
        # A locale of another encoding: names of notes would be other names than in the index.
        os.execv(sys.executable, [sys.executable, "-X", "utf8", *sys.orig_argv[1:]])
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

"""Where the program starts: almost nothing is imported before Ctrl-C is handled."""

import sys


def main() -> None:
    """Run the command line; Ctrl-C during its import leaves no traceback."""
    try:
        from memlines.cli.main import main as run

        run()
    except KeyboardInterrupt:
        sys.stderr.write("Interrupted.\n")
        sys.exit(130)

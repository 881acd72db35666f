"""Where the command begins: nearly nothing is imported before Ctrl-C is looked after."""

import sys


def main() -> None:
    """Run the command line; Ctrl-C while it is still being imported leaves no traceback."""
    try:
        from memlines.cli.main import main as run

        run()
    except KeyboardInterrupt:
        sys.stderr.write("Interrupted.\n")
        sys.exit(130)

"""Serve the memory in the folder that the user chose, over standard input and output."""

import sys

from memlines.cli.start import main

sys.argv[1:] = ["mcp"]
main()

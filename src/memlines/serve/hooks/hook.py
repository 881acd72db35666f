"""Where the command of a hook begins. Python keeps no compiled form of this file, but one of `thin`."""

import sys

sys.path.append(__file__.rpartition("/")[0])
__import__("thin").run(sys.argv[1:])  # by its own name: with the package's, that would be imported as well

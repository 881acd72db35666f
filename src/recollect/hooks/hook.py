"""Where the command of a hook began by the first name; it runs without the packages that are installed."""

import sys

sys.path.append(__file__.replace("\\", "/").rpartition("/recollect/")[0] + "/memlines/serve/hooks")
__import__("thin").run(sys.argv[1:])

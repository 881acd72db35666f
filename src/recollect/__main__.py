"""`python -m recollect` is `python -m memlines`."""

from memlines.cli.start import main

if __name__ == "__main__":
    main()

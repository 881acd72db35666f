"""`python -m memlines` is the same as `memlines`: for clients that know an interpreter and no path."""

from memlines.cli.start import main

if __name__ == "__main__":
    main()

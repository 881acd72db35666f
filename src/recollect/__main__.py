"""`python -m recollect` is the same as `recollect`: for clients that know an interpreter and no path."""

from recollect.cli.start import main

if __name__ == "__main__":
    main()

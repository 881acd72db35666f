"""A release: every version at once, what is built and what is checked. `python -m release --help`."""

"""The first name of Memlines: only what clients that were set up by it still start."""

"""Where chunks, words and vectors live."""

"""Long-term facts: kept as lines of a note, found through a table of vectors and the main index."""

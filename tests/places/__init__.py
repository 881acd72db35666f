"""The command line in odd surroundings: it starts, or refuses with one sentence, and nothing is lost."""

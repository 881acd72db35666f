"""The word classes of each language, which the rules are about."""

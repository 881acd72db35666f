"""The words of each language that tell what of a message is worth keeping."""

"""File-first memory for AI agents."""

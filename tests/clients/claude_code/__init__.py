"""Memlines in the real Claude Code, against a scripted model."""

"""Formats of other programs, turned into plain values: one parser a host."""

"""Transcripts of other programs, turned into plain values: one parser a host, and where each keeps them."""

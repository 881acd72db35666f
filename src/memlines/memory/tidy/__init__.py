"""Propose how to tidy the notes, and apply what a person chose: duplicates, contradictions, what is stale.

Proposing reads the notes and the repository around them, and writes one private file. Only `apply.py` changes
notes. Wording by a chat model is not here: `agent/tidy.py`.
"""

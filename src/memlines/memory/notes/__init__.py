"""Remembering and recalling: what a person or an agent says becomes entries of notes, and comes back."""

"""Measure how well search finds what it should.

`sets` reads labelled questions and holds the formulas, `run` asks them of copies of their workspaces or of an
open memory. `questions` makes questions from a user's notes; `mine` keeps them and compares settings on them.
No labelled set is here: each is in a folder of its own.
"""

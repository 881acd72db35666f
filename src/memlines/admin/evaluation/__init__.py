"""Measure how well search finds what it should.

`sets` reads labelled questions, `run` asks them of copies of their workspaces, `metrics` holds the formulas.
The questions themselves are not here: they come with a set, in a folder of their own.
"""

"""The memory as it was: what notes held on an earlier day, search in that, and how a note changed.

`timeline` knows what a note held at which moments, `notes` chooses what it held at the end of a day, `search`
answers from an index of that, and `log` compares one moment with the next. Nothing here changes a note.
"""

"""Notes as people and agents use them: remember, recall, forget, undo, and earlier versions.

A text becomes an entry of a note; duplicates are told by words, without a model. Opening and writing files is
in `files`, finding by meaning in `index`.
"""

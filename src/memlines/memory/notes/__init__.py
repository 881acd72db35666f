"""Notes as people and agents use them: remember, recall, forget, undo, and earlier versions.

A text becomes an entry of a note; duplicates are found by words, without a model. Reading and writing files
is in `files`, searching in `index`.
"""

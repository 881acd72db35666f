"""Where chunks, words and vectors are kept: one package for each kind of store.

A store keeps and finds; it reads no notes and asks no provider. SQLite is the one there is.
"""

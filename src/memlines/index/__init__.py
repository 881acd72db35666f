"""Chunks, words and vectors in a store, and the two ways through it: files to index, query to hits.

`store` keeps them, `sync` makes them equal to the files, `search` answers a query. When to sync and who asks
is decided above, in `memory`.
"""

"""Bring the index up to date with the files: find them, write their words, then their vectors.

`run` is one sync, from `discovery` and `words` to `vectors`, `pending` and `batches`; `plan` shows what it
would do, and a `Job` says what to bring up to date and how. When to sync is decided by `memory`.
"""

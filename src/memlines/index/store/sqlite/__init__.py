"""The index in one SQLite file: `index.Index` is its face, opened for reading or by the one writer.

The other modules are its tables and files: chunks, vectors, spaces, the cache, and what becomes of damaged or
foreign files. Nothing outside this package opens a database. Notes are never read or written here.
"""

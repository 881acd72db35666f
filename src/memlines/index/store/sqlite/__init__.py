"""The index on one machine: SQLite with FTS5 and exact vector search."""

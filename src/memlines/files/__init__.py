"""Bytes on disk: finding, reading, locking, and writing whole files or none."""

"""Copies of the notes: archives of one file, and backups to a folder or a bucket.

What comes back from either is merged: nothing that is in the workspace is ever overwritten.
"""

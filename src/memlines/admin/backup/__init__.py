"""Copies of the notes: archives of one file, and backups to a folder or a bucket.

`gather` says what a copy holds, `archive` and `snapshots` write and read the two kinds of copies, `places` is
where backups are kept, and `merge` brings files back. Nothing in a workspace is ever overwritten, nothing
outside of it is written, and what was forgotten since a copy was made does not come back with it.
"""

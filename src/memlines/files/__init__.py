"""Every file of the user that is opened: finding, reading, and writing whole files or none.

Notes, their history and trash, the list of writes and what was forgotten live here, behind descriptors that
follow no link. What is in a note is decided in `text`; SQLite files are opened in `index`.
"""

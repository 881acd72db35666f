"""Conversations: list them, read one, import others from files of any client.

What is shown or written has lost its secrets and what was forgotten. Parsing the files of a client is in
`transcripts`, indexing them in `index.sync`.
"""

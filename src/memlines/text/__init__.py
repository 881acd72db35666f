"""Pure functions on text: chunks, entries, terms, dates, quotes, secrets, and the words of each language.

Nothing here opens a file of the user or reads a setting. The words of a language are data, in
`languages/`; `redaction` removes secrets.
"""

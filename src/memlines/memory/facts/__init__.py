"""Long-term facts: lines of a note that are stored, recalled, changed and forgotten.

`facts.py` is what callers use, `note.py` reads and writes the note, `recall.py` and `near.py` find facts by a
query or a text, and `table.py` keeps a copy in LanceDB where there are very many. The format of a line is in
`text/facts.py`; what captures facts from a conversation is in `agent/capture`.
"""

"""Capture long-term facts from what a user writes.

    find_facts(text)        → what of a message is worth keeping, by rules and fitted weights
    capture(memory, messages, session=…) at the end of a turn: read once, stored as facts

`filters.py` refuses what no one says, `reading.py` looks for word classes in a sentence,
`find.py` refuses and keeps what is plain and weighs the sentences that are left open, and `turn.py` stores
what is left, or asks a model instead. The word classes of each language are in `text/languages/`.
"""

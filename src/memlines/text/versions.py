"""The versions of the rules by which texts become an index.

Each is part of the index's identity: who changes a rule raises its number, which makes a rebuild. They are
here because every sync compares them with the index, and mostly needs nothing else of these modules.
"""

CHUNKER_VERSION = 4
"""The rules for chunks (`chunk.py`), for front matter (`outline.py`), for facts (`facts.py`, `fact_note.py`),
and for transcripts (`turns.py` and the parsers)."""

SENTENCES_VERSION = 1
"""The rules for the sentences of a chunk (`chunk.py`)."""

DAYS_VERSION = 1
"""The rules for the days of entries (`days.py`)."""

TERMS_VERSION = 2
"""The rules for terms (`terms.py`) and languages."""

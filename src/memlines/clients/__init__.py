"""Set Memlines up in the clients of agents, and take it out again without a trace.

A client is one file here, which says what belongs into its folders, and a folder `integrations/<name>/` with
the files that are copied. `plan` and `apply` do the same for all of them; nothing here knows the engine.

Adding a client touches:

- its name in `ClientName` of `types.py`; in the names of files, `_` is in the place of `-`;
- `clients/<name>.py` and `integrations/<name>/`, if Memlines can be set up in it;
- `transcripts/<name>.py`, if its transcripts are read.

A client whose hooks are not of the form that Claude Code and Codex share also needs its own way to read them
in `serve/hooks/events.py`.
"""

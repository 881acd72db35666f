"""Set Memlines up in the clients of agents, and take it out again without a trace.

A client is one file here, which says what belongs into its folders, and a folder `integrations/<name>/` with
the files that are copied. `plan` and `apply` do the same for all of them; nothing here knows the engine.

Adding a client touches:

- `clients/<name>.py`, and its line in `clients/catalogue.py`;
- `integrations/<name>/`;
- `transcripts/<name>.py`, its line in `transcripts/catalogue.py`, and its name in `Client` of
  `settings/tree.py`, if its transcripts are read.

A client whose hooks are not of the form that Claude Code and Codex share also needs its own way to read them
in `serve/hooks/events.py`.
"""

"""The hooks of Claude Code and Codex: a thin command per event, and one engine per workspace.

`hook.py` and `thin.py` run without the package, because a client waits for them; they ask the `daemon`, which
handles `events` with the methods of the RPC engine. `memlines.clients` installs hooks into a client.
"""

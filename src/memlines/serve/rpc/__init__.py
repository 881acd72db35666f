"""The engine that client programs keep open: `docs/protocol.md` is its contract."""

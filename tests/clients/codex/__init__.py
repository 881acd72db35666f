"""The real Codex, with Memlines installed into it."""

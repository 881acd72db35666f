"""The real Codex, with Recollect installed into it."""

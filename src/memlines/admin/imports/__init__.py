"""Bring in what other programs remember: OpenClaw, mem0, ChatGPT, basic-memory, Markdown vaults."""

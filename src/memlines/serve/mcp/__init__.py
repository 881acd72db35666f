"""The memory for any client of the Model Context Protocol, over lines or HTTP: `docs/mcp.md` describes it."""

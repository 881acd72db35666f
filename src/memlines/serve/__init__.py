"""One set of tools and one wire format, spoken over JSON-RPC, MCP, HTTP and the hooks of clients.

A protocol parses a request, calls `Memory` or `agent`, and writes the answer. It decides nothing.
"""

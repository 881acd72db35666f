"""The engine that client programs keep open, over JSON-RPC on lines: `docs/protocol.md` is its contract.

`server` answers requests in time, `engine` has the methods, `workplace` the open memory, and `command` is
what `/memory` does. What the tools do is in `serve.tools`.
"""

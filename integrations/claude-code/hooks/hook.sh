#!/bin/sh
# Answer an event of the client with Memlines: the program on the path, or else the one that uvx has fetched.
#
#     sh hook.sh CLIENT EVENT < the client's JSON
#
# A hook never waits for the network, because the server in .mcp.json lets uvx fetch the program. Without a program,
# it prints nothing, except at the start of a session: then one sentence says why there is no memory.

if command -v memlines >/dev/null 2>&1; then
  exec memlines hook "$@"
elif ! command -v uvx >/dev/null 2>&1; then
  why="Memlines is not installed, so there is no memory. Install it with 'uv tool install memlines' or 'pipx install memlines'."
elif uvx --offline --quiet memlines@0.2.0 hook "$@" 2>/dev/null; then
  exit 0
else
  why="Memlines is still being fetched by uvx, so there is no memory yet. The next session has it."
fi
[ "$2" != SessionStart ] || printf '{"systemMessage": "%s"}\n' "$why"

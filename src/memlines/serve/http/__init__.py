"""One server over HTTP for programs (MCP) and for the page: who is heard, and limits for all of them."""

"""From a query to cited lines: parse, ask words and vectors, fuse, rank, choose, quote.

`run.search` is the way in; it reads an open index for a parsed `Query` and returns hits. When the index is
synced, who embeds the query and what is shown to whom is decided above, in `memory`.
"""

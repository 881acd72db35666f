"""What an agent's client calls around a conversation: at its start, at its turns, and at its compaction.

Each is a plain function of a `Memory`: `bootstrap`, `auto_recall`, `capture`, `flush`, `snapshot`, and
`intent`, which recognises what a message wants of the memory. How clients send these events is in `serve`,
and how a client is set up for them is in `clients`.
"""

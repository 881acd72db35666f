"""What an agent's client calls at the turning points of a session: its start, its turns, its compaction."""

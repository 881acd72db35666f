"""Set Memlines up in the clients of agents, and take it out again without a trace."""

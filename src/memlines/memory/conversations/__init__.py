"""Conversations: what there is of them, what was said in one, and bringing others in."""

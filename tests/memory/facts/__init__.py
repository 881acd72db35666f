"""Long-term facts: their note, their table, and what is recalled of them."""

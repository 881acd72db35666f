"""Check everything that can be wrong with a memory, and repair what is derived; notes are never touched."""

"""Speed and quality runners; each prints a table and can write JSON."""

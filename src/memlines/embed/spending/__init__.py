"""What embedding texts with a paid service costs: prices, what was spent, and the limits on it.

A `Budget` is the meter that a provider reserves tokens with before it sends anything. The ledger is one file
for all of a person's workspaces.
"""

"""What embedding texts with a paid service costs: prices, what was spent, and the limits on it."""

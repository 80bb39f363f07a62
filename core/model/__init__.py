"""Values that every part shares: references, actions, plans, and the intervals that say who holds a file. Pure."""

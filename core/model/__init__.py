"""Values shared by all parts: references, actions, plans, and the intervals that record who holds a file. Pure."""

"""Users' SQL: what it may contain, what it filters by, and running it within limits."""

"""The only access to files: stores, and immutable files that were decoded once."""

"""The only package that accesses files: stores, limits on time and size, and a cache of immutable files."""

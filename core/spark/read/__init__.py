"""Rows of a version as Spark frames, a package for each format."""

"""Rows of a version as Spark frames; one package per format."""

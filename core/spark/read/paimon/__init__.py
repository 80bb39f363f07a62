"""Rows of a Paimon snapshot or tag as Spark frames."""

"""Rows of an Iceberg snapshot as Spark frames."""

"""Merging rows of primary-key tables by the table's merge engine. Pure."""

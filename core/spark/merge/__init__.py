"""Rows of primary-key tables merged by the table's merge engine. Pure."""

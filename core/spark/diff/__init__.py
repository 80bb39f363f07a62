"""Rows that differ between two versions."""

"""Answers to pass on: JSON values and self-contained HTML files."""

"""Answers to hand on: JSON values and self-contained HTML files."""

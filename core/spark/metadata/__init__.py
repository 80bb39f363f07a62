"""Histories built and asked by Spark."""

"""Rows, facts and sentences that pages draw, made from the core's values. Pure."""

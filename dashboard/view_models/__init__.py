"""Rows, facts and sentences for the pages, made from core's values. Pure."""

"""Answers about a table's history: differences, cost, lifetimes, health. They read and never write."""

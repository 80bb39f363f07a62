"""Answers about a table's history: differences, cost, file lifetimes, health. They read and never write."""

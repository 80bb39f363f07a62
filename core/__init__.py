"""Snapscope's metadata core: reads table history, answers questions about it, plans and applies changes."""

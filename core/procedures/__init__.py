"""The engines' procedures (CALL): parsed, planned as actions, and printed."""

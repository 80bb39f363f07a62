"""Runs plans under a journal, and resumes or undoes runs. The only code that deletes table files."""

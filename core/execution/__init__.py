"""Carries plans out under a journal, and resumes or undoes them. The only code that deletes table files."""

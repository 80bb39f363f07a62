"""Plans on pages: shown, confirmed, run and followed."""

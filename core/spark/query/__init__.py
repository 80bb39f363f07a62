"""SQL over a table at any of its versions."""

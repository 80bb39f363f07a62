"""Charts as the JSON a browser draws. Pure."""

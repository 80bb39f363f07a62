"""Numbers, times, names and HTML as text. Pure."""

"""Charts, built as the JSON that the browser renders. Pure."""

"""Table formats. Each package reads its own files into the shared model; no format imports another."""

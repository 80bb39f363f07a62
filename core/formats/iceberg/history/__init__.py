"""Who holds which files: what references, lists and manifests say, as one history or in parts."""

"""Apache Iceberg: metadata.json, manifest lists, manifests. Files are found by what the metadata names, never by name."""

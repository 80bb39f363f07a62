"""Apache Iceberg: metadata.json, manifest lists, manifests. Files are found by following references, not by listing."""

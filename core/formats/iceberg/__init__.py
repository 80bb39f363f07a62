"""Apache Iceberg: metadata.json, manifest lists, manifests. A file is found by what names it."""

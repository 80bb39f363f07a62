"""What an Iceberg commit writes: metadata documents, manifests."""

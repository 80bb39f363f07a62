"""What an Iceberg commit writes: metadata documents and manifests."""

"""What a Paimon commit writes: documents, manifests and snapshots."""

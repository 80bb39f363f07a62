"""What a Paimon commit writes: documents, manifests, snapshots."""

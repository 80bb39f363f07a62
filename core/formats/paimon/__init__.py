"""Apache Paimon: layout, references, manifests, history and commits."""

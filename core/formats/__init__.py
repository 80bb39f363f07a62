"""The table formats: Paimon, Iceberg, and the file encodings both use."""

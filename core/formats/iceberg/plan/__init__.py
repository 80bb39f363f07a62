"""Plans of changes to an Iceberg table's refs and snapshots."""

"""Plans of changes of an Iceberg table's refs and snapshots."""

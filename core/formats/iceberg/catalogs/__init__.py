"""Catalogs, which state the current metadata of an Iceberg table and accept its commits."""

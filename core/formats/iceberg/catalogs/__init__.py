"""Catalogs that say which metadata of an Iceberg table is current, and take its commits."""

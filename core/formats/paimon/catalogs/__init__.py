"""Catalogs that list Paimon tables: a database over JDBC, and a REST server."""

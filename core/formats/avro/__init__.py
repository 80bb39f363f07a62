"""Avro container files: splitting them into blocks, and decoding them into Arrow columns."""

"""Avro container files: taken apart, and decoded into Arrow columns."""

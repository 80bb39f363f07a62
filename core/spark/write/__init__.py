"""Writing Paimon tables with Spark: append, upsert, compact, analyze, stream."""

"""Everything that runs on Spark: the session, reading resolved files, checked SQL, the writer of the demo."""

"""Everything that runs on Spark: the session, reading files of a version, checked SQL, writing."""

"""HDFS by its own protocol and over HTTP: Hadoop's settings, fail-over, and writing by renaming."""

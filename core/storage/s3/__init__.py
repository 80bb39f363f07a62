"""S3 and stores that speak its protocol, faster than s3fs alone."""

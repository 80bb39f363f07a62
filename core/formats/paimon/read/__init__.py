"""Parts of reading references and manifests: hints, listings that lag, what one listing tells, the order of holders."""

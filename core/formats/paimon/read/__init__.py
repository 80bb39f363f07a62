"""Parts of reading references and manifests: hints, stale listings, named metadata files, the order of holders."""

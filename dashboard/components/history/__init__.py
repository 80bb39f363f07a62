"""Components that show a table's history: timeline, snapshots, files, row differences."""

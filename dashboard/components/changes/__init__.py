"""Components that show, confirm, run and follow plans."""

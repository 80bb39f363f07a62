"""Plans of changes to Paimon tables: expiry, tags, branches, rollbacks, consumers, orphans and commits."""

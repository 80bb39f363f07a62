"""Plans of changes that only Paimon tables have: branches, rollbacks, consumers, commits."""

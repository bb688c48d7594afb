"""From words to the reply's clauses."""

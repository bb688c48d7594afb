"""From clauses to audible sound."""

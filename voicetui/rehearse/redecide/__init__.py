"""A recorded session decided again by today's rules, without models. Pure."""

"""Pure folds over the journal: everything shown or reported."""

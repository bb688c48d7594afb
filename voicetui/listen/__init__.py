"""From sound to words: facts only."""

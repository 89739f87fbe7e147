"""Training of a language model: the trainer on TRL, and the adapter for verl."""

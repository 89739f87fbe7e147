"""Right or wrong: the verifier, its worker processes, and rewards of one's own."""

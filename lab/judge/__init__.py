"""Right or wrong: the verifier, its worker processes, and an independent checker to hold it
against.
"""

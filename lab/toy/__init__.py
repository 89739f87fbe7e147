"""Small worlds in which the truth is known.

They yield records, and know neither run folders nor figures.
"""

"""The two papers: what they print, what is reproduced here, and their mistakes."""

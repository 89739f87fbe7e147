"""The two papers: what they print, what of it is regenerated here, and their own mistakes. Floor 3."""

"""Small worlds where the truth is known. Floor 2: they yield records and know no folder and no
figure.
"""

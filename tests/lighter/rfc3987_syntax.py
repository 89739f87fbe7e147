"""Stands before the package of this name in the path of the tests' processes (tests/conftest.py).

jsonschema imports it, if it is there, for the formats of web addresses, which nothing here checks.
It builds a grammar for 2.8 seconds in every process of Jupyter, papermill and Ray.
"""

raise ImportError("left out of the tests: it takes seconds in every process")

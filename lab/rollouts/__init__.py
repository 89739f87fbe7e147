"""Rollouts in files: what the tools of the field write, read into counts; and our own, stored.

docs/rollouts.md is the specification; the explorer's page follows it too.
"""

"""Evaluation of a language model: metrics, tables, diversity, gradient norms."""

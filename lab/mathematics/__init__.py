"""Objectives and estimators, their exact weights and variances, and statistics: NumPy alone."""

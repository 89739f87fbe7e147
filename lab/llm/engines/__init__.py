"""Engines that sample from a language model, and what a model needs to be loaded."""

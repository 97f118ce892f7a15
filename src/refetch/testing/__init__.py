"""Helpers for testing agents and detectors: labelled cases and how to score a detector on them."""

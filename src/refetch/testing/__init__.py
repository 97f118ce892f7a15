"""Helpers for testing agents and detectors: assertions on calls, labelled cases and their score."""

from refetch.testing.assertions import RedundantCalls, assert_no_redundant_calls

__all__ = ["RedundantCalls", "assert_no_redundant_calls"]

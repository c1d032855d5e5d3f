"""Helpers of the tests: servers, fakes, sites, runs."""

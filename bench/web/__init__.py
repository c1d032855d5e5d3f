"""A simulated web, on which discovery is measured."""

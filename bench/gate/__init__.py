"""Figures that must not drop, measured on the demo site and on small texts of the repository."""

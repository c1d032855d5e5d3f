"""Runs that an earlier commit made, and the script that made them."""

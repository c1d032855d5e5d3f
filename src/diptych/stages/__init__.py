"""The stages of mining, a folder each.

A file in a stage's folder is a strategy, a folder in it is a strategy with its parts, and `shared/`
is code that several strategies of the stage use.
"""

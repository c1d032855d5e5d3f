"""The stages of mining, one folder each.

A file in a stage's folder is a strategy, a folder in it is a strategy with its parts, and `shared/`
holds code that several strategies of the stage use.
"""

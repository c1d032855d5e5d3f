"""The stages of mining, one subpackage each.

Each module or subpackage of a stage is one strategy, except `shared`, which contains code that
several strategies of the stage use.
"""

"""All targets of the fuzzer by name."""

from __future__ import annotations

from importlib import import_module

from tools.torture.fuzzing.target import Maker

MODULES = ("pages", "files", "models", "runs", "crawls", "kernels")


def targets_of(module: str) -> dict[str, Maker]:
    """The targets in a module."""
    found: dict[str, Maker] = import_module(f"tools.torture.fuzzing.{module}").TARGETS
    return found


def all_targets() -> dict[str, str]:
    """The module of each target, by the name of the target."""
    return {name: module for module in MODULES for name in targets_of(module)}

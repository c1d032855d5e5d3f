"""Folders of the repository that benchmarks read and write."""

from __future__ import annotations

from pathlib import Path

__all__ = ["RESULTS", "ROOT", "SHARED", "SOURCE"]

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "diptych"
RESULTS = ROOT / "bench" / "results"
SHARED = ROOT.parent / "shared"
"""folder of data that are not part of the repository"""

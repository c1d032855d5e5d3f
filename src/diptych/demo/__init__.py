"""A small bilingual site of our own, and the pairs that are in it."""

from __future__ import annotations

from pathlib import Path

SITE = Path(__file__).parent / "site"
GOLD = Path(__file__).parent / "gold.tsv"

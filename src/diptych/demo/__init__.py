"""A small bilingual site that ships with Diptych, and the list of its page pairs."""

from __future__ import annotations

from pathlib import Path

SITE = Path(__file__).parent / "site"
GOLD = Path(__file__).parent / "gold.tsv"

"""The terms of a run in Python."""

from __future__ import annotations

import pytest
from support.corpora import Maker
from support.term_texts import told

import diptych


def test_run_lists_its_terms(made: Maker) -> None:
    run = diptych.open(made({("/en/1", "/fr/1"): told()}).folder)
    found = run.terms(max_terms=3)
    assert len(found) == 3
    assert all(isinstance(term, diptych.Term) for term in found)
    assert found == run.terms(max_terms=3, langs=["fr", "en"])
    assert min(term.count for term in run.terms(min_count=8)) == 8


def test_mistakes_are_config_errors(made: Maker) -> None:
    run = diptych.open(made({("/en/1", "/fr/1"): told()}).folder)
    with pytest.raises(diptych.ConfigError, match="min_count must be at least 1, not 0"):
        run.terms(min_count=0)
    with pytest.raises(diptych.ConfigError, match="has no de; it has en, fr"):
        run.terms(langs="en,de")

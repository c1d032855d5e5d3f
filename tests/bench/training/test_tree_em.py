from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from support.fakes import at

from bench.training.tree_em import first_parameters, train
from diptych.page.read import read_page
from diptych.stages.align_dom.domtree.document import document
from diptych.stages.align_dom.domtree.model import OTHER, Parameters, shipped_parameters
from diptych.types import Page, Response


def page(markup: str) -> Page:
    headers = (("content-type", "text/html; charset=utf-8"),)
    response = Response(at("/"), 200, headers, markup.encode(), 0.0)
    return read_page(response, with_blocks=True, with_tree=True)


def site(*, heading: str = "h3", note: bool = True) -> list[tuple[Page, Page]]:
    """Pages whose `h2` is another element on the other side, which has a note more."""
    pairs = []
    for count in range(1, 7):
        left = "".join(
            f"<h2>Part {k}</h2><p>Some text of part {k}, word {k * 7}.</p>" for k in range(count)
        )
        right = "".join(
            f"<{heading}>Teil {k}</{heading}><p>Etwas Text von Teil {k}, Wort {k * 7}.</p>"
            + ("<aside>Hinweis</aside>" if note else "")
            for k in range(count)
        )
        pairs.append((page(f"<body>{left}"), page(f"<body>{right}")))
    return pairs


def probability(parameters: Parameters, tag: str, given: str) -> float:
    return parameters.table[parameters.tags.index(given)][parameters.tags.index(tag)]


def test_likelihood_never_decreases() -> None:
    history = train(site(), rounds=8, smoothing=0.0)
    likelihoods = [done.log_likelihood for done in history]
    assert all(later >= earlier - 1e-6 for earlier, later in pairwise(likelihoods))
    assert likelihoods[-1] > likelihoods[0] + 10


def test_tags_that_translate_each_other_are_learned() -> None:
    learned = train(site(), rounds=8)[-1].parameters
    assert probability(learned, "h2", "h3") > 0.5
    assert probability(learned, "p", "p") > 0.9
    assert probability(first_parameters(), "h2", "h3") < 0.01


def test_deletion_is_learned_from_what_has_no_counterpart() -> None:
    with_notes = train(site(heading="h2"), rounds=5)[-1].parameters
    without = train(site(heading="h2", note=False), rounds=5)[-1].parameters
    assert without.deletion < 0.1 < with_notes.deletion


def test_probabilities_add_up() -> None:
    for parameters in (
        shipped_parameters(),
        first_parameters(),
        train(site(), rounds=2)[-1].parameters,
    ):
        assert np.array(parameters.table).sum(1) == pytest.approx(1, abs=1e-6)
        assert sum(parameters.null) == pytest.approx(1, abs=1e-6)
        assert 0 < parameters.deletion < 1
        assert np.isfinite(parameters.gains()).all()
        assert parameters.tags[-1] == OTHER


def test_empty_pages_teach_nothing() -> None:
    history = train([(page(""), page(""))], rounds=1)
    assert history[0].log_likelihood == 0.0


def test_order_of_pages_does_not_matter() -> None:
    pairs = site()
    one, other = train(pairs, rounds=2)[-1], train(pairs[::-1], rounds=2)[-1]
    assert np.array(one.parameters.table) == pytest.approx(np.array(other.parameters.table))


def test_parameters_are_read_as_they_were_written() -> None:
    learned = train(site(), rounds=2)[-1].parameters
    assert Parameters.from_json(learned.to_json()) == learned


def test_shipped_parameters_know_that_tags_mostly_stay() -> None:
    gains = shipped_parameters().gains()
    numbers = shipped_parameters().numbers(["p", "li", "td", "h1", "a", "no-such-tag"])
    for number in numbers[:-1]:
        assert gains[number, number] > 0
        assert gains[number].argmax() == number
    assert numbers[-1] == len(shipped_parameters().tags) - 1
    assert len(document(page("<body><p>x"))) == 3

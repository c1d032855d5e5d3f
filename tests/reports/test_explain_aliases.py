"""Aliases in `explain`, in the summary, in the funnel and in the report."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from rich.console import Console

from diptych.frontier.aliases import Aliases
from diptych.frontier.queue import Entry, Frontier
from diptych.reason import alias_reason
from diptych.reports.explain import explain
from diptych.reports.funnel import print_funnel
from diptych.reports.summary import summarise
from diptych.run.store import Store
from diptych.types import Url

HOST = "http://a.org"
ALIAS, PAGE = Url(f"{HOST}/s/x"), Url(f"{HOST}/s/x/")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """A run with an alias by a rule that was right for 37 pages of a section."""
    with Store(tmp_path) as opened, opened.transaction():
        aliases, frontier = Aliases(opened), Frontier(opened.db)
        for number in range(37):
            aliases.learn_redirect(Url(f"{HOST}/s/{number}"), Url(f"{HOST}/s/{number}/"))
        frontier.add([Entry(PAGE, 1, 0.0)])
        frontier.add_alias(Entry(ALIAS, 1, 0.0, reason=alias_reason("slash")), PAGE)
        yield opened


def told(store: Store, url: Url = ALIAS) -> str:
    return explain(store, [url])


def test_alias_is_explained_with_its_page_and_rule(store: Store) -> None:
    words = (
        f"  reason     the same page as {PAGE}, by the rule 'trailing slash', correct for 37 of 37"
    )
    assert words in told(store).splitlines()
    assert "leads to" not in told(store)
    assert "state      alias" in told(store)


def test_rule_of_a_section_is_preferred_to_that_of_its_host(store: Store) -> None:
    store.db.execute("UPDATE alias_rules SET moved = 90, broken = 2 WHERE scope = ?", (HOST,))
    assert "correct for 37 of 37" in told(store)
    store.db.execute("DELETE FROM alias_rules WHERE scope LIKE '% %'")
    assert "correct for 90 of 92" in told(store)


def test_alias_by_several_rules_names_each(store: Store) -> None:
    reason = alias_reason("slash + without ?share")
    store.db.execute("UPDATE urls SET reason = ? WHERE state = 6", (reason,))
    words = "by the rule 'trailing slash', correct for 37 of 37, by the rule 'without ?share'"
    assert told(store).splitlines()[2].endswith(words)


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE alias_rules SET moved = 'many'",
        "UPDATE alias_rules SET same = -1",
        "UPDATE alias_rules SET broken = 9223372036854775807",
        "DELETE FROM alias_rules",
        "DROP TABLE alias_rules",
    ],
)
def test_rule_without_counts_is_named_without_them(store: Store, damage: str) -> None:
    store.db.execute(damage)
    assert told(store).splitlines()[2].endswith("by the rule 'trailing slash'")


def test_alias_of_an_unknown_page_is_explained(store: Store) -> None:
    store.db.execute("DELETE FROM urls WHERE url = ?", (PAGE,))
    assert "the same page as ?, by the rule 'trailing slash', correct for 37 of 37" in told(store)
    store.db.execute("UPDATE urls SET redirect = NULL WHERE state = 6")
    assert "reason     the same page as another (trailing slash)" in told(store)


def test_redirect_is_explained_with_its_target(store: Store) -> None:
    store.db.execute("UPDATE urls SET state = 2, reason = '', status = 301 WHERE state = 6")
    assert f"  leads to   {PAGE}" in told(store).splitlines()


def test_summary_counts_aliases_by_rule(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    frontier = Frontier(store.db)
    for number in range(2):
        entry = Entry(Url(f"{PAGE}?share={number}"), 1, 0.0, reason=alias_reason("without ?share"))
        frontier.add_alias(entry, PAGE)
    summary = summarise(store, ("en", "fr"))
    assert summary.aliases == (("alias without ?share", 2), ("alias slash", 1))
    assert summary.steps[0].lost == ()
    print_funnel(Console(highlight=False, markup=False, width=200), summary, store.folder, ())
    words = "3 duplicate URLs were not fetched (without ?share 2, trailing slash 1)"
    assert words in capsys.readouterr().out.splitlines()

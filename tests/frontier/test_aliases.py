"""Alias rules: learned from redirects and copies, demoted by one exception."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from support.stores import begin, commit

from diptych.frontier import aliases as module
from diptych.frontier.aliases import MAX_STEPS, MAX_URL, MIN_HELD, REASON, TESTED, Alias, Aliases
from diptych.frontier.queue import Entry, Frontier, Host, State
from diptych.run.store import Store
from diptych.run.warc import Pointer
from diptych.text.urls import url_key
from diptych.types import Page, PageRecord, Sketch, Url

HOST = "http://a.org"
OF_HOST, OF_SECTION = MIN_HELD
MENU = [(number, 40.0) for number in range(1_000, 1_010)]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path) as opened:
        begin(opened)
        opened.db.execute("INSERT INTO sites (id, name) VALUES (1, 'a.org')")
        opened.db.execute("INSERT INTO hosts (id, origin, site) VALUES (1, ?, 1)", (HOST,))
        yield opened


@pytest.fixture
def aliases(store: Store) -> Aliases:
    return Aliases(store)


def untested(template: str, start: int = 0) -> str:
    """A path made from a template and a number that is not fetched as a test."""
    paths = (template.format(number) for number in range(start, start + 99))
    return next(path for path in paths if url_key(HOST + path) % TESTED)


def fetch(
    aliases: Aliases, store: Store, path: str, text: int, *, lang: str = "en",
    own: Iterable[int] | None = None, menu: Iterable[tuple[int, float]] = MENU,
) -> list[str]:  # fmt: skip
    """Fetch a page with a text; `own` are hashes of its blocks apart from the menu."""
    url = Url(path if "://" in path else HOST + path)
    sketch = None
    if own is not None:
        blocks = (*menu, *((number, 100.0) for number in own))
        sketch = Sketch("", 1, {"word": 1}, blocks=blocks)
    record = PageRecord(url, lang, (), "", 1, 1, 1, "sha1:X", text_key=text)
    row = url_key(url), url
    store.db.execute(
        "INSERT OR REPLACE INTO urls (key, url, host, kind, state, depth, priority)"
        " VALUES (?, ?, 1, 0, 2, 1, 0)", row,
    )  # fmt: skip
    store.db.execute("INSERT OR IGNORE INTO warcs VALUES (1, 'x', 1, '')")
    page = Page(record, (), sketch=sketch)
    store.save_page(1, page, Pointer(1, 0, 1))
    return aliases.learn_page(page)


def add(store: Store, path: str, state: State = State.QUEUED) -> None:
    store.db.execute(
        "INSERT OR REPLACE INTO urls (key, url, host, kind, state, depth, priority)"
        " VALUES (?, ?, 1, 0, ?, 1, 0.5)", (url_key(HOST + path), HOST + path, int(state)),
    )  # fmt: skip


def redirect(aliases: Aliases, path: str, target: str) -> list[str]:
    return aliases.learn_redirect(Url(HOST + path), Url(HOST + target))


def redirect_all(aliases: Aliases, *, section: str = "/s", count: int = OF_HOST) -> None:
    """Redirects of a section that add a slash."""
    for number in range(count):
        redirect(aliases, f"{section}/x{number}", f"{section}/x{number}/")


def copy_all(aliases: Aliases, store: Store, *, count: int = OF_HOST, section: str = "/s") -> None:
    """Pages of a section, each fetched with and without ?share."""
    for number in range(count):
        fetch(aliases, store, f"{section}/x{number}", 1 + number)
        fetch(aliases, store, f"{section}/x{number}?share=1", 1 + number)


# -- activation ------------------------------------------------------------------------------


def test_rule_of_redirects_is_applied_once_it_has_held_often_enough(aliases: Aliases) -> None:
    new = untested("/s/y{}")
    redirect_all(aliases, count=OF_SECTION - 1)
    assert aliases.alias(Url(HOST + new)) is None
    assert redirect(aliases, "/s/z", "/s/z/") == ["slash"]
    assert aliases.alias(Url(HOST + new)) == Alias(Url(f"{HOST}{new}/"), "slash")


def test_rule_of_a_host_needs_more_pages_than_that_of_a_section(aliases: Aliases) -> None:
    new = untested("/other/y{}")
    redirect_all(aliases, count=OF_SECTION)
    assert aliases.alias(Url(HOST + new)) is None
    assert redirect(aliases, "/t/z", "/t/z/") == ["slash"]
    assert aliases.alias(Url(HOST + new)) == Alias(Url(f"{HOST}{new}/"), "slash")


def test_rule_of_copies_is_applied_to_urls_whose_other_form_is_known(
    aliases: Aliases, store: Store
) -> None:
    copy_all(aliases, store, count=OF_SECTION)
    new = untested("/s/y?share={}")
    assert aliases.alias(Url(HOST + new)) is None  # nothing says that /s/y is there
    add(store, "/s/y")
    assert aliases.alias(Url(HOST + new)) == Alias(Url(f"{HOST}/s/y"), "without ?share")


@pytest.mark.parametrize("state", [State.FAILED, State.REFUSED, State.OUTSIDE])
@pytest.mark.parametrize("by_redirects", [True, False])
def test_url_without_a_page_represents_no_other(
    aliases: Aliases, store: Store, state: State, *, by_redirects: bool
) -> None:
    if by_redirects:
        redirect_all(aliases)
        new, made = untested("/s/y{}"), untested("/s/y{}") + "/"
    else:
        copy_all(aliases, store)
        new, made = untested("/s/y?share={}"), "/s/y"
    add(store, made)
    assert aliases.alias(Url(HOST + new)) is not None
    add(store, made, state)
    assert aliases.alias(Url(HOST + new)) is None


def test_variants_are_aliases_of_one_that_was_fetched(aliases: Aliases, store: Store) -> None:
    copy_all(aliases, store)
    fetch(aliases, store, "/s/only?share=a", 99)
    new = untested("/s/only?share={}")
    expected = Alias(Url(f"{HOST}/s/only?share=a"), "without ?share")
    assert aliases.alias(Url(HOST + new)) == expected
    bare = untested("/s/also{}")
    fetch(aliases, store, f"{bare}?share=a", 100)
    assert aliases.alias(Url(HOST + bare)) == Alias(Url(f"{HOST}{bare}?share=a"), "without ?share")


def test_rule_from_copies_follows_the_order_of_fetching(aliases: Aliases, store: Store) -> None:
    for number in range(OF_HOST):  # the rewritten URL is the second one
        fetch(aliases, store, f"/s/X{number}", 1 + number)
        fetch(aliases, store, f"/s/x{number}", 1 + number)
    add(store, "/s/new")
    new = untested("/s/NEW?a={}")
    add(store, new.lower())
    assert aliases.alias(Url(HOST + new)) == Alias(Url(HOST + new.lower()), "lower case")


def test_copies_on_two_hosts_are_counted_for_the_one_that_is_rewritten(
    aliases: Aliases, store: Store
) -> None:
    for number in range(OF_HOST):
        fetch(aliases, store, f"/s/x{number}", 1 + number)
        fetch(aliases, store, f"https://a.org/s/x{number}", 1 + number)
    counts = dict(store.db.execute("SELECT scope || ' ' || rule, same FROM alias_rules"))
    assert counts["http://a.org https"] == OF_HOST
    assert counts["https://a.org http"] == OF_HOST
    assert "https://a.org https" not in counts


def test_redirect_by_several_rules_teaches_each_where_it_applies(aliases: Aliases) -> None:
    for number in range(OF_HOST):
        url = Url(f"{HOST}/s/x{number}")
        aliases.learn_redirect(url, Url(f"https://www.a.org/s/x{number}/"))
    new = untested("/s/y{}")
    expected = Alias(Url(f"https://www.a.org{new}/"), "https + www + slash")
    assert aliases.alias(Url(HOST + new)) == expected
    one = next(
        Url(f"https://www.a.org/s/z{number}")
        for number in range(9)
        if url_key(f"https://www.a.org/s/z{number}") % TESTED
    )
    assert aliases.alias(one) == Alias(Url(f"{one}/"), "slash")


# -- what must not be merged -----------------------------------------------------------------


def test_no_rule_is_learned_from_not_found_pages(aliases: Aliases, store: Store) -> None:
    for number in range(12):
        fetch(aliases, store, f"/view?id={number}", 404)
        fetch(aliases, store, f"/vue?id={number}", 405)
    add(store, "/view")
    assert aliases.alias(Url(HOST + untested("/view?id={}", 100))) is None


def test_one_page_with_very_many_variants_teaches_in_the_end(
    aliases: Aliases, store: Store
) -> None:
    for number in range(65):
        assert aliases.alias(Url(HOST + untested("/view?sort={}", 100))) is None
        fetch(aliases, store, f"/view?sort={number}", 1)
    new = untested("/view?sort={}", 100)
    assert aliases.alias(Url(HOST + new)) is not None


def test_no_rule_is_learned_from_redirects_of_dead_numbers_to_a_list(aliases: Aliases) -> None:
    for number in range(9):
        redirect(aliases, f"/view?id={number}", "/view")
    assert aliases.alias(Url(HOST + untested("/view?id={}", 100))) is None


@pytest.mark.parametrize("parameter", ["id", "page"])
def test_parameter_that_tells_pages_apart_is_kept(
    aliases: Aliases, store: Store, parameter: str
) -> None:
    for number in range(OF_HOST):
        fetch(aliases, store, f"/s/x{number}", 1 + number)
        fetch(aliases, store, f"/s/x{number}?{parameter}=1", 1 + number)
    add(store, "/s/y")
    new = untested(f"/s/y?{parameter}={{}}")
    assert aliases.alias(Url(HOST + new)) is not None
    fetch(aliases, store, f"/s/x0?{parameter}=2", 77)
    assert aliases.alias(Url(HOST + new)) is None


# -- near copies -----------------------------------------------------------------------------


def fetch_site(aliases: Aliases, store: Store, count: int = 12) -> None:
    """Pages with a menu and a text of their own."""
    for number in range(count):
        fetch(aliases, store, f"/s/x{number}", 1 + number, own=[10 * number, 10 * number + 1])


def test_near_copies_hold_for_a_rule(aliases: Aliases, store: Store) -> None:
    fetch_site(aliases, store)
    for number in range(OF_SECTION):
        own = [10 * number, 10 * number + 1]
        fetch(aliases, store, f"/s/x{number}?replytocom=1", 900 + number, own=[*own, *own])
    add(store, "/s/new")
    new = untested("/s/new?replytocom={}")
    assert aliases.alias(Url(HOST + new)) == Alias(Url(f"{HOST}/s/new"), "without ?replytocom")


def test_pages_that_share_only_the_template_are_no_copies(aliases: Aliases, store: Store) -> None:
    fetch_site(aliases, store)
    fetch(aliases, store, "/s/x0?id=1", 900, own=[5_000])  # the menu is 80% of its letters
    broken = "SELECT broken FROM alias_rules WHERE scope = ? AND rule = 'without ?id'"
    assert store.db.execute(broken, (HOST,)).fetchone() == (1,)


def test_print_version_without_the_menu_is_a_near_copy(aliases: Aliases, store: Store) -> None:
    fetch_site(aliases, store)
    fetch(aliases, store, "/s/x1/print", 900, own=[10, 11], menu=())
    same = "SELECT same, broken FROM alias_rules WHERE scope = ? AND rule LIKE 'without /print%'"
    assert store.db.execute(same, (HOST,)).fetchone() == (1, 0)


def test_near_copies_are_not_judged_before_the_template_is_known(
    aliases: Aliases, store: Store
) -> None:
    fetch_site(aliases, store, 4)
    fetch(aliases, store, "/s/x0?id=1", 900, own=[5_000])
    assert store.count("SELECT count(*) FROM alias_rules WHERE rule = 'without ?id'") == 0


def test_near_copy_in_another_language_is_another_page(aliases: Aliases, store: Store) -> None:
    fetch_site(aliases, store)
    fetch(aliases, store, "/s/x0?lang=fr", 900, own=[0, 1], lang="fr")
    broken = "SELECT sum(broken) FROM alias_rules WHERE rule = 'without ?lang'"
    assert store.count(broken) == 2


def test_near_copies_of_one_page_count_once(aliases: Aliases, store: Store) -> None:
    fetch_site(aliases, store)
    for number in range(3):
        fetch(aliases, store, f"/s/x0?replytocom={number}", 900 + number, own=[0, 1])
    same = "SELECT same FROM alias_rules WHERE scope = ? AND rule = 'without ?replytocom'"
    assert store.db.execute(same, (HOST,)).fetchone() == (1,)
    for number in range(3):  # the page itself was not fetched
        fetch(aliases, store, f"/s/x?replytocom={number}", 910 + number, own=[800, 801])
    assert store.db.execute(same, (HOST,)).fetchone() == (2,)


# -- exceptions ------------------------------------------------------------------------------


def test_one_exception_demotes_a_rule_for_good(aliases: Aliases, store: Store) -> None:
    copy_all(aliases, store)
    add(store, "/s/y")
    new = Url(HOST + untested("/s/y?share={}"))
    assert aliases.alias(new) is not None
    assert aliases.take_demoted() == []
    fetch(aliases, store, "/s/x0?share=2", 77)
    assert aliases.alias(new) is None
    assert not aliases.holds(new, "without ?share")
    assert aliases.take_demoted() == ["without ?share"]
    assert aliases.take_demoted() == []
    copy_all(aliases, store, count=9)
    assert aliases.alias(new) is None


def test_page_without_a_redirect_contradicts_a_redirect_rule(
    aliases: Aliases, store: Store
) -> None:
    redirect_all(aliases)
    fetch(aliases, store, "/s/itself", 1)
    assert aliases.alias(Url(HOST + untested("/s/y{}"))) is None
    assert aliases.take_demoted() == ["slash"]


def test_rule_stays_in_sections_without_exception(aliases: Aliases, store: Store) -> None:
    redirect_all(aliases, section="/one")
    redirect_all(aliases, section="/two")
    fetch(aliases, store, "/two/itself", 1)
    assert aliases.alias(Url(HOST + untested("/one/y{}"))) is not None
    assert aliases.alias(Url(HOST + untested("/two/y{}"))) is None
    assert aliases.alias(Url(HOST + untested("/three/y{}"))) is None


def test_sections_that_contradict_each_other_lose_no_page_of_a_third(aliases: Aliases) -> None:
    redirect_all(aliases, section="/one")
    for number in range(OF_HOST):
        redirect(aliases, f"/two/x{number}/", f"/two/x{number}")
    assert aliases.alias(Url(HOST + untested("/one/y{}"))) is not None
    assert aliases.alias(Url(HOST + untested("/two/y{}/"))) is not None
    third = untested("/three/y{}")
    assert aliases.alias(Url(HOST + third)) is None
    assert aliases.alias(Url(HOST + untested("/three/y{}/"))) is None


def test_redirect_elsewhere_contradicts_a_rule(aliases: Aliases, store: Store) -> None:
    copy_all(aliases, store)
    new = Url(HOST + untested("/s/x0?share={}", 50))
    aliases.learn_redirect(new, Url("http://elsewhere.org/"))  # to another site: no page of ours
    redirect(aliases, "/s/unknown?share=5", "/t/x")  # nothing is known of /s/unknown
    assert aliases.alias(new) is not None
    redirect(aliases, "/s/x0?share=5", "/t/x")
    assert aliases.alias(new) is None


def test_share_of_urls_is_tested(aliases: Aliases) -> None:
    redirect_all(aliases)
    urls = [Url(f"{HOST}/s/test{number}") for number in range(1_000)]
    fetched = [url for url in urls if aliases.alias(url) is None]
    assert fetched == [url for url in urls if url_key(url) % TESTED == 0]
    assert 1_000 / TESTED / 2 < len(fetched) < 1_000 / TESTED * 2


# -- cycles ----------------------------------------------------------------------------------


def set_counts(store: Store, *rows: tuple[object, ...]) -> Aliases:
    for row in rows:
        store.db.execute("INSERT OR REPLACE INTO alias_rules VALUES (?, ?, ?, ?, ?)", row)
    return Aliases(store)


def test_one_url_represents_a_cycle_of_rules(store: Store) -> None:
    aliases = set_counts(store, (HOST, "slash", 9, 0, 0), (HOST, "without slash", 9, 0, 0))
    path = next(
        f"/s/y{number}"
        for number in range(99)
        if url_key(f"{HOST}/s/y{number}") % TESTED and url_key(f"{HOST}/s/y{number}/") % TESTED
    )
    assert aliases.alias(Url(f"{HOST}{path}/")) == Alias(Url(HOST + path), "without slash")
    assert aliases.alias(Url(HOST + path)) is None


def test_fetched_page_represents_its_shorter_form(aliases: Aliases, store: Store) -> None:
    for number in range(OF_HOST):
        fetch(aliases, store, f"/s/{number}/index.html", 1 + number)
        fetch(aliases, store, f"/s/{number}/", 1 + number)
    new = untested("/s/new{}/")
    fetch(aliases, store, f"{new}index.html", 99)
    add(store, new)
    expected = Alias(Url(f"{HOST}{new}index.html"), "without index file")
    assert aliases.alias(Url(HOST + new)) == expected


def test_url_is_no_alias_of_its_own_alias(store: Store) -> None:
    aliases = set_counts(store, (HOST, "slash", 9, 0, 0))
    url = Url(HOST + untested("/s/y{}"))
    assert aliases.alias(url) is not None
    frontier = Frontier(store.db)
    frontier.add_alias(Entry(Url(f"{url}/"), 1, 0.5, reason="alias x"), Url(f"{HOST}/between"))
    frontier.add_alias(Entry(Url(f"{HOST}/between"), 1, 0.5, reason="alias x"), url)
    assert aliases.alias(url) is None


def test_url_that_needs_too_many_rules_is_not_an_alias(store: Store) -> None:
    names = "abcdefgh"[: MAX_STEPS + 1]
    rows = [(HOST, f"without ?{name}", 9, 0, 0) for name in names]
    aliases = set_counts(store, *rows)
    query = [f"{name}={{0}}" for name in names]
    assert aliases.alias(Url(HOST + untested(f"/y?{'&'.join(query)}"))) is None
    fewer = aliases.alias(Url(HOST + untested(f"/y?{'&'.join(query[1:])}")))
    assert fewer is not None
    assert fewer.url == f"{HOST}/y"


# -- the table -------------------------------------------------------------------------------


def test_rules_are_stored_and_read_again(aliases: Aliases, store: Store) -> None:
    redirect_all(aliases)
    again = Aliases(store)
    new = Url(HOST + untested("/s/y{}"))
    assert again.alias(new) == aliases.alias(new) is not None
    fetch(again, store, "/s/itself", 1)
    assert Aliases(store).alias(new) is None
    row = "SELECT moved, same, broken FROM alias_rules WHERE scope = ? AND rule = 'slash'"
    assert store.db.execute(row, (HOST,)).fetchone() == (OF_HOST, 0, 1)


@pytest.mark.parametrize(
    "row",
    [
        (HOST, "slash", "many", 0, 0),
        (HOST, "slash", 9.5, 0, 0),
        (HOST, "slash", -5, 9, 0),
        (HOST, "slash", 9, 2**63 - 1, 0),
        (HOST, "slash", 9, 0, b"x"),
        (b"\xff", "slash", 9, 0, 0),
        (HOST, b"slash", 9, 0, 0),
    ],
)
def test_damaged_rows_are_ignored(store: Store, row: tuple[object, ...]) -> None:
    aliases = set_counts(store, row)
    url = Url(HOST + untested("/s/y{}"))
    assert aliases.alias(url) is None
    redirect_all(aliases)
    assert aliases.alias(url) is not None


def test_site_that_invents_parameters_takes_bounded_memory(
    aliases: Aliases, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_RULES", 3)
    fetch(aliases, store, "/s/x", 1)
    for number in range(9):
        fetch(aliases, store, f"/s/x?p{number}=1", 2 + number)
    assert store.count("SELECT count(*) FROM alias_rules WHERE scope = ?", HOST) == 3
    for number in range(20):
        redirect(aliases, f"/s{number}/x", f"/s{number}/x/")
    assert store.count("SELECT count(*) FROM alias_rules WHERE scope LIKE '% %'") == 12
    monkeypatch.setattr(module, "MAX_COUNTS", 5)
    assert Aliases(store).alias(Url(HOST)) is None
    full = Aliases(store)
    before = store.count("SELECT count(*) FROM alias_rules")
    full.learn_redirect(Url("http://b.org/x"), Url("http://b.org/x/"))
    assert store.count("SELECT count(*) FROM alias_rules") == before


def test_no_rule_is_learned_from_very_long_urls(aliases: Aliases, store: Store) -> None:
    long = "/s/" + "x" * MAX_URL
    for number in range(OF_HOST):
        redirect(aliases, f"{long}{number}", f"{long}{number}/")
        fetch(aliases, store, f"{long}{number}", 1 + number)
        fetch(aliases, store, f"{long}{number}?share=1", 1 + number)
    assert store.count("SELECT count(*) FROM alias_rules") == 0


# -- aliases in the frontier -----------------------------------------------------------------


def frontier_of(store: Store, *aliases: tuple[str, str]) -> Frontier:
    """A frontier with aliases: each path with the rules that make it an alias."""
    frontier = Frontier(store.db)
    frontier.add_host(Host(1))
    for path, rules in aliases:
        entry = Entry(Url(HOST + path), 1, 0.5, reason=REASON + rules)
        assert frontier.add_alias(entry, Url(f"{HOST}/target"))
    return frontier


def test_aliases_of_a_demoted_rule_are_queued_again(store: Store) -> None:
    frontier = frontier_of(
        store, ("/a", "slash"), ("/b", "https + slash + www"), ("/c", "without slash"),
        ("/d", "slash"), ("/e", "without ?slash"),
    )  # fmt: skip
    assert frontier.claim(0.0, 9) == []
    assert frontier.wake() is None
    undone = frontier.undo_aliases(1, "slash", lambda url: url.endswith("/d"))
    assert undone == [f"{HOST}/a", f"{HOST}/b"]
    assert [url for url, _, priority in frontier.queued_pages(1) if priority == 0.5] == undone
    assert [claim.url for claim in frontier.claim(0.0, 9)] == undone[:1]
    state = "SELECT state, reason, redirect FROM urls WHERE url = ?"
    assert store.db.execute(state, (undone[1],)).fetchone() == (State.QUEUED, "", None)
    assert frontier.undo_aliases(1, "slash", lambda url: url.endswith("/d")) == []
    assert frontier.undo_aliases(2, "slash", lambda url: False) == []


@pytest.mark.parametrize("priority", [0.5, -5.0])
def test_alias_of_a_dead_url_is_never_raised(store: Store, priority: float) -> None:
    frontier = Frontier(store.db)
    frontier.add_host(Host(1))
    entry = Entry(Url(f"{HOST}/a"), 1, priority, reason=REASON + "slash")
    assert frontier.add_alias(entry, Url(f"{HOST}/target"))
    frontier.undo_alias_of(1, Url(f"{HOST}/target"))
    ((_, _, after),) = frontier.queued_pages(1)
    assert after < priority


def test_url_without_page_gives_its_first_alias_back(store: Store) -> None:
    frontier = frontier_of(store, ("/a", "slash"), ("/b", "slash"))
    assert frontier.undo_alias_of(1, Url(f"{HOST}/other")) == []
    assert frontier.undo_alias_of(2, Url(f"{HOST}/target")) == []
    assert frontier.undo_alias_of(1, Url(f"{HOST}/target")) == [f"{HOST}/a"]
    queued = {url: priority for url, _, priority in frontier.queued_pages(1)}
    assert queued[Url(f"{HOST}/a")] == pytest.approx(0.05), "it is probably no page either"
    assert [claim.url for claim in frontier.claim(0.0, 9)] == [f"{HOST}/a"]


def test_aliases_are_learned_in_the_transaction_of_the_page(aliases: Aliases, store: Store) -> None:
    redirect_all(aliases)
    commit(store)
    begin(store)
    fetch(aliases, store, "/s/itself", 1)
    store.db.execute("ROLLBACK")
    begin(store)
    assert Aliases(store).alias(Url(HOST + untested("/s/y{}"))) is not None

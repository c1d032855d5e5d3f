from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diptych.text.aliases import (
    MAX_NAME,
    MAX_PARAMETERS,
    MAX_STEPS,
    are_aliases,
    path_between,
    rewritings,
    rules_between,
)
from diptych.text.urls import normalise
from diptych.types import Url

HOST = "http://a.org"


def made(url: str) -> dict[str, str]:
    return dict(rewritings(Url(url)))


@pytest.mark.parametrize(
    ("rule", "url", "target"),
    [
        ("slash", "http://a.org/x", "http://a.org/x/"),
        ("without slash", "http://a.org/x/", "http://a.org/x"),
        ("https", "http://a.org/x", "https://a.org/x"),
        ("http", "https://a.org/x", "http://a.org/x"),
        ("www", "http://a.org/x", "http://www.a.org/x"),
        ("without www", "http://www.a.org/x", "http://a.org/x"),
        ("without index file", "http://a.org/x/index.html", "http://a.org/x/"),
        ("without index file", "http://a.org/Default.aspx?y=1", "http://a.org/?y=1"),
        ("without extension", "http://a.org/x.html", "http://a.org/x"),
        ("lower case", "http://a.org/News/X?Y=Z", "http://a.org/news/x?Y=Z"),
        ("single slashes", "http://a.org/x//y", "http://a.org/x/y"),
        ("without ?share", "http://a.org/x?share=mail", "http://a.org/x"),
        ("without ?replytocom", "http://a.org/x?p=1&replytocom=7", "http://a.org/x?p=1"),
        ("without ?a", "http://a.org/x?a=1&b=2&a=3", "http://a.org/x?b=2"),
        ("without ?print", "http://a.org/x?print", "http://a.org/x"),
        ("without empty parameters", "http://a.org/x?q=&p=1", "http://a.org/x?p=1"),
        ("without empty parameters", "http://a.org/x?q=", "http://a.org/x"),
        ("sorted parameters", "http://a.org/x?b=1&a=2", "http://a.org/x?a=2&b=1"),
        ("without ;parameter", "http://a.org/x;v=1a/y;w", "http://a.org/x/y"),
        ("without /amp", "http://a.org/x/amp/", "http://a.org/x/"),
        ("without /amp and slash", "http://a.org/x/amp", "http://a.org/x"),
        ("without /print", "http://a.org/x/Print", "http://a.org/x/"),
        ("without folder print", "http://a.org/print/node/5", "http://a.org/node/5"),
        ("without -print", "http://a.org/x-print.html", "http://a.org/x.html"),
        ("without -amp", "http://a.org/x.amp.html", "http://a.org/x.html"),
    ],
)
def test_rewriting(rule: str, url: str, target: str) -> None:
    assert made(url)[rule] == target


@pytest.mark.parametrize(
    ("rule", "url"),
    [
        ("slash", "http://a.org/x.html"),
        ("slash", "http://a.org/"),
        ("without slash", "http://a.org/"),
        ("without index file", "http://a.org/indexes.html"),
        ("lower case", "http://a.org/x?Y=Z"),
        ("without -print", "http://a.org/blueprint"),
        ("without -print", "http://a.org/-print"),
        ("without folder print", "http://a.org/print/"),
        ("without empty parameters", "http://a.org/x?print"),
        ("sorted parameters", "http://a.org/x?a=1&b=2"),
        ("www", "http://localhost/"),
    ],
)
def test_url_that_a_rule_does_not_apply_to(rule: str, url: str) -> None:
    assert rule not in made(url)


def test_too_many_parameters_give_no_rules() -> None:
    many = "&".join(f"p{number}=1" for number in range(MAX_PARAMETERS + 1))
    assert not [rule for rule in made(f"{HOST}/x?{many}") if "?" in rule]
    assert f"without ?{'p' * MAX_NAME}" in made(f"{HOST}/x?{'p' * MAX_NAME}=1")
    assert not [rule for rule in made(f"{HOST}/x?{'p' * (MAX_NAME + 1)}=1") if "?" in rule]
    assert "without ?" not in made(f"{HOST}/x?=1&a=2")


@given(st.from_regex(r"[A-Za-z/._;?&=%+-]{0,30}", fullmatch=True))
def test_rewritings_are_distinct_normal_urls_with_distinct_rules(rest: str) -> None:
    url = normalise(f"{HOST}/{rest}")
    if url is not None:
        found = list(rewritings(url))
        assert len({rule for rule, _ in found}) == len(found)
        assert all(made == normalise(made) != url for _, made in found)


@given(st.from_regex(r"[A-Za-z/._;?&=-]{0,20}", fullmatch=True), st.data())
def test_path_leads_from_a_url_to_its_rewriting(rest: str, data: st.DataObject) -> None:
    url = normalise(f"{HOST}/{rest}")
    if url is not None:
        target = data.draw(st.sampled_from(list(rewritings(url)))).url
        assert len(path_between(url, target)) == 1
        assert are_aliases(url, target)
        assert are_aliases(target, url)


@pytest.mark.parametrize(
    ("url", "target", "rules"),
    [
        ("http://a.org/x", "https://www.a.org/x/", ("https", "www", "slash")),
        ("http://a.org/x?a=1&b=2", "http://a.org/x", ("without ?a", "without ?b")),
        ("http://a.org/x?a=1&b=2&c=3&d=4", "http://a.org/x", ()),
        ("http://a.org/x", "http://a.org/x?a=1", ()),
        ("http://a.org/x?a=1", "http://a.org/x?a=2", ()),
        ("http://a.org/x", "http://a.org/x", ()),
        ("http://a.org/x", "http://b.org/x", ()),
        ("http://a.org/x", "http://a.org/", ()),
        ("http://a.org/x.html", "http://a.org/x/", ("without extension", "slash")),
    ],
)
def test_shortest_sequence_of_rules_between_two_urls(
    url: str, target: str, rules: tuple[str, ...]
) -> None:
    assert rules_between(Url(url), Url(target)) == rules


def test_each_step_of_a_path_is_a_rewriting_of_the_one_before() -> None:
    at, path = (
        Url("http://a.org/X/?s=1"),
        path_between(Url("http://a.org/X/?s=1"), Url("https://a.org/x/")),
    )
    assert len(path) == MAX_STEPS == 3
    for step in path:
        assert step in list(rewritings(at))
        at = step.url
    assert at == "https://a.org/x/"


def test_unrelated_redirect_is_not_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Url] = []
    monkeypatch.setattr("diptych.text.aliases.rewritings", lambda url: asked.append(url) or ())
    many = "&".join(f"p{number}=1" for number in range(MAX_PARAMETERS))
    assert rules_between(Url(f"{HOST}/x?{many}"), Url(f"{HOST}/y")) == ()
    assert rules_between(Url(f"{HOST}/x"), Url(f"{HOST}/y?a=1")) == ()
    assert rules_between(Url(f"{HOST}/x"), Url("http://b.org/x/")) == ()
    assert asked == []

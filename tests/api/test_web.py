from __future__ import annotations

import pytest

from diptych.api.web import Environment, WebOptions, agent_of, listed, seed
from diptych.errors import ConfigError


def test_list_replaces_a_dash() -> None:
    lines = ["\ufeffb.org\tbilingual\t0.9\n", "\n", "  # a comment\n", "http://c.org/x\r\n"]
    assert listed(["a.org", "-", "d.org"], lines) == ["a.org", "b.org", "http://c.org/x", "d.org"]
    assert listed(["-", "-"], ["a.org"]) == ["a.org"]


def test_without_a_dash_no_list_is_read() -> None:
    def lines():
        raise AssertionError("nobody asked for it")
        yield ""

    assert listed(["a.org"], lines()) == ["a.org"]


def test_site_needs_no_scheme() -> None:
    assert seed("example.org") == "https://example.org/"
    assert seed("http://example.org") == "http://example.org/"
    with pytest.raises(ConfigError, match="http"):
        seed("mailto:a@b.org")


@pytest.mark.parametrize("text", ["", "  ", "a\nb"])
def test_user_agent_is_one_line(text: str) -> None:
    with pytest.raises(ConfigError, match=r"^user_agent must"):
        agent_of(text)


def test_proxy_has_the_form_of_a_url() -> None:
    with pytest.raises(ConfigError, match="proxy"):
        Environment().live_engine(WebOptions(proxy="not a proxy"), "Bot/1")


@pytest.mark.parametrize(("workers", "jobs", "count"), [(0, None, 0), (3, None, 3), (3, 2, 2)])
def test_jobs_of_the_user_replace_the_usual_number(workers: int, jobs: int, count: int) -> None:
    assert Environment(workers=workers).start_workers(jobs).count == count


def test_usual_number_of_workers_is_that_of_processors() -> None:
    assert Environment().start_workers().count >= 1

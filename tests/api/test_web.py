from __future__ import annotations

import pytest

from diptych.api.web import Environment, WebOptions, agent_of
from diptych.errors import ConfigError


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

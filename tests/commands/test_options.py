from __future__ import annotations

import subprocess
import sys

import pytest

from diptych.commands import main
from diptych.commands.mine import MineOptions
from diptych.commands.options import WebOptions, agent_of, first_notes, live_engine
from diptych.errors import ConfigError


@pytest.mark.parametrize("text", ["", "  ", "a\nb"])
def test_an_agent_is_one_line(text: str) -> None:
    with pytest.raises(ConfigError, match="user-agent"):
        agent_of(text)


def test_a_small_language_with_the_code_of_a_country_is_noted() -> None:
    assert first_notes(("se", "sv"))[0] == "se is Northern Sami; Swedish is sv"
    assert first_notes(("en", "sv")) == first_notes(("en", "fr"))


def test_a_proxy_must_be_one() -> None:
    with pytest.raises(ConfigError, match="proxy"):
        live_engine(WebOptions(proxy="not a proxy"), "Bot/1")


def test_mining_what_was_found_is_mining_as_usual() -> None:
    """`discover --mine` goes without the command line of `mine`, but not by other rules."""
    command = main.commands["mine"]
    usual = command.make_context("mine", ["example.org", "--langs", "en,fr"]).params
    assert MineOptions(**usual) == MineOptions(sites=("example.org",), langs="en,fr")


def test_no_identifier_is_loaded_to_know_its_languages() -> None:
    code = (
        "import sys; from diptych.commands.options import first_notes;"
        "print(len(first_notes(['en', 'tet'])), 'py3langid' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["1", "False"]

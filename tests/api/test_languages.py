from __future__ import annotations

import subprocess
import sys

import pytest

from diptych.api.languages import first_notes, languages
from diptych.errors import ConfigError


def test_languages_are_a_text_or_a_list() -> None:
    assert languages("en,fr") == languages(["en", "fr"]) == languages(("en", "fr"))


def test_error_on_languages_fits_both_users() -> None:
    with pytest.raises(ConfigError) as raised:
        languages("en")
    assert "--" not in str(raised.value)
    assert "langs" in str(raised.value)
    assert "--langs" in raised.value.for_command_line()


def test_note_names_a_language_that_cannot_be_recognised() -> None:
    (note,) = first_notes(["en", "tet"])
    assert note.startswith("cannot identify tet from text")


def test_language_check_does_not_load_the_identifier() -> None:
    code = (
        "import sys; from diptych.api.languages import first_notes;"
        "print(len(first_notes(['en', 'tet'])), 'py3langid' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["1", "False"]

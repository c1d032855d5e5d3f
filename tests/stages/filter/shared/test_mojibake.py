"""Texts that were read in the wrong encoding."""

from __future__ import annotations

import pytest

from diptych.stages.filter.shared.mojibake import damage


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("Ã©tÃ©", 4),
        ("rÃ©uni", 2),
        ("\ufffdcole \ufffd", 2),
        ("Ã©t\ufffd", 3),
        ("itâ€™s", 2),
        ("ðŸ˜€", 4),
        ("voilÃ ", 2),
        ("Ã l'heure", 2),
        ("Ð¿Ñ€Ð¸", 4),
        ("æ—¥æœ¬", 4),
        ("GrÃ¶ÃŸe", 4),
        ("Škoda, Česko", 0),
        ("Se ”Ändra”", 1),
        ("”Ändra” \ufffd", 2),
        ("”Ändra” ”Ändra”", 4),
    ],
)
def test_damaged_letter_counts_twice_unless_single_and_irreparable(text: str, count: int) -> None:
    assert damage(text) == count


@pytest.mark.parametrize("mark", "»–—’”…")
def test_word_in_capitals_before_a_closing_mark_is_no_damage(mark: str) -> None:
    assert damage(f"AMANHÃ{mark} CORAÇÂ{mark}") == 0

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
        ("Â«ouiÂ»", 4),
        ("Škoda, Česko", 0),
        ("Ä™ Ä® Ä©", 0),
        ("Ãx Âx", 0),
        ("Ä“Ä“", 2),
        ("Ä“ Ä“", 0),
    ],
)
def test_sequence_in_the_wrong_encoding_counts_twice(text: str, count: int) -> None:
    assert damage(text) == count

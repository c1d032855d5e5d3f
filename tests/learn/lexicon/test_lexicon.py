"""Lexicons: lookups, merging and files."""

from __future__ import annotations

import io
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from diptych.errors import ConfigError
from diptych.kernels.tables import table_of
from diptych.learn.lexicon.lexicon import Lexicon, read_lexicon

LINKS = [
    ("haus", "maison", 2.0), ("haus", "chambre", 1.0), ("heim", "maison", 1.0),
    ("北京", "pékin", 1.0), ("x", "y", 0.0),
]  # fmt: skip
LEXICON = Lexicon.of_links("de", "fr", LINKS)


def arrays(lexicon: Lexicon) -> dict[str, np.ndarray]:
    with np.load(io.BytesIO(lexicon.to_bytes()), allow_pickle=False) as stored:
        return dict(stored)


def packed(**parts: np.ndarray) -> bytes:
    stream = io.BytesIO()
    np.savez(stream, **parts)
    return stream.getvalue()


def test_link_weights_become_probabilities_in_both_directions() -> None:
    assert LEXICON.best("haus") == [
        ("maison", pytest.approx(2 / 3)),
        ("chambre", pytest.approx(1 / 3)),
    ]
    assert LEXICON.best("maison", "right") == [
        ("haus", pytest.approx(2 / 3)), ("heim", pytest.approx(1 / 3)),
    ]  # fmt: skip
    assert LEXICON.best("haus", n=1) == LEXICON.best("haus")[:1]
    assert LEXICON.best("nothing") == LEXICON.best("haus", "right") == LEXICON.best("x") == []
    assert len(LEXICON) == 4


def test_equally_probable_words_are_in_alphabetical_order() -> None:
    lexicon = Lexicon.of_links("a", "b", [("x", word, 1) for word in "cabd"])
    assert [word for word, _ in lexicon.best("x")] == list("abcd")


def test_an_empty_lexicon_knows_its_languages() -> None:
    empty = Lexicon.from_bytes(Lexicon.empty("de", "fr").to_bytes())
    assert (empty.left_lang, empty.right_lang, len(empty)) == ("de", "fr", 0)
    assert empty.left_words == empty.right_words == ()
    assert len(Lexicon.of_links("de", "fr", [])) == 0


def test_reversed() -> None:
    turned = LEXICON.reversed()
    assert turned.best("maison") == LEXICON.best("maison", "right")
    assert turned.reversed().to_bytes() == LEXICON.to_bytes()
    assert turned.left_lang == "fr"


def test_lexicons_are_merged_by_word_counts() -> None:
    import dataclasses

    often = dataclasses.replace(
        Lexicon.of_links("de", "fr", [("haus", "demeure", 1.0), ("neu", "nouveau", 1.0)]),
        left_counts=np.array([3, 5], np.float32),
        right_counts=np.array([3, 5], np.float32),
    )
    both = LEXICON.merged(often)
    assert both.best("haus", n=1) == [("demeure", pytest.approx(3 / 4))]
    assert dict(both.best("haus"))["maison"] == pytest.approx(1 / 4 * 2 / 3)
    assert both.best("demeure", "right") == [("haus", 1.0)]
    assert both.best("neu") == [("nouveau", 1.0)]
    assert both.left_counts[both.left_ids["haus"]] == 4
    assert both.left_counts[both.left_ids["neu"]] == 5
    with pytest.raises(ValueError, match="merged"):
        LEXICON.merged(LEXICON.reversed())
    again = LEXICON.merged(Lexicon.empty("de", "fr"))
    assert again.best("haus") == LEXICON.best("haus")


words = st.text(st.characters(codec="utf-8", exclude_characters="\n"), min_size=1, max_size=5)


@given(st.lists(st.tuples(words, words, st.floats(0.01, 9)), max_size=12))
def test_files_keep_everything_and_are_reproducible(links) -> None:
    lexicon = Lexicon.of_links("de", "fr", links)
    data = lexicon.to_bytes()
    again = Lexicon.from_bytes(data)
    assert (again.left_words, again.right_words) == (lexicon.left_words, lexicon.right_words)
    for one, other in ((lexicon.forward, again.forward), (lexicon.backward, again.backward)):
        assert [part.tolist() for part in one] == [part.tolist() for part in other]
    assert again.to_bytes() == data


def test_counts_are_kept() -> None:
    import dataclasses

    counts = np.arange(3, dtype=np.float32)
    kept = Lexicon.from_bytes(dataclasses.replace(LEXICON, left_counts=counts).to_bytes())
    assert kept.left_counts.tolist() == [0, 1, 2]
    assert kept.counts("left").tolist() == [0, 1, 2]
    assert kept.counts("right", 7).tolist() == [7, 7, 7]


DAMAGE = {
    "format": np.array(9),
    "langs": np.frombuffer(b"de", np.uint8),
    "left_words": np.frombuffer(b"a\na\nb", np.uint8),
    "right_words": np.frombuffer(b"\xff\n\n", np.uint8),
    "forward_offsets": np.array([0, 9, 1, 4]),
    "forward_columns": np.array([0, 1, 9, 1], np.int32),
    "forward_values": np.array([0.5, np.nan, 1, 1], np.float32),
    "backward_offsets": np.array([0, 1, 2]),
    "backward_columns": np.array([0, 0, 0, 0], np.int32),
    "backward_values": np.array([2, 1, 1, 1], np.float32),
    "left_counts": np.array([1], np.float32),
    "right_counts": np.array([1, -1, 1], np.float32),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_a_file_with_a_wrong_part_is_refused(name: str) -> None:
    whole = arrays(LEXICON)
    assert Lexicon.from_bytes(packed(**whole)).left_words == LEXICON.left_words
    for part in (DAMAGE[name], whole[name].astype(np.float16), np.array([[1]])):
        with pytest.raises(ConfigError, match="not a Diptych lexicon"):
            Lexicon.from_bytes(packed(**{**whole, name: part}))
    del whole[name]
    with pytest.raises(ConfigError, match="not a Diptych lexicon"):
        Lexicon.from_bytes(packed(**whole))


def test_columns_out_of_order_are_refused() -> None:
    whole = arrays(LEXICON)
    row = slice(*whole["forward_offsets"][:2])
    whole["forward_columns"][row] = whole["forward_columns"][row][::-1]
    with pytest.raises(ConfigError, match="order"):
        Lexicon.from_bytes(packed(**whole))


def test_objects_are_never_read() -> None:
    whole: dict[str, np.ndarray] = {**arrays(LEXICON), "langs": np.array(["de", object()])}
    with pytest.raises(ConfigError, match="not a Diptych lexicon"):
        Lexicon.from_bytes(packed(**whole))


def test_damaged_files_are_refused_or_unchanged() -> None:
    data, chance = LEXICON.to_bytes(), random.Random(1)
    for _ in range(300):
        broken = bytearray(data)
        for _ in range(chance.randint(1, 4)):
            broken[chance.randrange(len(broken))] = chance.randrange(256)
        try:
            read = Lexicon.from_bytes(bytes(broken[: chance.choice([len(data), 50, 200])]))
        except ConfigError:
            continue
        assert read.left_words == LEXICON.left_words
    for nothing in (b"", b"PK", b"hello" * 100):
        with pytest.raises(ConfigError, match="not a Diptych lexicon"):
            Lexicon.from_bytes(nothing)


def test_a_decompression_bomb_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = {**arrays(LEXICON), "left_words": np.zeros(1 << 20, np.uint8)}
    stream = io.BytesIO()
    np.savez_compressed(stream, **whole)
    monkeypatch.setattr("diptych.learn.lexicon.lexicon.MAX_BYTES", 1 << 19)
    with pytest.raises(ConfigError, match="too large"):
        Lexicon.from_bytes(stream.getvalue())


def test_reading_says_which_file_is_wrong(tmp_path) -> None:
    path = tmp_path / "x.npz"
    with pytest.raises(ConfigError, match=r"cannot read .*x\.npz: No such file"):
        read_lexicon(path)
    path.write_bytes(b"nonsense")
    with pytest.raises(
        ConfigError, match=r"x\.npz is not a Diptych lexicon: .*diptych lexicon import"
    ):
        read_lexicon(path)
    path.write_bytes(LEXICON.to_bytes())
    assert read_lexicon(path).best("haus") == LEXICON.best("haus")


def test_a_table_sums_equal_cells() -> None:
    table = table_of(np.array([2, 2, 0]), np.array([1, 1, 0]), np.array([0.25, 0.5, 1]), 4)
    assert [part.tolist() for part in table] == [[0, 1, 1, 2, 2], [0, 1], [1.0, 0.75]]

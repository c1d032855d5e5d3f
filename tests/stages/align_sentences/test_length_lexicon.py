"""Sentences aligned by lengths and words, of texts that were made so that the truth is known."""

from __future__ import annotations

import random
import tracemalloc
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diptych.learn.lexicon.lexicon import Lexicon
from diptych.stages.align_sentences.length_lexicon import LengthLexicon
from diptych.stages.align_sentences.shared import passes
from diptych.text.lengths import text_length
from diptych.types import Bead

NOTHING = Lexicon.empty("de", "fr")
Pairs = set[tuple[tuple[int, ...], tuple[int, ...]]]


def shapes(beads: Sequence[Bead]) -> list[tuple[int, int]]:
    return [(len(bead.left), len(bead.right)) for bead in beads]


def pairs(beads: Sequence[Bead]) -> Pairs:
    return {(bead.left, bead.right) for bead in beads}


def diagonal(count: int) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    return [((n,), (n,)) for n in range(count)]


def align(
    left: Sequence[str], right: Sequence[str], lexicon: Lexicon = NOTHING, **options: int
) -> list[Bead]:
    beads = LengthLexicon(**options).align(left, right, lexicon)
    assert [index for bead in beads for index in bead.left] == list(range(len(left)))
    assert [index for bead in beads for index in bead.right] == list(range(len(right)))
    assert all(0 < bead.score <= 1 for bead in beads)
    return beads


def made(count: int, *, seed: int, vocabulary: int = 60) -> tuple[list[str], list[str]]:
    """A text and its translation word by word, in two languages that have no word in common."""
    chance = random.Random(seed)

    def word() -> str:
        return "".join(
            chance.choice("bdfgklmnprst") + chance.choice("aeiou")
            for _ in range(chance.randint(2, 4))
        )

    left = [word() for _ in range(vocabulary)]
    right = ["x" + word() for _ in range(vocabulary)]
    texts: tuple[list[str], list[str]] = ([], [])
    for _ in range(count):
        # Some words are everywhere, as in any language.
        ids = [
            min(int(chance.paretovariate(0.6)) - 1, vocabulary - 1)
            if chance.random() < 0.5
            else chance.randrange(vocabulary)
            for _ in range(chance.randint(3, 14))
        ]
        for text, words in zip(texts, (left, right), strict=True):
            text.append(" ".join(words[number] for number in ids) + ".")
    return texts


# -- kinds of beads ----------------------------------------------------------------------------


@pytest.mark.parametrize("many", [1, 2, 3, 4])
def test_one_sentence_may_be_several(many: int) -> None:
    long = "Im Jahr 1956 kam das Schiff aus dem hohen Norden mit Holz und Eisen an Bord hierher. "
    left = ["Der Hafen ist alt.", long * many, "Heute hat er ein Museum, das im Sommer offen ist."]
    right = [left[0].upper(), *[long.upper()] * many, left[2].upper()]
    expected = [((0,), (0,)), ((1,), tuple(range(1, many + 1))), ((2,), (many + 1,))]
    assert [bead[:2] for bead in align(left, right)] == expected
    assert [bead[:2] for bead in align(right, left)] == [(b, a) for a, b in expected]


def test_two_may_be_two_others() -> None:
    left = ["x" * 20, "x" * 110, "y" * 60]
    right = ["v" * 90, "v" * 40, "w" * 60]
    assert shapes(align(left, right)) == [(2, 2), (1, 1)]


def test_sentence_without_counterpart_stays_alone() -> None:
    left = ["In 1956 the ships came.", "Nothing of this kind is said over there at all, nowhere.",
            "In 1957 they left again.", "In 1958 the harbour was closed."]  # fmt: skip
    right = ["En 1956, on vit les navires.", "En 1957, ils repartirent.", "En 1958, on le ferma."]
    assert [bead[:2] for bead in align(left, right)] == [
        ((0,), (0,)), ((1,), ()), ((2,), (1,)), ((3,), (2,)),
    ]  # fmt: skip


def test_gap_is_a_parameter() -> None:
    # With gaps that are as likely as pairs, lengths that hardly fit are two gaps.
    left, right = ["x" * 50], ["v" * 88]
    assert shapes(align(left, right)) == [(1, 1)]
    assert (1, 1) not in shapes(LengthLexicon(gap=0.9).align(left, right, NOTHING))


def test_surer_beads_score_higher() -> None:
    sure = align(["Der K2 ist 8611 m hoch."], ["Le K2 a 8611 m de haut."])
    unsure = align(["Der K2 ist 8611 m hoch."], ["Une belle petite maison au bord de la rivière."])
    assert sure[0].score > 0.99
    assert unsure[0].score < sure[0].score


# -- what words say ----------------------------------------------------------------------------


@pytest.mark.parametrize("place", [0, 1])
def test_number_decides_where_lengths_cannot(place: int) -> None:
    right = ["Puis il fait beau, et toute la ville est dehors, au bord de la mer ou au parc."] * 2
    right[place] = "La mer monta en 1956 de trois pieds, et toute la ville fut sous les eaux."
    left = ["Das Meer stieg 1956 um drei Fuß, und die ganze Stadt stand unter Wasser."]
    assert ((0,), (place,)) in pairs(align(left, right))


@pytest.mark.parametrize("place", [0, 1])
def test_lexicon_decides_where_nothing_else_can(place: int) -> None:
    lexicon = Lexicon.of_links("de", "fr", [("hunde", "chiens", 1), ("schläft", "dort", 1)])
    right = ["w" * 50 + " le chat mange " + "w" * 40] * 2
    right[place] = right[0].replace("chat mange", "chien dort")
    left = ["y" * 50 + " der hund schläft " + "y" * 40]
    assert ((0,), (place,)) in pairs(align(left, right, lexicon))
    assert align(left, right) == align(left, right[::-1])  # nothing else tells them apart


def test_second_pass_improves_on_the_first() -> None:
    left, right = made(80, seed=5)
    kept = [number for number in range(80) if number % 9 != 4]
    truth = {((number,), (place,)) for place, number in enumerate(kept)}
    right = [right[number] for number in kept]
    once, twice = (len(truth & pairs(align(left, right, passes=n))) for n in (1, 2))
    assert once < 0.9 * len(truth)
    assert twice > 0.94 * len(truth)


def test_nothing_is_learned_from_a_short_text(monkeypatch: pytest.MonkeyPatch) -> None:
    taught: list[int] = []
    teach = passes._with_learned_words

    def counted(left, right, *rest):
        taught.append(min(len(left), len(right)))
        return teach(left, right, *rest)

    monkeypatch.setattr(passes, "_with_learned_words", counted)
    left, right = made(40, seed=1)
    align(left[:11], right)
    align(left, right[:11])
    assert taught == []
    align(left[:12], right[:12])
    assert taught == [12, 12]
    align(left, right, passes=1)
    align(left, right, least=41)
    assert taught == [12, 12]


# -- long texts --------------------------------------------------------------------------------


@pytest.mark.slow
def test_long_text_with_a_long_insertion_in_bounded_memory() -> None:
    left, right = made(3_000, seed=1, vocabulary=400)
    other, _ = made(400, seed=9, vocabulary=300)
    chance = random.Random(3)
    for number in range(0, 3_000, 5):  # real texts have years, prices and names
        year = f" {chance.randint(1_000, 3_000)}"
        left[number], right[number] = left[number] + year, right[number] + year
    truth = {((n,), (n if n < 1_200 else n + 400,)) for n in range(3_000)}
    tracemalloc.start()
    beads = align(left, [*right[:1_200], *other, *right[1_200:]])
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(truth & pairs(beads)) > 2_900
    # All 10 million points with 13 kinds of beads would take 500 MB.
    assert peak < 60_000_000


def test_texts_of_very_different_lengths() -> None:
    left, right = made(900, seed=2)
    beads = align(left, right[:7])
    assert sum(bool(bead.left and bead.right) for bead in beads) <= 7
    assert shapes(align(left, [])) == [(1, 0)] * 900
    assert shapes(align([], right)) == [(0, 1)] * 900


# -- all languages and none --------------------------------------------------------------------

ENGLISH = [
    "The mountain is 8611 metres high.",
    "In 1954 two people from Italy stood on its top for the first time.",
    "Many have died there.",
    "The best time to climb it is in July and August, when 20 or more days are without snow.",
]


@pytest.mark.parametrize(
    ("lang", "sentences"),
    [
        ("zh", ["这座山高8611米。", "1954年，两名来自意大利的人首次登上了它的顶峰。",
                "许多人在那里丧生。", "攀登它的最佳时间是七月和八月，那时有20天或更多天没有雪。"]),
        ("ja", ["この山の高さは8611メートルです。",
                "1954年、イタリア出身の二人が初めてその頂上に立ちました。",
                "多くの人がそこで亡くなりました。",
                "登るのに最適な時期は7月と8月で、雪のない日が20日以上あります。"]),
        ("th", ["ภูเขาลูกนี้สูง 8611 เมตร", "ในปี 1954 ชาวอิตาลีสองคนยืนอยู่บนยอดเขาเป็นครั้งแรก",
                "มีคนตายที่นั่นมากมาย",
                "เวลาที่ดีที่สุดในการปีนคือเดือนกรกฎาคมและสิงหาคม ซึ่งมี 20 วันขึ้นไปที่ไม่มีหิมะ"]),
        ("ar", ["يبلغ ارتفاع الجبل ٨٦١١ مترا.",
                "في عام 1954 وقف شخصان من إيطاليا على قمته لأول مرة.",
                "مات الكثيرون هناك.",
                "أفضل وقت لتسلقه هو في يوليو وأغسطس، عندما يكون هناك 20 يوما أو أكثر بدون ثلوج."]),
    ],
    ids=["zh", "ja", "th", "ar"],
)  # fmt: skip
def test_scripts_without_spaces_and_from_right_to_left(lang: str, sentences: list[str]) -> None:
    lexicon = Lexicon.empty("en", lang)
    assert [bead[:2] for bead in align(ENGLISH, sentences, lexicon)] == diagonal(4)
    # One of them is cut in two, as translators do.
    cut = [*ENGLISH[:3], *ENGLISH[3].replace("August, ", "August,\n").split("\n")]
    assert shapes(align(cut, sentences, lexicon)) == [(1, 1), (1, 1), (1, 1), (2, 1)]


@pytest.mark.parametrize("spoiled", ["\x00", "\u202e", "\ufeff", "\ud800", "\r\n\t", "\x1b[2J"])
def test_control_characters_and_halves_are_only_noise(spoiled: str) -> None:
    right = [f"{spoiled}{text[:5]}{spoiled}{text[5:]}{spoiled}" for text in ENGLISH]
    lexicon = Lexicon.empty("en", "fr")
    assert [bead[:2] for bead in align(ENGLISH, right, lexicon)] == diagonal(4)


def test_empty_sentences_have_a_place() -> None:
    left, right = ["", ENGLISH[0], "", " ", ENGLISH[1]], [ENGLISH[0], "", ENGLISH[1], ""]
    beads = align(left, right)
    both = {(bead.left, bead.right) for bead in beads if bead.left and bead.right}
    assert any(1 in ours and 0 in theirs for ours, theirs in both)
    assert any(4 in ours and 2 in theirs for ours, theirs in both)
    align([""] * 300, [""] * 250)
    align([""] * 20, ENGLISH * 5)


@pytest.mark.slow
def test_sentence_of_a_megabyte_on_one_side_and_on_both() -> None:
    huge = " ".join(made(20_000, seed=8, vocabulary=3_000)[0])
    assert len(huge) > 1_000_000
    around = [ENGLISH[0], huge, ENGLISH[1]]
    # It does not spoil what is around it.
    assert {((0,), (0,)), ((2,), (2,))} <= pairs(align(around, around))
    assert {((0,), (0,)), ((2,), (1,))} <= pairs(align(around, ENGLISH[:2]))
    align([huge], [huge.replace(" ", "")])
    align([huge], ["x"] * 300)


def test_same_text_twice_in_one_language() -> None:
    left, _ = made(300, seed=3)
    lexicon = Lexicon.empty("en", "en")
    beads = align(left, left, lexicon)
    assert [bead[:2] for bead in beads] == diagonal(300)
    assert min(bead.score for bead in beads) > 0.9


@pytest.mark.parametrize("count", [1, 5, 50, 500])
def test_sentences_that_are_all_equal_are_paired_in_order(count: int) -> None:
    same = ["Das ist immer das Gleiche."] * count
    assert [bead[:2] for bead in align(same, same)] == diagonal(count)
    # What there is more of has no place of its own, and nothing is lost.
    align(same, same[: count // 2])


# -- the same whatever the order ---------------------------------------------------------------

SENTENCES = st.lists(
    st.lists(
        st.sampled_from("der hund 1956 berge montagnes paris la mer ist groß. ok".split()),
        max_size=9,
    ).map(" ".join),
    max_size=16,
)


def test_same_input_has_the_same_output() -> None:
    left, right = made(300, seed=4)
    assert align(left, right[:250]) == align(left, right[:250])


def likelihood(beads: Sequence[Bead]) -> float:
    """What the aligner makes as high as it can: how probable all beads are, summed."""
    return sum(bead.score for bead in beads)


@given(SENTENCES, SENTENCES)
def test_exchanged_sides_give_mirrored_beads(left: list[str], right: list[str]) -> None:
    # Exactly so only between texts of one length: deviations are measured in letters of the right.
    sizes = [sum(map(text_length, text)) for text in (left, right)]
    left = [*left, "x" * int(max(sizes) - sizes[0])]
    right = [*right, "v" * int(max(sizes) - sizes[1])]
    there, back = align(left, right, passes=1), align(right, left, NOTHING.reversed(), passes=1)
    # Of ways that are equally good either may be taken.
    assert likelihood(there) == pytest.approx(likelihood(back), abs=1e-3)


def test_exchanged_sides_of_a_longer_text_give_mirrored_beads() -> None:
    left, right = made(300, seed=6)
    right = [text for number, text in enumerate(right) if number % 11]
    there, back = align(left, right), align(right, left, NOTHING.reversed())
    assert pairs(there) == {(ours, theirs) for theirs, ours in pairs(back)}
    assert likelihood(there) == pytest.approx(likelihood(back), rel=1e-3)

"""Pages paired by what they say, on sites whose URLs and links say nothing."""

from __future__ import annotations

import random

import numpy as np
import pytest
from support.fakes import FakeSite, at, paths
from support.sketches import known

from diptych.kernels import nearest as kernel
from diptych.learn.lexicon.lexicon import Lexicon
from diptych.registry import make
from diptych.stages.pair.content import Content, content_scores
from diptych.stages.pair.shared.page_languages import page_languages
from diptych.stages.pair.shared.pages_by_language import pages_by_language
from diptych.stages.pair.shared.similarity import SideBySide
from diptych.types import Sketch

LETTERS = "abcdefghijklmnopqrstuvwxyz"


def opaque(number: int) -> str:
    """An address that tells nothing."""
    return "/" + "".join(random.Random(number).choices(LETTERS, k=8))


def site(english: list[str | Sketch], french: list[str | Sketch]) -> FakeSite:
    """Pages in two languages behind opaque addresses; the same places are translations."""
    built = FakeSite("en", "fr")
    for side, (lang, pages) in enumerate((("en", english), ("fr", french))):
        for place, page in enumerate(pages):
            url = opaque(2 * place + side)
            built.page(url, lang)
            built.sketch(url, known(page, tags="pq" * 9) if isinstance(page, str) else page)
    return built


def numbers(built: FakeSite, pairer: Content | None = None) -> list[tuple[int, int]]:
    """The pairs found, by the numbers of their pages."""
    places = {opaque(number): number // 2 for number in range(2 * len(built.pages) + 2)}
    found = (pairer or Content()).pair(built)
    return sorted((places[left], places[right]) for left, right in paths(found))


def same(count: int) -> list[tuple[int, int]]:
    return [(number, number) for number in range(count)]


WORDS = {
    "en": "lamp tower keeper storm winter island harbour signal rescue stairs glass engine".split(),
    "fr": "feu phare garde orage hiver ile quai alarme sauver marche verre moteur".split(),
}
STEMS = {lang: [word[:5] for word in words] for lang, words in WORDS.items()}
DICTIONARY = Lexicon.of_links(
    "en", "fr", ((one, other, 1.0) for one, other in zip(*WORDS.values(), strict=True))
)


def text(lang: str, number: int) -> str:
    """Words of a page, the same ones in either language."""
    return " ".join(STEMS[lang][place] for place in random.Random(number).sample(range(12), 6))


def test_opaque_addresses_are_paired_by_numbers() -> None:
    years = [f"18{number} {number * 7 + 1000}" for number in range(10, 22)]
    built = site([f"the {year}" for year in years], [f"le {year}" for year in years])
    found = Content().pair(built)
    assert numbers(built) == same(12)
    assert {(pair.left_lang, pair.right_lang, pair.evidence) for pair in found} == {
        ("en", "fr", "content")
    }
    assert [pair.score for pair in found] == sorted((pair.score for pair in found), reverse=True)
    assert all(0 < pair.score < 1 for pair in found)


def test_opaque_addresses_are_paired_by_names() -> None:
    names = "ahab bligh cook drake eriks franz gama hudso ivers james kidd lazar".split()
    built = site([f"the {name}" for name in names], [f"le {name} et" for name in names])
    assert numbers(built) == same(12)


def test_opaque_addresses_are_paired_by_pictures() -> None:
    built = site(
        [f"{text('en', n)} {n}.png logo.png" for n in range(12)],
        [f"{text('fr', n)} {n}.png logo.png" for n in range(12)],
    )
    assert numbers(built) == same(12)


def test_words_alone_pair_only_with_a_lexicon() -> None:
    built = site([text("en", n) for n in range(12)], [text("fr", n) for n in range(12)])
    assert Content().pair(built) == []
    assert numbers(built.know(DICTIONARY)) == same(12)


def test_features_of_all_pages_pair_nothing() -> None:
    built = site(["gnu 1899 logo.png"] * 12, ["gnu 1899 logo.png"] * 12)
    assert Content().pair(built) == []


def test_near_copies_in_one_language_do_not_take_each_others_partner() -> None:
    # A manual in three versions, each with its own number.
    english = [
        f"gnu manual chapter 10{part} version 2.{v} v{v}" for part in range(4) for v in "123"
    ]
    french = [
        f"gnu manuel chapitre 10{part} version 2.{v} v{v}" for part in range(4) for v in "123"
    ]
    pairs = [
        (known(one.replace("2.", "20"), tags="pq"), known(other.replace("2.", "20"), tags="pq"))
        for one, other in zip(english, french, strict=True)
    ]
    built = site([one for one, _ in pairs], [other for _, other in pairs])
    assert numbers(built) == same(12)


def test_an_untranslated_copy_is_no_translation() -> None:
    # Behind a French address lies the English page itself, read as French for its menu.
    built = site(
        [known(f"18{n}", block=7 if n == 10 else 0) for n in range(10, 14)],
        [known(f"18{n}", block=7 if n == 10 else 0) for n in range(10, 14)],
    )
    assert numbers(built) == [(1, 1), (2, 2), (3, 3)]


def test_structure_decides_between_pages_with_the_same_content() -> None:
    built = site(
        [known("1899", tags="abcabc", blocks=((1, 900.0),)), "x"],
        [known("1899", tags="zzzzzzzzz", blocks=((2, 10.0),)),
         known("1899", tags="abcabc", blocks=((3, 900.0),)), "y", "z"],
    )  # fmt: skip
    assert numbers(built) == [(0, 1)]


def test_a_page_has_one_partner() -> None:
    built = site(["1899 1900", "1899", "x"], ["1899 1900", "1900", "y"])
    found = Content(least=0.01).pair(built)
    for side in ([pair.left for pair in found], [pair.right for pair in found]):
        assert len(set(side)) == len(side)


def test_pages_that_have_no_counterpart_stay_alone() -> None:
    english = [f"18{number} {number * 7 + 1000}" for number in range(10, 22)]
    built = site(english, english[:6])
    assert numbers(built) == same(6)


def test_three_languages_are_paired_two_by_two() -> None:
    built = FakeSite("en", "fr", "de")
    for number in range(5):
        for lang in built.langs:
            url = f"/{lang}{number * 31 % 7}"
            built.page(url, lang).sketch(url, known(f"18{number}"))
    assert len(Content().pair(built)) == 15


def test_parameters_are_those_of_a_recipe() -> None:
    built = site([f"18{n}" for n in range(5)], [f"18{n}" for n in range(5)])
    assert numbers(built, make("pair", {"use": "content", "candidates": 1})) == same(5)
    assert Content(least=1.1).pair(built) == []
    assert Content(candidates=0).pair(built) == []


@pytest.mark.parametrize(
    ("english", "french"),
    [([], []), (["1899"], []), ([], ["1899"]), (["1899"], ["1899"]), ([""], [""]),
     (["", ""], ["1"])],
)  # fmt: skip
def test_small_sites_are_paired(english: list[str], french: list[str]) -> None:
    for lexicon in (Lexicon.empty("en", "fr"), DICTIONARY):
        found = Content().pair(site(english, french).know(lexicon))
        assert len(found) <= min(len(english), len(french))


# The score


def test_the_score_is_as_documented() -> None:
    def score(**measures: float) -> float:
        values = {"shared": 0.0, "translated": 0.0, "tags": 1.0, "sizes": 0.0, "copied": 0.0}
        arrays = {
            name: np.array([value], np.float32) for name, value in (values | measures).items()
        }
        return float(content_scores(arrays)[0])

    assert score() == 0
    assert score(shared=0.8) == score(translated=0.8) == pytest.approx(0.8)
    assert score(shared=0.8, translated=0.3) == pytest.approx(0.8)
    assert score(shared=0.8, tags=0.0) == pytest.approx(0.8 * 0.75)
    assert score(shared=0.8, sizes=np.log(2)) == pytest.approx(0.8 * (0.5 + 0.625 / 2))
    assert score(shared=0.8, copied=0.5) == pytest.approx(0.4)
    assert score(shared=0.8, copied=1.0) == 0


# Work


def seen(built: FakeSite, budget: int) -> int:
    """Entries of the index that a kernel looks at for all pages of the left language."""
    pages_of = pages_by_language(built, page_languages(built))
    left, right = SideBySide(pages_of["en"], pages_of["fr"], Lexicon.empty("en", "fr")).units
    sizes = np.diff(right.turned().offsets)
    total = 0
    for row in range(len(left)):
        spent = np.cumsum(sizes[left.features[left.offsets[row] : left.offsets[row + 1]]])
        total += int(spent[spent <= budget].max(initial=0))
    return total


def test_pages_that_differ_in_one_number_are_found_with_bounded_work() -> None:
    """Work is counted in entries of the index, not in time."""
    count, budget = 3_000, 50_000
    common = " ".join(f"w{number}" for number in range(60))
    built = FakeSite("en", "fr")
    for number in range(count):
        for lang in built.langs:
            url = f"/{lang}/{number * 7919 % count}"
            built.page(url, lang).sketch(url, known(f"{common} 1000{number}"))
    # All compared with all would be sixty words of each page with as many pages.
    assert seen(built, budget) <= count * budget < count * count * 60
    found = Content().pair(built)
    by_number = {pair.left: pair.right for pair in found}
    assert len(by_number) == count
    assert all(
        left.rpartition("/")[2] == right.rpartition("/")[2] for left, right in by_number.items()
    )


def test_no_page_is_compared_with_more_than_its_candidates(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    measure = kernel.products
    monkeypatch.setattr(
        "diptych.stages.pair.shared.similarity.products",
        lambda left, right, ours, theirs: (
            asked.append(len(ours)) or measure(left, right, ours, theirs)
        ),
    )
    built = site(["gnu 18 19 20"] * 100 + ["x"] * 50, ["gnu 18 19 20"] * 100 + ["y"] * 50)
    Content(candidates=3).pair(built)
    assert asked
    assert max(asked) <= 3 * len(built.pages)


def test_urls_and_links_are_ignored() -> None:
    built = FakeSite("en", "fr")
    for number in range(6):
        built.page(f"/en/{number}", "en").page(f"/fr/{number}", "fr")
        built.alternates(f"/en/{number}", f"/fr/{number}")
    assert Content().pair(built) == []
    for number in range(6):
        built.sketch(f"/en/{number}", known(f"18{number}"))
        built.sketch(f"/fr/{number}", known(f"18{5 - number}"))
    found = dict(paths(Content().pair(built)))
    assert found == {f"/en/{number}": f"/fr/{5 - number}" for number in range(6)}
    assert at("/en/0") in page_languages(built)

from __future__ import annotations

import random
from itertools import product

import pytest
from support.fakes import FakeSite, at, paths, sketch_of
from support.timing import processor_seconds

from diptych.learn.lexicon.lexicon import Lexicon
from diptych.stages.pair import pti
from diptych.stages.pair.pti import Pti, WordList, generated_names, similarity, word_list

SIZE = 400
# Words that differ in their stems, and look alike in no way that counts.
ENGLISH = [f"{a}{b}{c}" for a, b, c in product("abcdefgh", "klmnopqr", "stuvwxyz")][:SIZE]
FRENCH = [word[::-1] + "q" for word in ENGLISH]


def dictionary(size: int = SIZE) -> Lexicon:
    return Lexicon.of_links("en", "fr", [(ENGLISH[i], FRENCH[i], 1.0) for i in range(size)])


def add(site: FakeSite, url: str, lang: str, topics: list[int], *, unknown: int = 0) -> FakeSite:
    words = [(ENGLISH if lang == "en" else FRENCH)[topic] for topic in topics]
    return site.page(
        url, lang, " ".join([*words, *(f"x{lang}z{n}" for n in range(unknown))])
    ).sketch(url)


def opaque(pages: int, words: int = 30, *, seed: int = 0) -> tuple[FakeSite, set[tuple[str, str]]]:
    """Pages whose names say nothing, each with its translation."""
    chance = random.Random(seed)
    site, gold = FakeSite("en", "fr"), set()
    for number in range(pages):
        topics = chance.sample(range(SIZE), words)
        left, right = f"/{number * 7919 % 99991}", f"/x/{number * 104729 % 99991}"
        add(add(site, left, "en", topics), right, "fr", topics)
        gold.add((left, right))
    return site.know(dictionary()), gold


@pytest.mark.parametrize(
    ("left", "right", "langs"),
    [
        ("/en-news.htm", "/ch-news.htm", ("en", "zh")),  # the example of the paper
        ("/2004/0107e.htm", "/2004/0107c.htm", ("en", "zh")),
        ("/en/a.htm", "/fr/a.htm", ("en", "fr")),
        ("/indexen.htm", "/indexfr.htm", ("en", "fr")),
        ("/a_eng.htm", "/a_fra.htm", ("en", "fr")),
        ("/English/a", "/French/a", ("en", "fr")),
        ("/EN/a", "/FR/a", ("en", "fr")),
        ("/en/a_en.htm", "/fr/a_fr.htm", ("en", "fr")),
        ("/en/a_en.htm", "/en/a_fr.htm", ("en", "fr")),
        ("/a?l=en", "/a?l=fr", ("en", "fr")),
    ],
)
def test_names_of_the_counterpart_are_generated(
    left: str, right: str, langs: tuple[str, str]
) -> None:
    assert at(right) in generated_names(at(left), *langs)


def test_hosts_and_inner_parts_of_words_are_no_file_names() -> None:
    assert generated_names("http://en.a.org/x", "en", "fr") == []
    assert not any("frt" in name for name in generated_names("http://a.org/centre", "en", "fr"))


def test_names_decide_first() -> None:
    site = FakeSite("en", "fr").page("/help_en", "en").page("/help_fr", "fr").page("/aide_fr", "fr")
    (pair,) = Pti().pair(site)
    assert (*paths([pair]), pair.score, pair.evidence) == (("/help_en", "/help_fr"), 0.9, "pti")


def test_without_a_word_list_only_names_decide() -> None:
    site = add(add(FakeSite("en", "fr"), "/17", "en", [*range(20)]), "/18", "fr", [*range(20)])
    assert Pti().pair(site) == []
    assert paths(Pti().pair(site.know(dictionary()))) == [("/17", "/18")]


def test_a_page_whose_name_decided_is_not_compared() -> None:
    site = FakeSite("en", "fr").know(dictionary())
    add(add(site, "/en/a", "en", [*range(20)]), "/fr/a", "fr", [*range(50, 70)])
    add(site, "/other", "fr", [*range(20)])
    assert paths(Pti().pair(site)) == [("/en/a", "/fr/a")]


def test_content_pairs_pages_without_language_in_their_names() -> None:
    site, gold = opaque(40)
    pairs = Pti().pair(site)
    assert set(paths(pairs)) == gold
    assert all(0.9 < pair.score < 1 and pair.evidence == "pti" for pair in pairs)


def test_pages_must_be_more_similar_than_the_threshold() -> None:
    site = FakeSite("en", "fr").know(dictionary())
    # 18 of 20 words of each page have their translation on the other: 0.9 is not more than 0.9.
    add(site, "/1", "en", [*range(20)])
    add(site, "/2", "fr", [*range(18), 50, 51])
    assert Pti().pair(site) == []
    (pair,) = Pti(similarity=0.89).pair(site)
    assert pair.score == pytest.approx(0.9)


def test_pages_of_other_sizes_are_no_candidates() -> None:
    site = FakeSite("en", "fr").know(dictionary())
    add(site, "/1", "en", [*range(20)])
    add(site, "/2", "fr", [*range(20)], unknown=21)
    assert Pti().pair(site) == []
    assert len(Pti(size_ratio=2.1).pair(site)) == 1


def test_pages_with_too_few_known_words_are_not_compared() -> None:
    site = FakeSite("en", "fr").know(dictionary())
    add(add(site, "/1", "en", [*range(9)]), "/2", "fr", [*range(9)])
    assert Pti().pair(site) == []
    assert len(Pti(least_words=9).pair(site)) == 1


def test_a_word_list_is_of_stems() -> None:
    lexicon = Lexicon.of_links(
        "en", "fr", [("lighthouses", "phares", 1), ("lighter", "briquet", 1), ("sea", "mer", 1)]
    )
    words = word_list(lexicon)
    assert sorted(words.left_ids) == ["light", "sea"]
    assert sorted(words.right_ids) == ["brique"[:5], "mer", "phare"]
    known = words.translations[words.left_ids["light"]]
    assert known == {words.right_ids["phare"], words.right_ids["briqu"]}


def test_improbable_translations_are_on_no_word_list() -> None:
    links = [("a", f"common{n}"[-5:], 1.0) for n in range(10, 40)]
    links += [(f"b{n}", f"common{n}"[-5:], 30.0) for n in range(10, 40)]
    words = word_list(Lexicon.of_links("en", "fr", links))
    assert "a" not in words.left_ids
    assert len(words.left_ids) == 30
    assert word_list(Lexicon.empty("en", "fr")) == WordList({}, {}, [])


def test_similarity_counts_words_of_both_pages_once() -> None:
    words = WordList({}, {}, [{0, 1}, {1}, {2}])
    assert similarity({0, 1, 2}, {0, 1, 2}, words) == 1.0
    assert similarity({0}, {0, 1}, words) == 1.0
    assert similarity({0, 2}, {1, 3}, words) == 0.5
    assert similarity(set(), set(), words) == 0.0


def test_no_pair_is_missed_by_the_index() -> None:
    """What all with all would find, on pages that share most of their words."""
    chance = random.Random(3)
    site = FakeSite("en", "fr").know(dictionary(60))
    base = [*range(40)]
    for number in range(25):
        for lang in ("en", "fr"):
            topics = sorted({*chance.sample(base, 36), *chance.sample(range(40, 60), 4)})
            add(site, f"/{lang}x{number * 3 + (lang == 'fr')}q", lang, topics)
    words = word_list(dictionary(60))
    pages = {
        lang: [
            (url, {ids[word] for word in sketch_of(site.read(url)).bag})
            for url, record in site.pages.items()
            if record.lang == lang
        ]
        for lang, ids in (("en", words.left_ids), ("fr", words.right_ids))
    }
    scores = [
        similarity(one, other, words) for (_, one), (_, other) in product(pages["en"], pages["fr"])
    ]
    best = max(scores)
    assert best < 1
    found = Pti(similarity=best - 0.01).pair(site)
    assert found
    assert found[0].score == pytest.approx(best)


def test_a_site_of_copies_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    compared = []
    whole = similarity

    def counted(*pair: object) -> float:
        compared.append(pair)
        return whole(*pair)  # type: ignore[arg-type]

    monkeypatch.setattr(pti, "similarity", counted)
    site = FakeSite("en", "fr").know(dictionary())
    for number in range(150):
        add(add(site, f"/{number}", "en", [*range(30)]), f"/x/{number}", "fr", [*range(30)])
    with processor_seconds(10):  # measured: 0.6
        assert len(Pti().pair(site)) >= 50
    assert len(compared) <= 150 * 50

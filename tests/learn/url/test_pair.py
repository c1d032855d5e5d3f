"""The URL pair model: its probabilities and its files."""

from __future__ import annotations

import io
import pickle
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.examples import examples
from support.tinymodel import tiny_model
from support.urlmodels import FakeLanguages
from support.urlpieces import ODD, urls

from diptych.errors import ConfigError
from diptych.learn import trees
from diptych.learn.url import language as url_lang
from diptych.learn.url import pair_features as url_features
from diptych.learn.url.pair import ALL_NAMES, UrlPair, all_features, load
from diptych.learn.url.pair_features import NAMES

X = "http://x.org"


@pytest.fixture(scope="module", autouse=True)
def _languages() -> Iterator[None]:
    """A fake predicts the languages of URLs, so that tests do not depend on shipped weights."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(url_lang, "load", lambda folder="": FakeLanguages())
        yield


@pytest.fixture(scope="module")
def model() -> UrlPair:
    return tiny_model()


@pytest.fixture(scope="module")
def folder(model: UrlPair, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models") / "new" / "url_pair"
    model.save(str(folder))
    return folder


def probability(model: UrlPair, left: str, right: str) -> float:
    return float(model.probabilities([left], [right])[0])


def test_parallel_urls_are_more_probable(model: UrlPair) -> None:
    good = probability(model, f"{X}/en/water-music-3.html", f"{X}/fr/water-music-3.html")
    assert good > 0.5
    assert good > probability(model, f"{X}/en/water-music-3.html", f"{X}/fr/sea-bread-4.html")
    assert good > probability(model, f"{X}/fr/water-music-3.html", f"{X}/fr/water-bread-3.html")


def test_a_saved_model_gives_the_same_probabilities(model: UrlPair, folder: Path) -> None:
    again = load(str(folder))
    lefts = [f"{X}/en/{word}" for word in ("water", "sea", "unknown")]
    rights = [f"{X}/fr/{word}" for word in ("eau", "mer", "autre")]
    assert np.array_equal(again.probabilities(lefts, rights), model.probabilities(lefts, rights))
    assert again.forest.base == model.forest.base
    assert [path.name for path in folder.iterdir()] == ["model.npz"]


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (f"{X}/en/water", f"{X}/en/water"),
        (f"{X}/en/water", "https://www.x.org/en/water/"),  # the same page, in all likelihood
        ("", ""),
        ("", f"{X}/fr/a"),
        (f"{X}/en/a", "mailto:fr@x.org"),
        ("javascript:void(0)", f"{X}/fr/a"),
        (f"{X}/en/a", "data:text/html,fr"),
        (f"{X}/en/a", "ftp://x.org/fr/a"),
        (f"{X}/en/a", "file:///fr/a"),
        (f"{X}/en/a", "urn:isbn:12"),
        (f"{X}/en/a", "http:///fr/a"),
        (f"{X}/en/a", "/fr/a"),
        (f"{X}/en/a", "?lang=fr"),
        (f"{X}/en/a", "#fr"),
    ],
)
def test_probability_is_zero_unless_both_are_different_web_pages(
    model: UrlPair, left: str, right: str
) -> None:
    assert probability(model, left, right) == 0
    assert probability(model, right, left) == 0


@pytest.mark.parametrize(
    "url",
    [
        "http://y.org",
        "HTTPS://Y.org/fr/",
        "//y.org/fr",
        "y.org/fr",
        "y.org:8080/fr",
        "http://y.org:/fr",
        "localhost:80",
    ],
)
def test_every_form_of_url_has_a_probability(model: UrlPair, url: str) -> None:
    assert 0 < probability(model, f"{X}/en/water", url) < 1


def test_empty_input(model: UrlPair) -> None:
    assert model.probabilities([], []).tolist() == []


def test_both_sides_must_have_the_same_length(model: UrlPair) -> None:
    with pytest.raises(ValueError, match="URLs differ"):
        model.probabilities([X], [])


@given(rows=st.lists(st.tuples(urls(), urls()), max_size=5))
@settings(max_examples=examples(60))
def test_probabilities_of_any_texts_are_symmetric(rows: list[tuple[str, str]]) -> None:
    model = tiny_model()
    lefts, rights = [row[0] for row in rows], [row[1] for row in rows]
    found = model.probabilities(lefts, rights)
    assert found.dtype == np.float32
    assert ((found >= 0) & (found <= 1)).all()
    assert np.allclose(model.probabilities(rights, lefts), found, atol=1e-6)


def test_odd_urls_are_handled(model: UrlPair) -> None:
    found = model.probabilities(ODD, ODD[::-1])
    assert ((found >= 0) & (found < 1)).all()


def test_batches_are_joined(model: UrlPair) -> None:
    lefts = [f"{X}/en/{number}" for number in range(5000)]
    rights = [f"{X}/fr/{number}" for number in range(5000)]
    found = model.probabilities(lefts, rights)
    assert np.array_equal(
        found[4090:4100], model.probabilities(lefts[4090:4100], rights[4090:4100])
    )
    assert (found > 0).all()


def test_without_a_compiler_the_reference_is_used(
    model: UrlPair, monkeypatch: pytest.MonkeyPatch
) -> None:
    lefts, rights = [f"{X}/en/water", f"{X}/a?lang=1"], [f"{X}/fr/eau", f"{X}/a?lang=2"]
    fast = model.probabilities(lefts, rights)
    for module in (trees, url_features):
        monkeypatch.setattr(module, "native", lambda: None)
    assert np.allclose(model.probabilities(lefts, rights), fast, atol=1e-4)


def test_features_of_languages(model: UrlPair) -> None:
    languages = FakeLanguages()
    lefts, rights = [f"{X}/en/a", f"{X}/en/a", f"{X}/a"], [f"{X}/fr/a", f"{X}/en/b", f"{X}/b"]
    rows = all_features(model.features, languages, lefts, rights)
    assert rows.shape == (3, len(ALL_NAMES))
    extra = {name: pytest.approx(rows[:, place].tolist()) for place, name in enumerate(ALL_NAMES)}
    # Each URL is 0.2 German; two unknown languages are not the same.
    assert extra["same_language"] == [0.04, 0.68, 0.04]
    assert extra["language<"] == [0.8, 0.8, 0.2]
    assert extra["language>"] == [0.8, 0.8, 0.2]
    assert extra["unknown<"] == [0, 0, 0.8]
    assert np.array_equal(rows[:, : len(NAMES)], model.features.of(lefts, rights))
    assert languages.asked == [list(dict.fromkeys([*lefts, *rights]))]  # each once
    assert all_features(model.features, languages, [], []).shape == (0, len(ALL_NAMES))


def arrays(folder: Path) -> dict[str, Any]:
    with np.load(folder / "model.npz") as stored:
        return dict(stored)


def refused(tmp_path: Path, content: bytes) -> str:
    (tmp_path / "model.npz").write_bytes(content)
    with pytest.raises(ConfigError) as raised:
        load(str(tmp_path))
    return str(raised.value)


def packed(found: dict[str, Any]) -> bytes:
    stream = io.BytesIO()
    np.savez(stream, **found)
    return stream.getvalue()


def test_a_missing_model_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="train the model again"):
        load(str(tmp_path / "nowhere"))


def test_other_files_are_refused(tmp_path: Path, folder: Path) -> None:
    single = io.BytesIO()
    np.save(single, np.zeros(3))
    zipped = io.BytesIO()
    with zipfile.ZipFile(zipped, "w") as archive:
        archive.writestr("a.txt", "a")
    for content in (
        b"",
        b"text",
        b"PK\x03\x04",
        single.getvalue(),
        zipped.getvalue(),
        b"\x93NUMPY",
    ):
        assert str(tmp_path) in refused(tmp_path, content)


class Evil:
    def __reduce__(self) -> tuple[Any, ...]:
        return (pytest.fail, ("a pickle was run",))


def test_pickles_are_never_loaded(tmp_path: Path, folder: Path) -> None:
    assert "not a URL pair model" in refused(tmp_path, pickle.dumps(Evil()))
    harmful = np.empty(1, object)
    harmful[0] = Evil()
    stream = io.BytesIO()
    np.savez(stream, **(arrays(folder) | {"forest_roots": harmful}))
    assert "not a URL pair model" in refused(tmp_path, stream.getvalue())


def test_other_formats_and_features_are_refused(tmp_path: Path, folder: Path) -> None:
    found = arrays(folder)
    assert "format" in refused(tmp_path, packed(found | {"format": np.array(0)}))
    assert "format" in refused(tmp_path, packed({k: v for k, v in found.items() if k != "format"}))
    assert "features" in refused(tmp_path, packed(found | {"names": found["names"][::-1]}))


def test_every_array_is_needed(tmp_path: Path, folder: Path) -> None:
    found = arrays(folder)
    for name in found:
        assert "train the model again" in refused(
            tmp_path, packed({k: v for k, v in found.items() if k != name})
        )


@pytest.mark.parametrize(
    ("name", "spoil"),
    [
        ("concepts_keys", lambda array: array[::-1]),  # not in order
        ("concepts_keys", lambda array: array[:-1]),
        ("concepts_keys", lambda array: array.astype(np.int64)),
        ("concepts_keys", lambda array: array.reshape(-1, 1)),
        ("concepts_keys", lambda array: array[0]),
        ("concepts_ids", lambda array: array[:, :2]),
        ("concepts_ids", lambda array: array.ravel()),
        ("concepts_ids", lambda array: array.astype(np.uint32)),
        ("concepts_scores", lambda array: array.astype(np.float32)),
        ("forest_lefts", lambda array: array * 0),
        ("forest_rights", lambda array: array + 2**30),
        ("forest_features", lambda array: array + len(ALL_NAMES)),
        ("forest_roots", lambda array: array - 1),
        ("forest_roots", lambda array: array[0]),
        ("forest_values", lambda array: array * np.nan),
        ("forest_base", lambda array: np.array([0.0, 1.0])),
        ("forest_base", lambda array: np.array("nothing")),
        ("forest_base", lambda array: np.array(np.inf)),
    ],
)
def test_damaged_arrays_are_refused(tmp_path: Path, folder: Path, name: str, spoil: Any) -> None:
    found = arrays(folder)
    assert "train the model again" in refused(tmp_path, packed(found | {name: spoil(found[name])}))


def test_unknown_arrays_are_refused(tmp_path: Path, folder: Path) -> None:
    assert "'more'" in refused(tmp_path, packed(arrays(folder) | {"forest_more": np.zeros(1)}))


def test_damaged_bytes_are_refused_or_harmless(tmp_path: Path, folder: Path) -> None:
    whole = (folder / "model.npz").read_bytes()
    chance = np.random.default_rng(0)
    lefts, rights = [f"{X}/en/water"], [f"{X}/fr/eau"]
    for _ in range(150):
        damaged = bytearray(whole)
        for place in chance.integers(0, len(whole), chance.integers(1, 4)):
            damaged[place] = chance.integers(256)
        if chance.random() < 0.2:
            del damaged[chance.integers(len(damaged)) :]
        (tmp_path / "model.npz").write_bytes(damaged)
        try:
            found = load(str(tmp_path)).probabilities(lefts, rights)
        except ConfigError:
            continue
        assert 0 <= found[0] <= 1

"""`diptych train verify`: from labelled page pairs to a model that a recipe can name."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
from support.commands import mistake, run

from diptych import registry
from diptych.commands.train import verify as trainverify
from diptych.commands.train.verify import read_labels
from diptych.errors import ConfigError
from diptych.learn.lexicon.lexicon import Lexicon
from diptych.types import LangPair, Response, Url

CITIES = "Oban Tarbert Islay Brest Kiel Riga Gdansk Porto Bergen Tromso Cadiz Palermo".split()
LINES = [
    ("In {a} the harbour of {c} had room for {b} ships of wood.",
     "En {a} le port de {c} avait de la place pour {b} navires de bois."),
    ("The tower of {c} was built by {d} men and cost them {b} pounds.",
     "La tour de {c} fut construite par {d} hommes et leur coûta {b} livres."),
    ("Visitors who come from {c} pay {d} crowns and may stay until the evening.",
     "Les visiteurs qui viennent de {c} paient {d} couronnes et peuvent rester jusqu'au soir."),
    ("After the storm of {a} nobody lived on the island any more, says the book of {c}.",
     "Après la tempête de {a} personne n'habita plus sur l'île, dit le livre de {c}."),
    ("The lamp burns {d} litres of oil in a night, and it can be seen from {c}.",
     "La lampe brûle {d} litres d'huile en une nuit, et on la voit depuis {c}."),
]  # fmt: skip


def write_pages(folder: Path, count: int) -> None:
    """Documents in English and French."""
    for number in range(count):
        rng = random.Random(number)
        chosen = rng.sample(LINES, rng.randint(3, 5))
        values = [
            {"a": rng.randint(1500, 1990), "b": rng.randint(100, 999), "c": rng.choice(CITIES),
             "d": rng.randint(10, 99)}
            for _ in chosen
        ]  # fmt: skip
        for side, lang in enumerate(("en", "fr")):
            lines = [line[side].format(**value) for line, value in zip(chosen, values, strict=True)]
            text = "".join(f"<p>{line}</p>" for line in lines)
            markup = f"<html lang={lang}><meta charset=utf-8><body>{text}</body></html>"
            (folder / f"{number}.{lang}.html").write_text(markup, "utf-8")


def pairs(count: int) -> list[str]:
    right = [f"{n}.en.html\t{n}.fr.html\t1" for n in range(count)]
    return right + [f"{n}.en.html\t{(n + 1) % count}.fr.html\tno" for n in range(count)]


def write_labels(folder: Path) -> Path:
    write_pages(folder, 14)
    path = folder / "labels.tsv"
    path.write_text("\n".join(pairs(14)) + "\n\n", "utf-8")
    return path


@pytest.fixture
def labels(tmp_path: Path) -> Path:
    return write_labels(tmp_path)


@dataclass(frozen=True)
class Trained:
    """A model, and the output of its training."""

    out: Path
    said: str


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Trained]:
    """A function that trains each method once, because a forest takes seconds."""
    folder = tmp_path_factory.mktemp("trained")
    labels = write_labels(folder)

    @cache
    def train(method: str) -> Trained:
        out = folder / method
        result = run("train", "verify", labels, "--out", out, "--method", method, "--seed", 3)
        assert result.exit_code == 0
        return Trained(out, result.stdout)

    return train


@pytest.mark.parametrize(
    ("method", "features"), [("classify", 21), ("decision_tree", 4), ("maxent", 3)]
)
def test_model_is_trained_measured_and_can_be_named_in_a_recipe(
    method: str, features: int, trained: Callable[[str], Trained]
) -> None:
    out = trained(method).out
    first, whole, *without = trained(method).said.splitlines()
    assert first == "10-fold cross-validation of 28 pairs, 14 of them correct"
    assert whole.startswith("all features: P ")
    assert len(without) == features
    assert all(line.startswith("without ") for line in without)
    card = (out / "card.md").read_text("utf-8")
    assert f"`verify:{method}|data:" in card
    assert all(f"- {line}" in card for line in (whole, *without))
    assert sorted(path.name for path in out.iterdir()) == ["card.md", f"{method}.json"]
    strategy = registry.make("verify", {"use": method, "model": str(out)})
    assert strategy.model == str(out)


def test_trained_model_recognises_correct_pairs(
    trained: Callable[[str], Trained], tmp_path: Path
) -> None:
    from support.candidates import candidate, read_html

    model = trained("classify")
    f1 = float(model.said.splitlines()[1].rpartition(" ")[2])
    assert f1 > 85
    strategy = registry.make("verify", {"use": "classify", "model": str(model.out)})
    write_pages(tmp_path, 20)
    page = {
        (n, lang): read_html(f"/{lang}/{n}", (tmp_path / f"{n}.{lang}.html").read_text("utf-8"))
        for n in range(15, 20)
        for lang in ("en", "fr")
    }
    right = [strategy.verify(candidate(page[n, "en"], page[n, "fr"])).score for n in range(15, 20)]
    wrong = [
        strategy.verify(candidate(page[n, "en"], page[n + 1, "fr"])).score for n in range(15, 19)
    ]
    assert min(right) > max(wrong)


@pytest.mark.parametrize(
    "method", [pytest.param("classify", marks=pytest.mark.slow), "decision_tree", "maxent"]
)
def test_same_labels_and_seed_give_the_same_model(
    method: str, trained: Callable[[str], Trained], labels: Path, tmp_path: Path
) -> None:
    first, again = trained(method), tmp_path / "again"
    result = run("train", "verify", labels, "--out", again, "--method", method, "--seed", 3)
    assert result.stdout == first.said
    name = f"{method}.json"
    assert (again / name).read_bytes() == (first.out / name).read_bytes()


def test_pairs_that_need_no_model_are_left_out_and_counted(labels: Path, tmp_path: Path) -> None:
    (tmp_path / "empty.html").write_text("<p>Accueil</p>", "utf-8")
    labels.write_text(labels.read_text("utf-8") + "0.en.html\tempty.html\t0\n", "utf-8")
    result = run("train", "verify", labels, "--out", tmp_path / "model", "--method", "maxent")
    assert "28 pairs" in result.stdout
    assert "need no model: 1 too_little_text" in result.stderr
    assert "1 left out (1 too_little_text)" in (tmp_path / "model/card.md").read_text("utf-8")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("0.en.html\t0.fr.html\tmaybe\n" * 30, "line 1 of"),
        ("0.en.html\t0.fr.html\n" * 30, "line 1 of"),
        ("0.en.html\t0.fr.html\t1\n" * 19, "19 pairs; at least 20 are required"),
        ("0.en.html\t0.fr.html\t1\n" * 30, "30 correct pairs and 0 incorrect pairs"),
        ("0.en.html\t0.fr.html\t1\n" * 20 + "0.en.html\tnone.html\t0\n" * 20, "line 21 of"),
        ("", "0 pairs"),
        ("0.en.html\t0.fr.html\t1\n" * 20 + "a\0b\t0.fr.html\t0\n" * 20, "line 21 of"),
    ],
)
def test_mistakes_are_reported_in_one_line(
    text: str, said: str, labels: Path, tmp_path: Path
) -> None:
    labels.write_text(text, "utf-8")
    out = tmp_path / "model"
    assert said in mistake("train", "verify", labels, "--out", out)
    assert not out.exists()


def test_labels_that_cannot_be_read(labels: Path, tmp_path: Path) -> None:
    out = tmp_path / "model"
    assert "No such file" in mistake("train", "verify", tmp_path / "none.tsv", "--out", out)
    labels.write_bytes(b"\xff\xfe\x00a\tb\t1\n")
    assert "is not UTF-8" in mistake("train", "verify", labels, "--out", out)


def test_existing_folder_is_not_overwritten(labels: Path, tmp_path: Path) -> None:
    assert "already exists" in mistake("train", "verify", labels, "--out", tmp_path)


def test_options_of_other_models_are_mistakes(labels: Path, tmp_path: Path) -> None:
    out = tmp_path / "model"
    for more in (("--backend", "transformers"), ("--base", "x"), ("--epochs", 3), (labels,)):
        assert "verify takes one label file" in mistake(
            "train", "verify", labels, *more, "--out", out
        )
    for more in (("--method", "maxent"), ("--run", tmp_path)):
        assert "apply only to verify" in mistake("train", "url-lang", labels, *more, "--out", out)


def test_labels_with_a_mark_at_their_beginning_and_windows_line_ends(tmp_path: Path) -> None:
    path = tmp_path / "labels.tsv"
    lines = ["a.html\tb.html\tYES", "a.html\tc.html\t0"] * 10
    path.write_bytes(b"\xef\xbb\xbf" + "\r\n".join(lines).encode())
    found = read_labels(path)
    assert [label.is_right for label in found[:2]] == [True, False]
    assert (found[1].line, found[1].left, found[1].right) == (2, "a.html", "c.html")


class FakeRun:
    """A store with the pages and lexicons of a run."""

    def learned_lexicons(self) -> dict[LangPair, Lexicon]:
        known = Lexicon.of_links("en", "fr", [("house", "maison", 1)])
        return {LangPair("en", "fr"): known}

    def response(self, url: Url) -> Response | None:
        if not url.endswith("/there"):
            return None
        body = "<p>" + " ".join(first for first, _ in LINES)
        return Response(url, 200, (("content-type", "text/html"),), body.encode(), 0.0)


def test_lexicon_of_a_run_is_found_in_either_order() -> None:
    find = trainverify._lexicons(FakeRun(), ["en", "fr", "de"])  # type: ignore[arg-type]
    assert find("en-GB", "fr").best("house") == [("maison", 1.0)]
    assert find("fr", "en").best("maison") == [("house", 1.0)]
    assert len(find("en", "de")) == 0


def test_pages_of_a_run_are_found_by_their_address() -> None:
    read = trainverify._run_reader(FakeRun(), Path("run"), ["en", "fr"])  # type: ignore[arg-type]
    page = read("HTTP://Example.org:80/there")
    assert (page.lang, page.url) == ("en", "http://example.org/there")
    assert page.sketch is not None
    for missing in ("http://example.org/gone", "no address"):
        with pytest.raises(ConfigError, match="is not a page of run"):
            read(missing)


def test_damaged_model_is_a_mistake(labels: Path, tmp_path: Path) -> None:
    from support.candidates import ENGLISH, FRENCH, of_texts

    out = tmp_path / "model"
    run("train", "verify", labels, "--out", out, "--method", "maxent")
    (out / "maxent.json").write_text((out / "maxent.json").read_text("utf-8")[:-30], "utf-8")
    strategy = registry.make("verify", {"use": "maxent", "model": str(out)})
    with pytest.raises(ConfigError, match="is not a verifier model"):
        strategy.verify(of_texts(ENGLISH, FRENCH))

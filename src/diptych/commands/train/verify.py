"""`diptych train verify`: trains a verifier on about a hundred labelled page pairs."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import click
import numpy as np
from numpy.typing import NDArray

from diptych._version import VERSION
from diptych.commands.train.url_models import Figures, check_out, figures
from diptych.errors import ConfigError
from diptych.files import read_file, reading, replace_file
from diptych.language.codes import asked_language
from diptych.learn.lexicon.lexicon import Lexicon
from diptych.learn.libraries import require_libraries
from diptych.page.read import read_page
from diptych.reports.reasons import counted
from diptych.run.store import Store
from diptych.run.terms import read_terms
from diptych.stages.align_dom.domtree.strategy import DomTree
from diptych.stages.align_sentences.length_lexicon import LengthLexicon
from diptych.stages.verify.classify import Classify
from diptych.stages.verify.shared.features import MAXENT, NAMES, PPLOCATOR, features
from diptych.stages.verify.shared.model import to_json
from diptych.stages.verify.shared.obstacles import obstacle
from diptych.stages.verify.shared.train import (
    Table,
    Trainer,
    cross_validated,
    decision_tree,
    folds,
    leave_one_out,
    logistic,
    monotone,
)
from diptych.steps.align_pages import align_pages
from diptych.text.urls import normalise
from diptych.types import Candidate, Page, PagePair, Response, Url

LEAST = 20  # pairs
FOLDS = 10
THRESHOLD = 0.5
_MAX_BYTES = 50_000_000
_ANSWERS = {"1": True, "yes": True, "0": False, "no": False}


class Method(NamedTuple):
    """A training method: the features of the verifier, and the function that trains it."""

    features: tuple[str, ...]
    train: Trainer


METHODS: Mapping[str, Method] = {
    "classify": Method(NAMES, monotone),
    "decision_tree": Method(PPLOCATOR, decision_tree),
    "maxent": Method(MAXENT, logistic),
}


class Label(NamedTuple):
    """Two pages, as file paths or URLs, and True if they are translations."""

    line: int
    left: str
    right: str
    is_right: bool


def train_verify(path: Path, out: Path, *, method: str, run: Path | None, seed: int) -> int:
    """Train, cross-validate and write a model with its model card; return the exit code."""
    check_out(out)
    require_libraries(("sklearn",), "training")
    labels = read_labels(path)
    names, train = METHODS[method]
    kept, rows, dropped = [], [], Counter[str]()
    for label, candidate in _candidates(path, run, labels):
        reason = _obstacle(candidate)
        if reason:
            dropped[reason] += 1
        else:
            kept.append(label.is_right)
            rows.append(features(candidate))
    _check_classes(kept, f"{path} has", dropped)
    table = Table.of(NAMES, rows, kept).only(names)
    lines = report(table, train, seed=seed)
    model = train(table)
    out.mkdir(parents=True, exist_ok=True)
    replace_file(out / f"{method}.json", f"{to_json(model)}\n".encode())
    replace_file(out / "card.md", _card(path, method, seed, kept, dropped, lines).encode())
    for line in lines:
        click.echo(line)
    if dropped:
        click.echo(f"skipped pairs that need no model: {_in_words(dropped)}", err=True)
    click.echo(f'[verify]\nuse = "{method}"\nmodel = "{out}"', err=True)
    return 0


def _obstacle(candidate: Candidate) -> str:
    strategy = Classify()
    return obstacle(candidate, min_letters=strategy.min_letters, max_copied=strategy.max_copied)


def _in_words(dropped: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {reason}" for reason, count in sorted(dropped.items()))


def read_labels(path: Path) -> list[Label]:
    """Read labelled page pairs from tab-separated columns: left, right, and 1 or 0."""
    with reading(path, "table", "see docs/data-formats.md"):
        text = read_file(path, _MAX_BYTES).decode("utf-8-sig")
    found = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        columns = [column.strip() for column in line.split("\t")]
        if len(columns) != 3 or not all(columns):
            raise ConfigError(
                f"line {number} of {path} must have left, right and label, separated by tabs"
            )
        answer = _ANSWERS.get(columns[2].lower())
        if answer is None:
            raise ConfigError(
                f"line {number} of {path} has the label {columns[2][:40]!r};"
                " labels must be 1 or yes, or 0 or no"
            )
        found.append(Label(number, columns[0], columns[1], answer))
    _check_classes([label.is_right for label in found], f"{path} has", {})
    return found


def _check_classes(answers: Sequence[bool], what: str, dropped: Mapping[str, int]) -> None:
    right = sum(answers)
    rest = f" that need a model (skipped: {_in_words(dropped)})" if dropped else ""
    if len(answers) < LEAST:
        raise ConfigError(
            f"{what} {counted(len(answers), 'pair')}{rest};"
            f" at least {LEAST} are required, preferably 100"
        )
    if min(right, len(answers) - right) < 2:
        raise ConfigError(
            f"{what} {counted(right, 'correct pair')} and"
            f" {counted(len(answers) - right, 'incorrect pair')}{rest};"
            " at least 2 of each are required"
        )


def _candidates(
    path: Path, run: Path | None, labels: Sequence[Label]
) -> Iterator[tuple[Label, Candidate]]:
    """Make a candidate from each labelled pair, and yield it with its label.

    Pages are read from `run`; if it is None, from files in the folder of `path`.
    """
    if run is None:
        reader = _file_reader(path)
        yield from ((label, _candidate(label, reader, path)) for label in labels)
        return
    terms = read_terms(run)
    with Store(run, write=False) as store:
        lexicon_of = _lexicons(store, terms.langs)
        reader = _run_reader(store, run, terms.langs)
        for label in labels:
            yield label, _candidate(label, reader, path, lexicon_of)


def _file_reader(labels: Path) -> Callable[[str], Page]:
    def read(name: str) -> Page:
        body = read_file(labels.parent / name, _MAX_BYTES)
        url = normalise(f"http://labels.invalid/{name}") or Url("http://labels.invalid/")
        return _page(Response(url, 200, (("content-type", "text/html"),), body, 0.0), ())

    return read


def _run_reader(store: Store, run: Path, langs: Sequence[str]) -> Callable[[str], Page]:
    def read(name: str) -> Page:
        url = normalise(name)
        response = store.response(url) if url is not None else None
        if response is None:
            raise ConfigError(f"{name} is not a page of {run}")
        return _page(response, langs)

    return read


def _page(response: Response, langs: Sequence[str]) -> Page:
    page = read_page(response, langs=langs, with_blocks=True, with_tree=True, with_sketch=True)
    if page.sketch is None and langs:  # in a language that the run did not request
        page = read_page(response, with_blocks=True, with_tree=True, with_sketch=True)
    return page


_LexiconOf = Callable[[str, str], Lexicon]


def _candidate(
    label: Label, read: Callable[[str], Page], labels: Path, lexicon_of: _LexiconOf = Lexicon.empty
) -> Candidate:
    """Read the pages of a labelled pair with `read`, align them, and make a candidate.

    The pages are not aligned if the pair can be rejected without a model.  `lexicon_of` returns the
    lexicon for two languages; `labels` is the label file, which error messages name.
    """
    try:
        left, right = read(label.left), read(label.right)
    except ConfigError as error:
        raise ConfigError(f"line {label.line} of {labels}: {error}") from error
    pair = PagePair(left.url, right.url, left.lang, right.lang, 1.0, "labelled")
    bare = Candidate(pair, left, right)
    if _obstacle(bare):
        return bare
    lexicon = lexicon_of(left.lang, right.lang)
    segments = align_pages(pair, left, right, DomTree(), LengthLexicon(), lexicon)
    return Candidate(pair, left, right, tuple(segments), lexicon)


def _lexicons(store: Store, langs: Sequence[str]) -> _LexiconOf:
    """Return a function that looks up the run's lexicon for two languages, in either order."""
    known: dict[tuple[str, str], Lexicon] = {}
    for pair, lexicon in store.learned_lexicons().items():
        known[pair] = lexicon
        known[pair.right, pair.left] = lexicon.reversed()

    def code(lang: str) -> str:
        return asked_language(lang, langs) or lang

    def lexicon_of(left: str, right: str) -> Lexicon:
        pair = code(left), code(right)
        return known.get(pair) or Lexicon.empty(*pair)

    return lexicon_of


def report(table: Table, train: Trainer, *, seed: int) -> list[str]:
    """Cross-validate a verifier with all features, and without each feature in turn.

    Return the scores as lines of text; `train` is the function that trains the verifier.
    """
    rarest = int(min(table.right.sum(), (~table.right).sum()))
    fold = folds(table.right, min(FOLDS, rarest), seed)

    def scored(said: NDArray[np.float64]) -> Figures:
        return figures(table.right, said >= THRESHOLD)

    right = int(table.right.sum())
    lines = [
        f"{fold.max() + 1}-fold cross-validation of {len(fold)} pairs, {right} of them correct",
        f"all features: {scored(cross_validated(table, train, fold))}",
    ]
    for name, without in leave_one_out(table, train, fold).items():
        lines.append(f"without {name}: {scored(without)}")
    return lines


def _card(
    path: Path,
    method: str,
    seed: int,
    kept: Sequence[bool],
    dropped: Mapping[str, int],
    lines: Sequence[str],
) -> str:
    """The model card, with the signature of the model, its training data and its scores.

    `kept` are the labels used for training; `dropped` counts the other pairs by reason; `lines` are
    the scores.
    """
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    signature = f"verify:{method}|data:{digest[:8]}|seed:{seed}|v:{VERSION}"
    left_out = f", {sum(dropped.values())} left out ({_in_words(dropped)})" if dropped else ""
    return "\n".join([
        f"# verify: {method}", "", f"Signature: `{signature}`", "",
        f"Trained on {len(kept)} page pairs, {sum(kept)} of them correct{left_out}.", "",
        f"Labels: {path.name}, SHA-256 `{digest}`.", "",
        "In percent:", "", *(f"- {line}" for line in lines), "",
    ])  # fmt: skip

"""Log-odds that the sides of segments are in the expected languages."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from diptych.kernels.langid import Model, label_shares_of_texts
from diptych.language import identify as langid
from diptych.language.codes import primary, same_language

UNKNOWN_ODDS = 0.0
"""log-odds if a text is too short, or its expected language is not in the model"""
_MAX_CHARACTERS = 160  # enough to identify a language with certainty
_MIN_SHARE = 1e-12
# Candidates for a third language: four of five labels of the model are very rare, and would take
# most of the time.
_COMMON_LANGUAGES = (
    "ar bg ca cs da de el en es et fa fi fr he hi hr hu id it ja ko lt lv ms nl no pl pt ro ru sk"
    " sl sr sv th tr uk vi zh"
).split()


def language_odds(
    texts: Sequence[str], weights: NDArray[np.int64], own: str, other: str
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """For each text, the log-odds of `own` against `other` and against any third language.

    Log-odds are negative if a text is probably not in `own`.  `weights` contains the number of
    letters in each text; for texts with few letters, the log-odds are `UNKNOWN_ODDS`.

    >>> import numpy as np
    >>> text = "El consejo se reunió en el ayuntamiento el martes."
    >>> other, third = language_odds([text], np.array([40]), "fr", "en")
    >>> bool(third[0] < 0)
    True
    """
    over_other, over_third = np.full(len(texts), UNKNOWN_ODDS), np.full(len(texts), UNKNOWN_ODDS)
    model, *columns = _restricted_model(langid.whole_model(), own, other)
    long_enough = np.flatnonzero(weights >= langid.MIN_LETTERS)
    if not columns[0] or not len(long_enough) or primary(own) == primary(other):
        return over_other, over_third
    data = [langid.model_bytes(texts[place][:_MAX_CHARACTERS]) for place in long_enough.tolist()]
    # Forms of a segment that are compared often begin with the same text.
    distinct = dict.fromkeys(data)
    places = dict(zip(distinct, range(len(distinct)), strict=True))
    shares = label_shares_of_texts(model, [*distinct])[[places[each] for each in data]]
    ours = np.maximum(shares[:, columns[0]].sum(axis=1), _MIN_SHARE)
    if columns[1]:
        theirs = np.maximum(shares[:, columns[1]].sum(axis=1), _MIN_SHARE)
        over_other[long_enough] = np.log(ours / theirs)
    shares[:, [*columns[0], *columns[1]]] = 0.0
    over_third[long_enough] = np.log(ours / np.maximum(shares.max(axis=1), _MIN_SHARE))
    return over_other, over_third


@lru_cache(maxsize=64)
def _restricted_model(
    whole: langid.Labelled, own: str, other: str
) -> tuple[Model, list[int], list[int]]:
    """Restrict the model `whole` to `own`, `other` and the most widely used languages.

    Return the restricted model, the columns of its labels for `own`, and those for `other`.
    """
    names = [own, other, *_COMMON_LANGUAGES]
    wanted = {primary(name) for name in names}
    kept = [
        column
        for column, label in enumerate(whole.labels)
        if primary(label) in wanted and any(same_language(label, name) for name in names)
    ]
    labels = [whole.labels[column] for column in kept]
    columns = [
        [place for place, label in enumerate(labels) if same_language(label, name)]
        for name in (own, other)
    ]
    return _some_labels(whole.model, tuple(kept)), columns[0], columns[1]


@lru_cache(maxsize=64)
def _some_labels(model: Model, columns: tuple[int, ...]) -> Model:
    """Restrict a model to the labels in `columns`.

    The results are cached: each has 8 MB, and most language pairs use the same one.
    """
    return model.restricted(columns)

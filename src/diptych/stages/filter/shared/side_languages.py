"""In which language the sides of segments are, beside the two they should be in."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from diptych.language import identify as langid
from diptych.language.codes import primary, same_language

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from diptych.kernels.langid import Model

__all__ = ["UNTOLD", "odds"]

UNTOLD = 0.0
"""of a text that is too short, or in a language that no model knows"""
_MOST = 160  # characters: as many as tell a language beyond doubt
_LEAST_SHARE = 1e-12
# Languages that a third one is looked for in: four of five labels of the model are hardly ever
# seen, and are most of the time it takes.
_USUAL = (
    "ar bg ca cs da de el en es et fa fi fr he hi hr hu id it ja ko lt lv ms nl no pl pt ro ru sk"
    " sl sr sv th tr uk vi zh"
).split()


def odds(
    texts: Sequence[str], weights: NDArray[np.int64], own: str, other: str
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """For each text: how much likelier its own language is than the other, and than any third.

    As logarithms, below zero where it is in another language.  A text of little weight, in letters,
    is not told.

    >>> import numpy as np
    >>> text = "El consejo se reunió en el ayuntamiento el martes."
    >>> other, third = odds([text], np.array([40]), "fr", "en")
    >>> bool(third[0] < 0)
    True
    """
    import numpy as np

    from diptych.kernels.langid import label_shares_of_texts

    over_other, over_third = np.full(len(texts), UNTOLD), np.full(len(texts), UNTOLD)
    model, *columns = _chosen(langid.whole_model(), own, other)
    told = np.flatnonzero(weights >= langid.MIN_LETTERS)
    if not columns[0] or not len(told) or primary(own) == primary(other):
        return over_other, over_third
    read = [langid.model_bytes(texts[place][:_MOST]) for place in told.tolist()]
    shares = label_shares_of_texts(model, read)
    ours = np.maximum(shares[:, columns[0]].sum(axis=1), _LEAST_SHARE)
    if columns[1]:
        theirs = np.maximum(shares[:, columns[1]].sum(axis=1), _LEAST_SHARE)
        over_other[told] = np.log(ours / theirs)
    shares[:, [*columns[0], *columns[1]]] = 0.0
    over_third[told] = np.log(ours / np.maximum(shares.max(axis=1), _LEAST_SHARE))
    return over_other, over_third


@lru_cache(maxsize=64)
def _chosen(whole: langid.Labelled, own: str, other: str) -> tuple[Model, list[int], list[int]]:
    """A model of two languages and of those that most of the web is in, and the columns of both."""
    names = [own, other, *_USUAL]
    kept = [
        column
        for column, label in enumerate(whole.labels)
        if any(same_language(label, name) for name in names)
    ]
    labels = [whole.labels[column] for column in kept]
    columns = [
        [place for place, label in enumerate(labels) if same_language(label, name)]
        for name in (own, other)
    ]
    return whole.model.restricted(kept), columns[0], columns[1]

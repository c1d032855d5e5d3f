"""JSON Lines: one object a line, in the same shape throughout."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import orjson

from diptych.protocols import Corpus, Files
from diptych.stages.export.shared.columns import (
    COMMON_COLUMNS,
    PAIR_COLUMNS,
    PLACE_COLUMNS,
    batches,
    common_row,
    pair_row,
    place_row,
    rounded,
    unit_id,
    with_surrogates_replaced,
)
from diptych.units import Side, Unit

__all__ = ["Jsonl"]


@dataclass(frozen=True, slots=True)
class Jsonl:
    """An object for each unit, with the names that the columns of `tsv` have.

    Readers guess the type of a field by what comes first.  An empty list or null has none, and the
    first flag after ten thousand lines would be an error: so flags are one string, and a language
    that is missing is an empty one.
    """

    suffix: ClassVar[str] = "jsonl"
    n_way: bool = False
    """the texts by language and a list of sides, instead of two sides"""

    def write(self, corpus: Corpus, files: Files) -> int:
        """All units, in the order given."""
        out = files(self.suffix)
        of = partial(_n_way, tuple(corpus.langs)) if self.n_way else _pair
        count = 0
        for batch in batches(corpus.units()):
            out.write(_lines([of(unit) for unit in batch]))
            count += len(batch)
        return count


def _pair(unit: Unit) -> dict[str, Any]:
    return dict(zip(PAIR_COLUMNS, pair_row(unit), strict=True))


def _n_way(langs: Sequence[str], unit: Unit) -> dict[str, Any]:
    texts = {side.lang: side.text for side in unit.sides}
    return {
        "id": unit_id(unit),
        "score": rounded(unit.score),
        "texts": {lang: texts.get(lang, "") for lang in langs},
        "sides": [_side(side) for side in unit.sides],
        **dict(zip(COMMON_COLUMNS, common_row(unit), strict=True)),
    }


def _side(side: Side) -> dict[str, Any]:
    return {"lang": side.lang, **dict(zip(PLACE_COLUMNS, place_row(side), strict=True))}


def _lines(rows: Sequence[dict[str, Any]]) -> bytes:
    """An object a line.

    To encode a list of objects is a tenth of the work of as many objects.  A text cannot look like
    the seam between two of them, since its quotation marks have backslashes.
    """
    try:
        data = orjson.dumps(rows)
    except TypeError:  # a lone surrogate, which no file in UTF-8 can hold
        data = orjson.dumps(with_surrogates_replaced(rows))
    seam = orjson.dumps(next(iter(rows[0]))) + b":"
    return data[1:-1].replace(b"},{" + seam, b"}\n{" + seam) + b"\n"

"""JSON Lines: one object a line, in the same shape throughout."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import orjson

from diptych.protocols import Corpus, Files
from diptych.stages.export.shared import columns
from diptych.units import Unit


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
        row_of = partial(_n_way, tuple(corpus.langs)) if self.n_way else _pair
        return columns.write_batches(
            corpus, files(self.suffix), lambda units: _lines([row_of(unit) for unit in units])
        )


def _pair(unit: Unit) -> dict[str, Any]:
    return dict(zip(columns.PAIR_COLUMNS, columns.pair_row(unit), strict=True))


def _n_way(langs: Sequence[str], unit: Unit) -> dict[str, Any]:
    texts = {side.lang: side.text for side in unit.sides}
    return {
        "id": columns.unit_id(unit),
        "score": columns.rounded(unit.score),
        "texts": {lang: texts.get(lang, "") for lang in langs},
        "sides": [columns.side_fields(side) for side in unit.sides],
        **columns.common_fields(unit),
    }


def _lines(rows: Sequence[dict[str, Any]]) -> bytes:
    """An object a line.

    To encode a list of objects is a tenth of the work of as many objects.  A text cannot look like
    the seam between two of them, since its quotation marks have backslashes.
    """
    try:
        data = orjson.dumps(rows)
    except TypeError:  # a lone surrogate, which no file in UTF-8 can hold
        data = orjson.dumps(columns.with_surrogates_replaced(rows))
    seam = orjson.dumps(next(iter(rows[0]))) + b":"
    return data[1:-1].replace(b"},{" + seam, b"}\n{" + seam) + b"\n"

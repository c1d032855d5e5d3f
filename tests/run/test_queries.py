"""Each statement of a `queries.sql` fits the schema, and is used."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

import pytest

import diptych
from diptych.run.queries import read_queries
from diptych.run.store import Store

SOURCE = Path(diptych.__file__).parent
PACKAGES = ["diptych.run", "diptych.frontier"]
STATEMENTS = [(package, name) for package in PACKAGES for name in read_queries(package)]


@pytest.mark.parametrize(("package", "name"), STATEMENTS)
def test_statement_fits_the_schema(tmp_path: Path, package: str, name: str) -> None:
    statements = read_queries(package)
    with Store(tmp_path) as store:
        for made in (each for each in statements if each.startswith("make_") and each != name):
            store.db.execute(statements[made])
        values = [1] * _values(statements[name])
        assert store.db.execute(f"EXPLAIN {statements[name]}", values).fetchone()


def _values(statement: str) -> int:
    numbered = [number for number in range(1, 12) if f"?{number}" in statement]
    return max(numbered) if numbered else statement.count("?")


@pytest.mark.parametrize(("package", "name"), STATEMENTS)
def test_statement_is_used(package: str, name: str) -> None:
    folder = SOURCE / package.removeprefix("diptych.")
    code = "".join(path.read_text("utf-8") for path in sorted(folder.glob("*.py")))
    family = name.rpartition("_")[0]
    assert f'"{name}"' in code or f'f"{family}_{{' in code


@pytest.mark.parametrize("package", PACKAGES)
def test_no_name_is_given_twice(package: str) -> None:
    text = resources.files(package).joinpath("queries.sql").read_text("utf-8")
    assert text.count("-- name: ") == len(read_queries(package))

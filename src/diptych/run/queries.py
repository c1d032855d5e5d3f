"""Load multi-line SQL statements from `queries.sql`."""

from __future__ import annotations

from diptych.files import shipped_text


def read_queries(package: str) -> dict[str, str]:
    """Map the name of each statement in a package's `queries.sql` to its SQL.

    >>> read_queries("diptych.run")["pair_langs"]
    'SELECT DISTINCT left_lang, right_lang FROM pairs ORDER BY left_lang, right_lang'
    """
    statements = shipped_text(package, "queries.sql").split("-- name: ")[1:]
    parts = (part.partition("\n") for part in statements)
    return {name: statement.strip() for name, _, statement in parts}


SQL = read_queries("diptych.run")

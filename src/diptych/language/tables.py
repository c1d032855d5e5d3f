"""Reader of the tables that are shipped beside the code: rows of text with tabs."""

from __future__ import annotations

from importlib.resources import files


def read_table(package: str, name: str) -> list[list[str]]:
    """The rows of a table in a package, each as its columns.

    >>> read_table("diptych.language", "scripts.tsv")[0]
    ['41', 'Latn']
    """
    text = (files(package) / name).read_text("utf-8")
    return [line.split("\t") for line in text.splitlines()]

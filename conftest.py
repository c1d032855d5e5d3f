"""Fixtures for tests and docstring examples: a run of the demo site."""

from __future__ import annotations

import doctest
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # importing FastWARC 1.1 warns about its own deprecated classes
    import fastwarc.warc  # noqa: F401

API = "diptych.api."


@pytest.fixture(scope="session")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run that mined the demo site; tests must not modify it."""
    from support.commands import run

    from diptych.demo import SITE
    from diptych.engine.file_server import serve

    folder = tmp_path_factory.mktemp("recorded") / "run"
    with serve(SITE) as address:
        result = run(
            "mine", address, "--langs", "en,fr", "--out", folder, "--delay", 0, "--allow-private",
            "--quiet",
        )  # fmt: skip
    assert result.exit_code == 0, result.output
    return folder


@pytest.fixture(autouse=True)
def _names_of_examples(
    request: pytest.FixtureRequest, doctest_namespace: dict[str, Any]
) -> Iterator[None]:
    """Define the names that API examples use: the demo site, a run of it, and a folder."""
    example = getattr(request.node, "dtest", None)
    if not isinstance(example, doctest.DocTest) or not example.name.startswith(API):
        yield
        return
    import diptych
    from diptych.demo import SITE
    from diptych.engine.file_server import serve

    recorded: Path = request.getfixturevalue("recorded")
    folder: Path = request.getfixturevalue("tmp_path")
    with serve(SITE) as site:
        doctest_namespace |= {"diptych": diptych, "site": site, "folder": folder}
        doctest_namespace["run"] = diptych.open(recorded)
        yield

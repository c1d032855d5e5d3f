"""The compiled kernels: where they are used, and what is said where they are not."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from diptych import kernels
from diptych.kernels import native, slow_kernels


@pytest.fixture(autouse=True)
def _forgotten() -> Iterator[None]:
    native.cache_clear()
    yield
    native.cache_clear()


def test_compiled_kernels_are_used() -> None:
    assert native() is not None
    assert slow_kernels() == ""


def test_references_run_on_big_endian_machines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernels, "_IS_LITTLE_ENDIAN", False)
    assert native() is None
    assert "big-endian" in slow_kernels()
    assert "compiler" not in slow_kernels(), "another installation does not help"

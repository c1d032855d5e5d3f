"""The page on the Python API, from the signatures and docstrings of `diptych.__all__`."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import re
import textwrap
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import diptych


def api() -> str:
    """Every public name of the package with its signature and all that its docstring says."""
    names = [name for name in diptych.__all__ if not name.startswith("_")]
    return "\n\n".join(part for name in names for part in _entry(name, getattr(diptych, name)))


def _entry(name: str, value: Any) -> Iterator[str]:
    yield f"## diptych.{name}"
    if inspect.isclass(value):
        yield from _class(name, value)
    elif callable(value):
        yield from _callable(name, value)
    else:
        yield f"```python\n{name} = {value!r}\n```"


def _callable(name: str, value: Callable[..., Any]) -> Iterator[str]:
    yield f"```python\n{_signature(name, value)}\n```"
    yield from _docstring(value)


def _class(name: str, value: type) -> Iterator[str]:
    """A class: how it is made unless it only comes as a result, then its public members."""
    yield f"```python\nclass {name}\n```"
    yield from _docstring(value)
    fields = {field.name for field in dataclasses.fields(value)} if _is_data(value) else set()
    for member, found in inspect.getmembers_static(value):
        own = found.__func__ if isinstance(found, staticmethod | classmethod) else found
        if member.startswith("_") or member in fields:
            continue
        if isinstance(own, property):
            yield f"### {name}.{member}"
            yield from _docstring(own)
        elif inspect.isfunction(own):
            yield f"### {name}.{member}()"
            yield from _callable(member, own)
    if fields:
        yield "\n".join(_fields(value))


def _is_data(value: type) -> bool:
    return dataclasses.is_dataclass(value)


def _fields(value: type) -> Iterator[str]:
    """The fields of a dataclass that are public, with their types."""
    meanings = field_docs(value)
    yield "| field | type | meaning |"
    yield "| --- | --- | --- |"
    for field in dataclasses.fields(value):
        if not field.name.startswith("_"):
            kind = _annotation(field.type).replace("|", "\\|")
            yield f"| `{field.name}` | `{kind}` | {meanings.get(field.name, '')} |"


def field_docs(cls: type) -> dict[str, str]:
    """What is said of fields: a string under the field, or `name: ...` in the class docstring."""
    found: dict[str, str] = {}
    docs = " ".join(inspect.cleandoc(cls.__doc__ or "").split())
    for field in dataclasses.fields(cls):
        said = re.search(rf"(?:^|\s){field.name}: (.+?)\.(?=\s|$)", docs)
        if said:
            found[field.name] = said[1]
    for base in reversed([each for each in cls.__mro__ if dataclasses.is_dataclass(each)]):
        definition = ast.parse(textwrap.dedent(inspect.getsource(base))).body[0]
        assert isinstance(definition, ast.ClassDef)
        for node, following in pairwise(definition.body):
            if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                text = _string(following)
                if text:
                    found[node.target.id] = " ".join(text.split())
    return found


def _string(node: ast.stmt) -> str:
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return node.value.value if isinstance(node.value.value, str) else ""
    return ""


def _signature(name: str, value: Callable[..., Any]) -> str:
    """A signature as it is written in the source, a parameter a line if it is long.

    >>> def half(number: int, *, exact: bool = True) -> float: ...
    >>> _signature("half", half)
    'half(number: int, *, exact: bool = True) -> float'
    """
    found = inspect.signature(value)
    parameters = list(_parameters(found))
    ending = (
        "" if found.return_annotation is found.empty
        else f" -> {_annotation(found.return_annotation)}"
    )  # fmt: skip
    line = f"{name}({', '.join(parameters)}){ending}"
    if len(line) <= 88:
        return line
    return f"{name}(\n" + "".join(f"    {each},\n" for each in parameters) + f"){ending}"


def _parameters(signature: inspect.Signature) -> Iterator[str]:
    is_keyword_only = False
    for each in signature.parameters.values():
        if each.name == "self":
            continue
        if each.kind is each.KEYWORD_ONLY and not is_keyword_only:
            is_keyword_only = True
            yield "*"
        stars = {each.VAR_POSITIONAL: "*", each.VAR_KEYWORD: "**"}.get(each.kind, "")
        is_keyword_only |= each.kind is each.VAR_POSITIONAL
        kind = "" if each.annotation is each.empty else f": {_annotation(each.annotation)}"
        equals = " = " if kind else "="
        default = "" if each.default is each.empty else f"{equals}{each.default!r}"
        yield f"{stars}{each.name}{kind}{default}"


def _annotation(annotation: Any) -> str:
    if isinstance(annotation, str):
        return annotation
    return annotation.__name__ if isinstance(annotation, type) else str(annotation)


def _docstring(value: Any) -> Iterator[str]:
    """The paragraphs of a docstring; examples become blocks of code."""
    text = inspect.getdoc(value)
    if not text:
        raise SystemExit(f"{value!r} is public and has no docstring")
    for paragraph in re.split(r"\n{2,}", text.strip()):
        is_example = paragraph.lstrip().startswith(">>>")
        yield f"```pycon\n{inspect.cleandoc(paragraph)}\n```" if is_example else paragraph

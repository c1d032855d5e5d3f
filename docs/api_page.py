"""The page on the Python API, generated from signatures and docstrings of `diptych.__all__`."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import re
import textwrap
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any, ForwardRef

import diptych

FIRST = ("mine", "open", "Run", "Job", "Summary", "Segment", "Pair", "PageInfo", "Document",
         "PageText", "TextBlock", "AlignedText", "Term", "DiptychError")  # fmt: skip
"""names in the order in which a reader needs them; others follow in alphabetical order"""
_TUPLE = frozenset(dir(tuple))


def api() -> str:
    """The text of the page: every public name with its signature and its docstring.

    Functions come first, then the classes of results, then errors.
    """
    names = [name for name in diptych.__all__ if not name.startswith("_")]
    values = {name: getattr(diptych, name) for name in sorted(names, key=_rank)}
    return "\n\n".join(part for name, value in values.items() for part in _entry(name, value))


def _rank(name: str) -> tuple[int, int, str]:
    """The sort key of a name: its place in `ORDER`, then the alphabet."""
    value = getattr(diptych, name)
    is_error = inspect.isclass(value) and issubclass(value, Exception)
    place = FIRST.index(name) if name in FIRST else len(FIRST)
    return 2 * is_error + inspect.isclass(value), place, name


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
    """The lines on a class: its constructor, unless it is only a result, and its public members."""
    yield f"```python\nclass {name}\n```"
    yield from _docstring(value)
    fields = {} if _inherited(value) else _field_types(value)
    if fields:
        yield "\n".join(_fields(value, fields))
    inherited = _inherited(value)
    for member, found in inspect.getmembers_static(value):
        if member in inherited:
            continue
        own = found.__func__ if isinstance(found, staticmethod | classmethod) else found
        if member.startswith("_") or member in fields or member in _TUPLE | {"for_command_line"}:
            continue
        if isinstance(own, property):
            yield f"### {name}.{member}"
            yield from _docstring(own)
        elif inspect.isfunction(own):
            yield f"### {name}.{member}()"
            yield from _callable(member, own)


def _inherited(value: type) -> frozenset[str]:
    """The members that a class has from another public class, where they are described."""
    bases = [base for base in value.__bases__ if base.__name__ in diptych.__all__]
    own = vars(value)
    return frozenset(
        name for base in bases if not issubclass(base, Exception) for name in dir(base)
        if name not in own or name in _field_types(base)
    )  # fmt: skip


def _field_types(value: type) -> dict[str, Any]:
    """The public fields of a dataclass or named tuple, with their types."""
    if dataclasses.is_dataclass(value):
        found = {field.name: field.type for field in dataclasses.fields(value)}
    else:
        found = dict(value.__annotations__) if hasattr(value, "_fields") else {}
    return {name: kind for name, kind in found.items() if not name.startswith("_")}


def _fields(value: type, fields: dict[str, Any]) -> Iterator[str]:
    """The table of the fields of a class; a right field has the description of the left one."""
    meanings = field_docs(value)
    yield "| field | type | meaning |"
    yield "| --- | --- | --- |"
    for name, kind in fields.items():
        shown = _annotation(kind).replace("|", "\\|")
        yield f"| `{name}` | `{shown}` | {meanings.get(name, '')} |"


def field_docs(cls: type) -> dict[str, str]:
    """The descriptions of fields: the string below a field, or `name: ...` in the docstring."""
    found: dict[str, str] = {}
    docs = " ".join(inspect.cleandoc(cls.__doc__ or "").split())
    for name in _field_types(cls):
        said = re.search(rf"(?:^|\s){name}: (.+?)\.(?=\s|$)", docs)
        if said:
            found[name] = said[1]
    for base in reversed([each for each in cls.__mro__ if _field_types(each)]):
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
    """The signature as Python source; a long one has one parameter per line.

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
    if isinstance(annotation, ForwardRef):
        return annotation.__forward_arg__
    if isinstance(annotation, str):
        return annotation
    return annotation.__name__ if isinstance(annotation, type) else str(annotation)


def _docstring(value: Any) -> Iterator[str]:
    """The paragraphs of a docstring; examples become code blocks."""
    text = inspect.getdoc(value)
    if not text:
        raise SystemExit(f"{value!r} is public and has no docstring")
    for each in re.split(r"\n{2,}", text.strip()):
        is_example = each.lstrip().startswith(">>>")
        yield f"```pycon\n{inspect.cleandoc(each)}\n```" if is_example else " ".join(each.split())

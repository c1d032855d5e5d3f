"""Small faults that `tools/mutants.py` puts into a module, one at a time.

A fault replaces one part of the source: a comparison, an operator, a constant, a condition, a
return value, a statement, a part of a regular expression or of an SQL command.  Annotations,
decorators, docstrings, comments, error messages, prose and `__all__` are never changed.
"""

from __future__ import annotations

import ast
import copy
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from hashlib import sha256

__all__ = ["Fault", "faults_of", "faults_of_sql", "sample"]

_COMPARED: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE), ast.LtE: (ast.Lt, ast.Gt), ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt), ast.Eq: (ast.NotEq,), ast.NotEq: (ast.Eq,), ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,), ast.In: (ast.NotIn,), ast.NotIn: (ast.In,),
}  # fmt: skip
_CALCULATED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult, ast.Mod: ast.FloorDiv, ast.Pow: ast.Mult, ast.BitOr: ast.BitAnd,
    ast.BitAnd: ast.BitOr, ast.LShift: ast.RShift, ast.RShift: ast.LShift,
}  # fmt: skip
_SQL = re.compile(r"\b(?:SELECT|UPDATE|INSERT|DELETE|WHERE|ORDER BY)\b")
_NAME = "-- name: "  # comment before an SQL statement
_SQL_FAULTS = (
    (r"\bmax\(", "min("), (r"\bmin\(", "max("), (r" AND ", " OR "),
    (r" OR (?!IGNORE|REPLACE)", " AND "), (r"OR (?:IGNORE|REPLACE) ", ""),
    (r"<=", "<"), (r">=", ">"), (r" < ", " <= "), (r" > ", " >= "), (r" = 0\b", " = 1"),
    (r" = 1\b", " = 0"), (r" != ", " = "), (r"IS NOT NULL", "IS NULL"), (r"IS NULL", "IS NOT NULL"),
    (r" DESC\b", ""), (r"DISTINCT ", ""), (r"\+ ", "- "),
)  # fmt: skip
_PATTERN_FAULTS = (
    (r"\{\d+", lambda found: "{" + str(int(found[0][1:]) + 1)),
    (r",\d+\}", lambda found: f",{int(found[0][1:-1]) + 1}}}"),
    (r"(?<=[|(:])\w+\|", ""), (r"\|\w+(?=[|)])", ""), (r"\\Z", ""), (r"\^(?!\])", ""),
    (r"\+(?=[^*?\]]*\Z)", "*"),
)  # fmt: skip
LARGE = 100  # numbers from here on are doubled and halved, as tests do not check their last unit
_PATTERN_CALLS = {"compile", "search", "match", "fullmatch", "sub", "split", "findall", "finditer"}


@dataclass(frozen=True, slots=True)
class Fault:
    """A replacement of one part of the source of a module."""

    where: str
    """function, class or SQL statement, such as `Store.close`; empty at module level"""
    line: int
    was: str
    """the original lines, without comments and surrounding blanks"""
    now: str
    source: str
    """source of the whole module with the fault"""
    number: int = 1
    """number that distinguishes equal faults in a module, from 1"""

    @property
    def key(self) -> str:
        """The identity of the fault, independent of its line number."""
        return f"{self.where}\n{self.was}\n{self.now}\n{self.number}"


def faults_of(source: str) -> list[Fault]:
    r"""All faults of a module, in line order.

    >>> for fault in faults_of("def late(time: int) -> bool:\n    return time > 5\n"):
    ...     print(fault.now)
    return not (time > 5)
    return time >= 5
    return time <= 5
    return time > 6
    return time > 4
    """
    starts = [0]
    for line in source.encode("utf-8").splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    replacements = _replacements(ast.parse(source), source, starts)
    return _numbered(_applied(source, *replacement) for replacement in replacements)


def faults_of_sql(source: str) -> list[Fault]:
    r"""All faults of a file of SQL statements, each of which follows a comment with its name.

    >>> source = "-- name: old\nSELECT a WHERE b < 5 -- not b = 1\nORDER BY c DESC\n"
    >>> for fault in faults_of_sql(source):
    ...     print(fault.where, fault.line, fault.now)
    old 2 SELECT a WHERE b <= 5
    old 3 ORDER BY c
    """
    where, found = "", []
    lines = source.splitlines(keepends=True)
    for number, line in enumerate(lines):
        where = line.removeprefix(_NAME).strip() if line.startswith(_NAME) else where
        command = line.partition("--")[0]
        for text in _within(command, _SQL_FAULTS):
            changed = text + line.removeprefix(command)
            faulty = "".join([*lines[:number], changed, *lines[number + 1 :]])
            found.append(Fault(where, number + 1, command.strip(), text.strip(), faulty))
    return _numbered(found)


def _numbered(faults: Iterable[Fault | None]) -> list[Fault]:
    """The faults in line order, with numbers that distinguish equal ones."""
    counts: Counter[str] = Counter()
    found = []
    for fault in faults:
        if fault is not None:
            counts[fault.key] += 1
            found.append(replace(fault, number=counts[fault.key]))
    return sorted(found, key=lambda fault: fault.line)


def sample(faults: list[Fault], size: int, seed: str) -> list[Fault]:
    r"""A sample of faults, first one per line; changes elsewhere do not change the choice.

    >>> faults = faults_of("a = 1\nb = 2\n")
    >>> [fault.was for fault in sample(faults, 2, "0")]
    ['a = 1', 'b = 2']
    >>> moved = faults_of("# moved\n\na = 1\nb = 2\n")
    >>> [fault.now for fault in sample(faults, 3, "0")] == [
    ...     fault.now for fault in sample(moved, 3, "0")]
    True
    """
    mixed = sorted(faults, key=lambda fault: sha256(f"{seed}\n{fault.key}".encode()).digest())
    seen: Counter[int] = Counter()
    ranked = []
    for fault in mixed:
        ranked.append((seen[fault.line], fault))
        seen[fault.line] += 1
    ranked.sort(key=lambda entry: entry[0])
    return sorted((fault for _, fault in ranked[:size]), key=lambda fault: fault.line)


def _applied(source: str, where: str, start: int, end: int, text: str) -> Fault | None:
    """The fault for a replacement; None if the result does not compile or is the same code."""
    data = source.encode("utf-8")
    faulty = (data[:start] + text.encode("utf-8") + data[end:]).decode("utf-8")
    try:
        compile(faulty, "faulty", "exec", dont_inherit=True)
    except SyntaxError:
        return None
    first = data.rfind(b"\n", 0, start) + 1
    last = data.find(b"\n", end)
    tail = data[end:last].decode("utf-8")
    was = _one_line(data[first:last].decode("utf-8"))
    now = _one_line(data[first:start].decode("utf-8") + text + tail)
    if faulty == source or was == now:
        return None
    return Fault(where, data.count(b"\n", 0, start) + 1, was, now, faulty)


def _one_line(text: str) -> str:
    r"""Several lines joined into one, without trailing comments.

    >>> _one_line("  LIMIT = max(  # as others do\n      5)  # at most\n")
    'LIMIT = max( 5)'
    """
    return " ".join(re.sub(r"  # .*", "", line).strip() for line in text.splitlines())


_Replacement = tuple[str, int, int, str]


def _replacements(tree: ast.Module, source: str, starts: list[int]) -> Iterator[_Replacement]:
    """For every fault: function, first byte, last byte + 1, replacement."""
    for where, node, function in _nodes(tree, "", None):
        if not isinstance(node, (ast.expr, ast.stmt)):
            continue
        segment = ast.get_source_segment(source, node) or ""
        start = starts[node.lineno - 1] + node.col_offset
        end = starts[(node.end_lineno or node.lineno) - 1] + (node.end_col_offset or 0)
        for text in _faulty(node, segment, function):
            yield where, start, end, text
        for test in _conditions(node):
            first = starts[test.lineno - 1] + test.col_offset
            last = starts[(test.end_lineno or 0) - 1] + (test.end_col_offset or 0)
            yield where, first, last, f"not ({ast.get_source_segment(source, test)})"


def _nodes(
    node: ast.AST, where: str, function: ast.AST | None
) -> Iterator[tuple[str, ast.AST, ast.AST | None]]:
    """All nodes that may be changed, with the names of their functions."""
    yield where, node, function
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        where = f"{where}.{node.name}".lstrip(".")
        function = node
    for child in _parts(node):
        if not _stays(child):
            yield from _nodes(child, where, function)


def _parts(node: ast.AST) -> Iterator[ast.AST]:
    """The parts of a node that may be changed."""
    match node:
        case ast.JoinedStr() | ast.Raise():  # Python 3.11 does not say where its parts are; prose
            return
        case ast.Call(func=ast.Attribute(attr="encode" | "decode") as called):
            yield called
            return
        case ast.Call(func=ast.Attribute(value=ast.Name(id="re"))):
            yield from (*node.args[1:], *node.keywords)
            return
    for name, value in ast.iter_fields(node):
        if name not in {"annotation", "returns", "decorator_list", "bases"}:
            parts = value if isinstance(value, list) else [value]
            yield from (part for part in parts if isinstance(part, ast.AST))


def _stays(node: ast.AST) -> bool:
    """True if a node and everything in it must not be changed."""
    match node:
        case ast.keyword(arg="encoding" | "errors" | "strict"):
            return True
        case ast.Expr(value=ast.Constant()) | ast.Import() | ast.ImportFrom():
            return True
        case ast.If(test=ast.Name(id="TYPE_CHECKING")):
            return True
        case ast.Assign(targets=[ast.Name(id="__all__")]):
            return True
        case ast.Call(func=ast.Name(id="cast" | "TypeVar" | "NewType")):
            return True
    return False


def _conditions(node: ast.AST) -> Iterator[ast.expr]:
    """Conditions that are plain values; comparisons and operators have faults of their own."""
    tests = [node.test] if isinstance(node, (ast.If, ast.While, ast.IfExp)) else []
    for part in getattr(node, "generators", []):
        tests += part.ifs
    for test in tests:
        if not isinstance(test, (ast.Compare, ast.UnaryOp, ast.BoolOp, ast.Constant)):
            yield test


def _faulty(node: ast.AST, segment: str, function: ast.AST | None) -> Iterator[str]:
    """The replacements for a node."""
    match node:
        case ast.Compare():
            yield from _compared(node)
        case ast.BoolOp():
            other = copy.deepcopy(node)
            other.op = ast.And() if isinstance(node.op, ast.Or) else ast.Or()
            yield ast.unparse(other)
        case ast.UnaryOp(op=ast.Not() | ast.USub()):
            yield f"({ast.unparse(node.operand)})"
        case ast.BinOp() | ast.AugAssign():
            yield from _calculated(node)
        case ast.Return(value=ast.expr() as value):
            yield from _returned(value, segment, function)
        case _:
            yield from _written(node, segment)
    if _may_go(node):
        yield "pass"


def _written(node: ast.AST, segment: str) -> Iterator[str]:
    """The replacements for a constant, an SQL command or a regular expression."""
    match node:
        case ast.Constant():
            yield from _constants(node.value, segment)
        case ast.JoinedStr() if _SQL.search(segment):
            yield from _within(segment, _SQL_FAULTS)
        case ast.Attribute(value=ast.Name(id="re"), attr=attr) if attr.isupper():
            yield "0"
        case ast.Call(func=ast.Attribute(value=ast.Name(id="re"), attr=attr)):
            if attr in _PATTERN_CALLS:
                yield from _within(segment, _PATTERN_FAULTS)


def _compared(node: ast.Compare) -> Iterator[str]:
    for place, operator in enumerate(node.ops):
        for kind in _COMPARED[type(operator)]:
            other = copy.deepcopy(node)
            other.ops[place] = kind()
            yield ast.unparse(other)


def _calculated(node: ast.BinOp | ast.AugAssign) -> Iterator[str]:
    kind = _CALCULATED.get(type(node.op))
    sides = [node.left, node.right] if isinstance(node, ast.BinOp) else [node.value]
    if kind is None or any(_is_text(side) for side in sides):
        return
    other = copy.deepcopy(node)
    other.op = kind()
    yield ast.unparse(other)


def _is_text(node: ast.expr) -> bool:
    if isinstance(node, ast.BinOp):
        return _is_text(node.left) or _is_text(node.right)
    return isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.Constant) and isinstance(node.value, (str, bytes))
    )


def _returned(value: ast.expr, segment: str, function: ast.AST | None) -> Iterator[str]:
    returns = getattr(function, "returns", None)
    if isinstance(returns, ast.Name) and returns.id == "bool":
        if not isinstance(value, ast.Constant):
            yield f"return not ({segment.removeprefix('return').strip()})"
    elif not isinstance(value, ast.Constant):
        yield "return None"


def _constants(value: object, segment: str) -> Iterator[str]:
    if isinstance(value, bool):
        yield str(not value)
    elif isinstance(value, int):
        yield from map(str, _numbers(value))
    elif isinstance(value, float):
        yield str(value * 2 or 1.0)
    elif isinstance(value, str) and _SQL.search(value):
        yield from _within(segment, _SQL_FAULTS)
    elif isinstance(value, str) and len(value.split()) < 2:
        yield repr(value + "x")
    elif isinstance(value, bytes) and len(value.split()) < 2:
        yield repr(value + b"x")


def _numbers(value: int) -> tuple[int, ...]:
    if abs(value) >= LARGE:
        return value * 2, value // 2
    return (value + 1, value - 1) if value else (1,)  # of a row of one, [-1] is [0]


def _within(segment: str, faults: tuple[tuple[str, object], ...]) -> Iterator[str]:
    """Variants of a text, each with one match replaced."""
    for pattern, other in faults:
        for found in re.finditer(pattern, segment):
            text = other(found) if callable(other) else str(other)
            yield segment[: found.start()] + text + segment[found.end() :]


def _may_go(node: ast.AST) -> bool:
    """True if a statement can be removed without leaving a name undefined."""
    match node:
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):
            return True
        case ast.Return(value=None):
            return True
        case ast.Expr() | ast.AugAssign() | ast.Raise() | ast.Continue() | ast.Break():
            return True
        case ast.Delete():
            return True
    return False

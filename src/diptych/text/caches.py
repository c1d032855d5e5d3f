"""Caches of texts, bounded in bytes: a page may hold thousands of long texts, each met once."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

_ENTRY = 160  # bytes of an entry apart from its characters: a text, a place in a dict, a number

_Value = TypeVar("_Value")


class TextMap(dict[str, _Value]):
    """Values by text; all are forgotten when they take too many bytes.

    What is known is looked up as in any dict, which costs next to nothing.
    """

    def __init__(self, max_bytes: int, *, per_entry: int = 0, per_character: int = 1) -> None:
        super().__init__()
        self._max_bytes = max_bytes
        self._per_entry = _ENTRY + per_entry
        self._per_character = per_character
        self.bytes = 0
        """estimate of what is held, with the values"""

    def keep(self, text: str, value: _Value, size: int = 0) -> _Value:
        """Keep the value of a text, which takes so many bytes more than others, and return it."""
        if size or text not in self:
            size += self._per_entry + self._per_character * len(text)
            if self.bytes + size > self._max_bytes:
                self.clear()
            if size > self._max_bytes:
                return value
            self.bytes += size
        self[text] = value
        return value

    def clear(self) -> None:
        """Forget all."""
        super().clear()
        self.bytes = 0


class TextCache(TextMap[_Value]):
    """The values of a function of texts: `cache[text]` calls it where the value is not known."""

    def __init__(
        self,
        function: Callable[[str], _Value],
        max_bytes: int,
        *,
        per_entry: int = 0,
        per_character: int = 1,
    ) -> None:
        super().__init__(max_bytes, per_entry=per_entry, per_character=per_character)
        self._function = function

    def __missing__(self, text: str) -> _Value:
        return self.keep(text, self._function(text))

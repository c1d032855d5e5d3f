"""Caches of texts, bounded in bytes: a page may hold thousands of long texts, each met once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

_ENTRY = 160  # bytes of an entry apart from its characters: a text, a place in a dict, a number
_ONE_IN = 16  # values without room, of which one is taken in: C of N texts in turn hit C times in N
# up to N = 16 C, and what is no longer asked for is gone after 16 C misses

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

    def keep(self, text: str, value: _Value) -> _Value:
        """Keep the value of a text and return it."""
        if text not in self:
            size = self._per_entry + self._per_character * len(text)
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


class LastingMap(Generic[_Value]):
    """Values that cost much to make, of texts that are asked for in turn, bounded in bytes.

    What is held stays when there is no room: a map that takes in every value would have dropped
    each before its next turn.  One new value in so many takes the place of the oldest ones.
    """

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._held: dict[str, tuple[_Value, int]] = {}
        self._without_room = 0
        self.bytes = 0
        """estimate of what is held"""

    def get(self, text: str) -> _Value | None:
        """The value of a text, if it is held."""
        held = self._held.get(text)
        return held[0] if held else None

    def keep(self, text: str, value: _Value, size: int) -> _Value:
        """Take a value of so many bytes in, if there is room, and return it."""
        self._drop(text)
        size += _ENTRY + len(text)
        if self.bytes + size > self._max_bytes:
            self._without_room += 1
            if size > self._max_bytes or self._without_room % _ONE_IN:
                return value
        while self.bytes + size > self._max_bytes:
            self._drop(next(iter(self._held)))
        self._held[text] = value, size
        self.bytes += size
        return value

    def _drop(self, text: str) -> None:
        if text in self._held:
            self.bytes -= self._held.pop(text)[1]

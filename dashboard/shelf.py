"""A cache of the last answers, for all users of this process."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

from cachetools import LRUCache

V = TypeVar("V")


class Shelf(Generic[V]):
    """An LRU cache shared by all readers of this process: `most` values, or values of that total weight."""

    def __init__(self, most: int, weight: Callable[[V], int] | None = None) -> None:
        self._kept: LRUCache[object, V] = LRUCache(most, weight and (lambda value: min(weight(value), most)))
        self._lock = threading.Lock()

    def get(self, key: object) -> V | None:
        with self._lock:
            return self._kept.get(key)

    def of(self, key: object, make: Callable[[], V]) -> V:
        """Return the cached value of a key, or make it now without blocking other keys."""
        with self._lock:
            if key in self._kept:
                return self._kept[key]
        return self.put(key, make())

    def put(self, key: object, value: V) -> V:
        with self._lock:
            self._kept[key] = value
        return value

    def drop(self, key: object) -> None:
        with self._lock:
            self._kept.pop(key, None)

    def clear(self) -> None:
        with self._lock:
            self._kept.clear()

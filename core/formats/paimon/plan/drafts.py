"""A change of references in preparation: what will be written, what will be deleted, and why."""

from __future__ import annotations

from dataclasses import dataclass, field

from core.messages import Reason
from core.model.effects import RaiseHint, SetHint
from core.model.references import Snapshot


@dataclass(slots=True)
class Draft:
    """References and hints of a change in preparation.

    `after`: all references afterwards. `order`: paths in the order of their changes. `why`: reasons by deleted path.
    `hints`: (position in `order`, effect). `guards`: references that must not change. `clears`: directories left
    empty.
    """

    after: dict[str, bytes]
    order: list[str] = field(default_factory=list)
    why: dict[str, Reason] = field(default_factory=dict)
    hints: list[tuple[int, SetHint | RaiseHint]] = field(default_factory=list)
    guards: list[str] = field(default_factory=list)
    clears: tuple[str, ...] = ()
    warnings: list[Reason] = field(default_factory=list)
    source: Snapshot | None = None

    def sets(self, path: str, content: bytes) -> None:
        self.after[path] = content
        self.order.append(path)

    def removes(self, path: str, why: Reason) -> None:
        if self.after.pop(path, None) is not None:
            self.order.append(path)
            self.why[path] = why

    def hint(self, path: str, number: int | None) -> None:
        self._hint(SetHint(path, None if number is None else str(number).encode()))

    def hides(self, path: str, first: str) -> None:
        """Have the hint name this reference, before older ones are deleted. It is deleted as well, after them."""
        self._hint(RaiseHint(path, first, self.after[first]))

    def _hint(self, effect: SetHint | RaiseHint) -> None:
        self.hints.append((len(self.order), effect))

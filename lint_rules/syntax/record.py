"""Small objects that never change, compared by identity: what is found is told in them, many thousand times a file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

Record = TypeVar("Record")

if TYPE_CHECKING:
    from typing_extensions import dataclass_transform

    @dataclass_transform(eq_default=False, frozen_default=True)
    def record(cls: type[Record], /) -> type[Record]: ...

else:
    # That nothing is changed is seen to by type checkers. At run time it would make the making of one twice as dear,
    # and take four more functions a class, compiled at each start.
    record = dataclass(eq=False, repr=False, slots=True)

"""Formats values as the judges do."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any


def shown(value: Any) -> Any:
    """Format a value as the judges do."""
    match value:
        case dt.datetime():
            fraction = f".{value.microsecond:06d}" if value.microsecond else ""
            fraction = fraction[:4] if fraction.endswith("000") else fraction
            seconds = f":{value.second:02d}{fraction}" if value.second or fraction or value.tzinfo else ""
            return f"{value.replace(tzinfo=None).isoformat(timespec='minutes')}{seconds}" + (
                "Z" if value.tzinfo else ""
            )
        case dt.date():
            return value.isoformat()
        case Decimal():
            return format(value, "f")
        case bytes():
            return value.hex()
        case list():
            return [shown(each) for each in value]
        case _:
            return value

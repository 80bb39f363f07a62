"""What ANALYZE refuses says which option or column it was, and what to do instead."""

from __future__ import annotations

import pytest

from core.errors import Unsupported
from core.formats.paimon.ways_out import CHANGE
from core.model.references import Field, Schema
from core.spark.write import analyze


def _schema(**options: str) -> Schema:
    fields = (Field(0, "k", "INT"), Field(1, "m", "MAP<STRING, INT>"))
    return Schema(0, fields, (), (), options, 0)


@pytest.mark.parametrize(("name", "value"), [("manifest.format", "orc"), ("commit.callbacks", "org.example.Told")])
def test_a_refused_option_is_named_with_the_way_out(name: str, value: str) -> None:
    with pytest.raises(Unsupported, match=name) as refused:
        analyze._refuse(_schema(**{name: value}))
    assert refused.value.remedy == CHANGE


def test_a_column_without_statistics_is_named_with_the_way_out() -> None:
    with pytest.raises(Unsupported, match="'m'") as refused:
        analyze._chosen(_schema(), ["k", "m"])
    assert refused.value.remedy == "Leave the column out."

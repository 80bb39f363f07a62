"""Comparing two versions: each may be given by the plain name of a tag."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import pytest
import streamlit as st

from core.table import open_table, resolve
from dashboard import data, words
from dashboard.components import frame, version_picker
from dashboard.components.history import compare, snapshot_details
from tests.support.builders import DAY_MS, TableBuilder


@pytest.mark.parametrize("text", ["v1", "tag:v1"])
def test_a_tag_is_found_by_its_plain_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    made = TableBuilder(tmp_path / "shop.db" / "orders", step_ms=DAY_MS)
    made.commit([made.file(1_000, rows=10)])
    made.tag("v1")
    made.commit([made.file(2_000, rows=10)])
    table = open_table(str(made.root))
    opened: Any = SimpleNamespace(
        ref=SimpleNamespace(location=str(made.root)), heads=table.heads(), zone="UTC", now_ms=0
    )
    monkeypatch.setattr(data, "table", lambda location: table)
    monkeypatch.setattr(st, "session_state", {})
    found = snapshot_details.resolve(opened, text)
    assert (found.point, found.snapshot.id) == ("tag:v1", 1)
    assert compare._in_order(snapshot_details.resolve(opened, "2"), found) == ("tag:v1", "2")


def test_a_tag_whose_name_is_markdown_is_shown_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = TableBuilder(tmp_path / "shop.db" / "orders", step_ms=DAY_MS)
    made.commit([made.file(1_000, rows=10)])
    made.tag("*v1* [a] `b` $x$")
    made.commit([made.file(2_000, rows=10)])
    heads = open_table(str(made.root)).heads()
    tag, snapshot = (SimpleNamespace(found=resolve(heads, point)) for point in ("tag:*v1* [a] `b` $x$", "2"))
    box = MagicMock()
    box.open = True
    monkeypatch.setattr(st, "expander", lambda *_, **__: box)
    monkeypatch.setattr(st, "caption", lambda _: None)
    monkeypatch.setattr(version_picker, "pick", lambda *_, **__: tag)
    labels: list[str] = []
    monkeypatch.setattr(frame, "link", lambda _page, label, *_, **__: labels.append(label))
    opened: Any = SimpleNamespace(heads=heads)
    compare.draw(opened, snapshot.found)
    assert labels == [words.diff_with(r"tag:\*v1\* \[a\] \`b\` \$x\$", "2")]

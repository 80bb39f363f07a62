"""Converts core values to table rows and lists of facts.

Invariant: every cell is text or a plain number in a fixed unit. Ids are text, because browsers lose digits beyond
2**53.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping, Sequence

import numpy as np
import pandas as pd

from core.messages import sentences
from core.model.effects import Effect, steps
from core.model.expiry import Expiry
from core.model.history import History
from core.model.plan import Plan
from core.model.references import MAIN, Heads, Line, Schema, Snapshot
from core.reports import json as answers
from dashboard import words
from dashboard.charts.pointer import periods
from dashboard.charts.trends import Trend
from dashboard.formatting import markup, units
from dashboard.formatting.markup import Piece
from dashboard.formatting.prices import Price, price_suffix

NO_WATERMARK = -(2**63)  # written by engines without a watermark

# one point -----------------------------------------------------------------------------------------------------------


def trend(heads: Heads, history: History | None) -> Trend:
    """Return rows, files and bytes of main's versions in id order, including expired snapshots kept by tags."""
    line = heads.main
    found = {tag.snapshot.id: (f"tag:{tag.name}", tag.snapshot) for tag in reversed(line.tags)}
    found |= {snapshot.id: (str(snapshot.id), snapshot) for snapshot in line.snapshots}
    numbers = sorted(found) if heads.capabilities.ids_are_ordered else [snapshot.id for snapshot in line.snapshots]
    ordered = [found[number] for number in numbers]
    points = tuple(point for point, _ in ordered)
    times = tuple(snapshot.time_ms for _, snapshot in ordered)
    rows = tuple(snapshot.total_rows for _, snapshot in ordered)
    if history is None or not points:
        return Trend(points, times, rows).with_steps()
    places = [history.position(point) for point in points]
    blind = set(history.incomplete)

    def of(values: np.ndarray) -> tuple[int | None, ...]:
        return tuple(None if place in blind else int(values[place]) for place in places)

    totals = history.totals
    return Trend(points, times, rows, of(totals.files), of(totals.bytes)).with_steps()


def due(ends: Mapping[str, Expiry], now_ms: int) -> frozenset[str]:
    """Return the versions that the next expiry under the table's own rules removes."""
    return frozenset(
        point for point, end in ends.items() if end.not_before_ms is not None and end.not_before_ms <= now_ms
    )


def point_facts(
    heads: Heads,
    history: History | None,
    point: str,
    branch: str,
    snapshot: Snapshot,
    zone: str,
    now_ms: int,
    expiration: str | None = None,
) -> list[tuple[str, Piece]]:
    """List the most important facts of a version; `goes` says when it expires automatically."""
    line = heads.line(branch) or heads.main
    retained = any(each.id == snapshot.id and each.content == snapshot.content for each in line.snapshots)
    named = line.tags if heads.capabilities.branches_are_directories else heads.main.tags
    tags = [tag.name for tag in named if tag.snapshot.id == snapshot.id]
    names = words.FIELD_NAMES
    found: list[tuple[str, Piece]] = [
        (names["snapshot"], markup.mono(snapshot.id)),
        (names["kind"], words.commit_kind(snapshot.kind)),
        (names["committed"], markup.moment(snapshot.time_ms, zone, now_ms)),
    ]
    if branch in heads.branches:
        found.append((names["branch"], markup.chip("branch", branch)))
    if not retained:
        found.append((names["standing"], words.EXPIRED_HELD))
    if snapshot.note:
        found.append((names["standing"], words.capitalized(snapshot.note)))
    if heads.capabilities.time_by_log:
        found.append((names["main"], words.pointed(periods(heads.pointer, snapshot.id), zone)))
    if tags:
        found.append((names["tags"], markup.join(markup.chip("tag", name) for name in tags)))
    if expiration:
        found.append((names["goes"], expiration))
    found.append((names["rows"], _rows_text(snapshot)))
    if history is not None:
        position = history.position(point)
        less = position in history.incomplete
        files = units.count(int(history.totals.files[position]))
        found.append((names["files"], ("≥ " if less else "") + files))
        found.append((names["bytes"], markup.size(int(history.totals.bytes[position]), at_least=less)))
    found.append((names["schema"], _schema_text(line, snapshot)))
    if snapshot.watermark is not None:
        found.append(
            (names["watermark"], markup.join([units.moment(snapshot.watermark, zone), markup.mono(snapshot.watermark)]))
        )
    if snapshot.fields.get("operation"):
        found.append((names["operation"], str(snapshot.fields["operation"])))
    if snapshot.commit_user:
        found.append((names["user"], markup.mono(snapshot.commit_user)))
    return found


def every_field(snapshot: Snapshot, zone: str) -> list[tuple[str, Piece]]:
    """List every field of the snapshot JSON as written, numbers with all digits; the interpretation is shown next to
    it."""
    found: list[tuple[str, Piece]] = []
    for name, value in snapshot.fields.items():
        if isinstance(value, dict) and value:
            found += [(f"{name}.{inner}", _measured(str(inner), each, zone)) for inner, each in value.items()]
        else:
            found.append((str(name), _measured(str(name), value, zone)))
    return found


def _measured(name: str, value: object, zone: str) -> Piece:
    """Render a value as written, with its unit if the name implies one."""
    written = markup.mono(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
    text, name = str(value), name.lower().replace("-", "")
    if not re.fullmatch(r"-?\d{1,19}", text):
        return written
    number = int(text)
    if name in ("timemillis", "timestampms") or (name == "watermark" and number > NO_WATERMARK):
        unit = units.moment(number, zone, exact=True)
    elif name.endswith("size"):
        unit = units.size(number)
    elif name.endswith(("recordcount", "records")):
        unit = units.plural(number, "row")
    else:
        return written
    return markup.join([written, markup.muted(unit)])


def _rows_text(snapshot: Snapshot) -> Piece:
    if snapshot.delta_rows is None:
        return units.count(snapshot.total_rows)
    meaning = "added" if snapshot.delta_rows > 0 else "removed"
    change = markup.in_hue(meaning, units.signed(snapshot.delta_rows)) if snapshot.delta_rows else markup.muted("±0")
    return markup.join([units.count(snapshot.total_rows), change])


def _schema_text(line: Line, snapshot: Snapshot) -> Piece:
    schema: Schema | None = line.schemas.get(snapshot.schema_id)
    if schema is None:
        return f"{snapshot.schema_id} ({words.UNREADABLE})"
    names = ", ".join(column.name for column in schema.fields)
    return markup.hint(f"{schema.id} · {units.plural(len(schema.fields), 'column')}", names)


# plans ---------------------------------------------------------------------------------------------------------------


def verdicts(plan: Plan, heads: Heads, zone: str) -> pd.DataFrame:
    """List all versions of a plan: expired ones first, then those kept, each newest first."""
    by_point: Mapping[str, Snapshot | None] = _snapshots(heads)
    found = [
        {
            "point": verdict.point,
            "verdict": words.fate(plan.change, verdict.point, verdict.keep),
            "committed": units.moment(at.time_ms, zone) if (at := by_point.get(verdict.point)) else "—",
            "reasons": words.listing(sentences(verdict.reasons)),
            "keep": verdict.keep,
        }
        for verdict in reversed(plan.points)
    ]
    frame = pd.DataFrame(found, columns=["point", "verdict", "committed", "reasons", "keep"])
    return frame.sort_values("keep", kind="stable").drop(columns="keep").reset_index(drop=True)


def freed_parts(plan: Plan, price: Price | None = None) -> list[tuple[str, str, int]]:
    """`(hue, word, bytes)` of each part of the bar: reclaimed, kept by tags alone, kept otherwise. With a price, the
    words include the cost."""
    parts = [
        ("freed", words.PART_FREED, plan.freed_bytes),
        ("tag", words.PART_TAGS, plan.tags_keep_bytes),
        ("compaction", words.PART_STAYS, plan.kept_bytes - plan.tags_keep_bytes),
    ]
    return [(hue, word + price_suffix(size, price), size) for hue, word, size in parts if hue != "tag" or size]


def effects(found: Sequence[Effect]) -> list[list[Piece]]:
    """List the steps: number, action and condition."""
    return [[units.count(number), words.spoken(step.words)] for number, step in enumerate(steps(found), 1)]


def freed_kinds(plan: Plan) -> list[list[Piece]]:
    """List the reclaimed files by kind: kind, files, and bytes with a bar."""
    most = max((size for _, _, size in plan.by_kind()), default=0) or 1
    return [[kind, units.count(files), markup.bar("freed", size / most, size)] for kind, files, size in plan.by_kind()]


def freed_files(plan: Plan) -> pd.DataFrame:
    """List every file that would be deleted: path, kind, size."""
    frame: pd.DataFrame = plan.frees.to_pandas()
    return frame


def ended_files(plan: Plan) -> pd.DataFrame:
    """List every file that a commit removes, largest first: path, partition, rows, size."""
    frame: pd.DataFrame = plan.leaving.sort_by([("bytes", "descending"), ("path", "ascending")]).to_pandas()
    return frame


def _snapshots(heads: Heads) -> Mapping[str, Snapshot]:
    found: dict[str, Snapshot] = {}
    for line in heads.lines:
        before = "" if line.branch == MAIN else f"branch:{line.branch}/"
        found |= {f"{before}{snapshot.id}": snapshot for snapshot in line.snapshots}
        found |= {f"{before}tag:{tag.name}": tag.snapshot for tag in line.tags}
        found |= {f"{before}changelog:{each.id}": each for each in line.changelogs}
    return found


# tags ----------------------------------------------------------------------------------------------------------------


def tags(line: Line, history: History | None, ends: Mapping[str, Expiry], zone: str, now_ms: int) -> pd.DataFrame:
    """List the tags, newest snapshot first; costs come before other columns. `ends`: when versions expire."""
    retained: Collection[int] = {snapshot.id for snapshot in line.snapshots}
    before = "" if line.branch == MAIN else f"branch:{line.branch}/"
    if history is not None:
        retained = history.heads.retained(line)
    costs = {} if history is None else {each["point"]: each for each in answers.tag_costs(history, now_ms)}
    found = []
    for tag in reversed(line.tags):
        cost, end = costs.get(f"{before}tag:{tag.name}", {}), ends[f"{before}tag:{tag.name}"]
        found.append(
            {
                "name": tag.name,
                "snapshot": str(tag.snapshot.id),
                "standing": words.RETAINED if tag.snapshot.id in retained else words.EXPIRED_HELD,
                "committed": units.moment(tag.snapshot.time_ms, zone),
                "rows": tag.snapshot.total_rows,
                "retained": words.tag_retained(tag.retained),
                "expires": words.tag_expiration(tag, zone, end),
                "cost": cost.get("exclusive_now_bytes"),
                "later": cost.get("exclusive_after_policy_bytes"),
            }
        )
    columns = ["name", "snapshot", "cost", "later", "expires", "committed", "rows", "standing", "retained"]
    return pd.DataFrame(found, columns=columns).astype({"cost": "Int64", "later": "Int64"})


def dearest(frame: pd.DataFrame, cost: str) -> tuple[str, int] | None:
    """Return the most expensive tag by a cost column and its bytes; None if a cost is unknown."""
    if frame[cost].hasnans or frame.empty:
        return None
    at = int(frame[cost].astype("int64").to_numpy().argmax())
    return str(frame["name"].iloc[at]), int(frame[cost].iloc[at])

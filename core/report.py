"""Reports to hand on: a plan for approval, a difference, a table's state, each as one HTML file. Values in, text out.

Law: a report says what was read and when, names its rule, and counts what it does not list. The command of a plan
carries out that very plan or refuses.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import version

import pyarrow as pa

from core import answers, spoken
from core.asof import AsOf
from core.danger import danger
from core.diff import Diff, deletes
from core.expiry import expiries
from core.forecast import Forecast
from core.history import History
from core.model import Heads, Snapshot
from core.planned import LEAVING, Plan, Verdict
from core.questions import by_holders
from core.sheet import (
    UTC,
    Html,
    Piece,
    command,
    count,
    exact,
    facts,
    marked,
    moment,
    mono,
    note,
    page,
    section,
    sentence,
    signed,
    size,
    table,
)
from core.units import several
from core.units import size as rounded

FILES_LISTED = 5_000
POINTS_LISTED = 1_000
PARTITIONS_LISTED = 300
_ALIKE = 4  # so many neighbours with one reason share a line
_LESS = (
    "What could not be read is missing from every sum here: sizes, rows and files are at least what is told (≥), and "
    "what deleting a tag frees is not told."
)
_NOT_EXACT = "Points that cannot be read may hold some of these files, too."
_FREES = "A file goes if some going point holds it and no remaining point of any branch, tag or changelog does."
_RUNS = (
    "This command runs exactly this plan or refuses: it plans again at the same moment, and where one reference of the "
    "table has changed since, the fingerprint is another one and nothing is touched."
)


def of_plan(
    plan: Plan,
    heads: Heads,
    title: str,
    *,
    zone: str = UTC,
    native: Sequence[str] = (),
    coming: Forecast | None = None,
) -> str:
    """A plan for approval: what goes and why, what keeps the rest, what to mind, and what runs exactly this."""
    asked = danger(plan, heads.name)
    typed = f" It asks for “{asked.phrase}” to be typed." if asked.phrase else ""
    runs_it = spoken.exactly(plan.change, heads.location, plan.now_ms, plan.fingerprint)
    by_point = _snapshots(heads)
    goes = [_going(verdict, by_point, zone) for verdict in plan.goes[:POINTS_LISTED]]
    warnings = [note(each) for each in (*plan.warnings, *(f"{each[:1].upper()}{each[1:]}." for each in asked.why))]
    next_commit = [] if coming is None else [sentence(coming.headline), *(note(each) for each in coming.breaks)]
    left = plan.orphans.to_pylist()[:FILES_LISTED]
    parts = [
        facts(
            [
                ("Table", mono(heads.location)),
                ("Change", _change(plan)),
                ("Frees", f"{exact(plan.freed_bytes)} in {several(len(plan.frees), 'file')}"),
                ("Still held", exact(plan.kept_bytes)),
                ("Points that go", f"{len(plan.goes):,} of {len(plan.points):,}"),
                ("Rules", plan.rules),
                ("Judged at", moment(plan.now_ms, zone)),
                ("Fingerprint", mono(plan.fingerprint)),
            ]
        ),
        section("What to mind", *warnings),
        section(
            "To carry it out",
            command(runs_it),
            sentence(_RUNS + typed),
        ),
        section(
            "What goes",
            table(("Point", "", "Committed", "By", "Why"), goes, of=len(plan.goes), what="points"),
        ),
        section("What stays, and why", table(("Point", "#Points", "Why"), _staying(plan.points))),
        section(
            "Files that go",
            sentence(_FREES),
            table(("Kind", "#Files", "#Bytes"), [(kind, count(n), size(total)) for kind, n, total in plan.by_kind()]),
            _listed(plan.frees, ("path", "kind", "bytes")),
        )
        if len(plan.frees)
        else Html(""),
        section(
            "Held by nothing afterwards",
            table(("Path", "Kind", "#Bytes"), [_file(each) for each in left], of=len(plan.orphans), what="files"),
        ),
        section("Live files that the commit ends", *(sentence(each) for each in plan.notes)),
        _listed(plan.leaving, LEAVING.names) if len(plan.leaving) else Html(""),
        section("References that are written", _references(plan)),
        section("The engine's own deletion, beside it", *(sentence(each) for each in native)),
        section("What the next commit does by itself", *next_commit),
    ]
    return page(f"{title}: {plan.headline}", "A plan, for approval. Nothing was changed.", parts, _foot(heads))


def of_diff(value: Diff, history: History, title: str, *, zone: str = UTC) -> str:
    """Which files, columns and options differ between two points."""
    total, location = value.summary, history.heads.location
    headline = (
        f"{title}: from {value.a.point} to {value.b.point}, {signed(total['net_rows'])} rows in files, "
        f"{'−' if total['net_bytes'] < 0 else '+'}{rounded(abs(total['net_bytes']))}"
    )
    sums = [
        (name.capitalize(), *(_sums(total, name)), *(_sums(total, f"compaction_{name}")))
        for name in ("added", "removed")
    ]
    heads = ("", "#Files", "#Rows", "#Bytes", "#of it compaction: files", "#rows", "#bytes")
    partitions = [
        (
            mono(each["partition"] or "—"),
            "—" if each["bucket"] is None else str(each["bucket"]),
            f"+{each['added_files']:,} −{each['removed_files']:,}",
            signed(each["added_rows"] - each["removed_rows"]),
            size(each["added_bytes"] - each["removed_bytes"]),
        )
        for each in value.partitions.slice(0, PARTITIONS_LISTED).to_pylist()
    ]
    columns = ("path", "change", "partition", "rows", "bytes")
    parts = [
        facts([("Table", mono(location)), ("From", _point(value.a, zone)), ("To", _point(value.b, zone))]),
        note("The second point is the older one: what was added since reads as removed.")
        if value.is_backwards
        else Html(""),
        section("Files", table(heads, sums), note(missed) if (missed := deletes(value)) else Html("")),
        section("Commits between", _commits([(str(each.id), each) for each in value.commits], zone)),
        section("Columns", *(sentence(each) for each in value.schema_changes)),
        section("Options", *(sentence(each) for each in value.option_changes)),
        section(
            "By partition",
            table(
                ("Partition", "Bucket", "#Files", "#Rows", "#Bytes"),
                partitions,
                of=len(value.partitions),
                what="partitions",
            ),
        ),
        section("Files added", _listed(value.added, columns)),
        section("Files removed", _listed(value.removed, columns)),
        section("To see it again", command(f"{spoken.line('diff', location, value.a.point, value.b.point)}")),
    ]
    return page(
        headline, "The difference of two points, from manifests; no data was read.", parts, _foot(history.heads)
    )


def of_table(history: History, at: AsOf | None, title: str, *, zone: str = UTC, now_ms: int) -> str:
    """A table's state: what stands at a point (None: nothing was ever committed), and all that names its history."""
    heads = history.heads
    line = (heads.line(at.branch) if at else None) or heads.main
    schema = at.schema if at else line.schema
    kept = history.existing
    shown: list[tuple[str, Piece]] = [
        ("Table", mono(heads.location)),
        ("Format", heads.format.capitalize()),
        ("Read at", moment(now_ms, zone)),
        ("Everything held", ("≥ " if history.incomplete else "") + exact(history.bytes_of(history.held.over(kept)))),
    ]
    parts = [facts(shown), *(note(each.sentence(), "problem") for each in history.problems)]
    parts += [note(each.sentence()) for each in history.warnings]
    parts += [note(_LESS, "problem")] if history.incomplete else []
    if at is not None:
        parts.append(_standing(history, at, zone))
    if schema is not None:
        rows = [
            (str(each.id), mono(each.name), mono(each.type), "key" if each.name in schema.primary_keys else "", note_)
            for each in schema.fields
            for note_ in ["partition" if each.name in schema.partition_keys else ""]
        ]
        parts.append(section(f"Columns (schema {schema.id})", table(("#Id", "Name", "Type", "", ""), rows)))
    snapshots = [(_before(of.branch, heads) + str(it.id), it) for of in heads.lines for it in of.snapshots[::-1]]
    readers = [(mono(each.name), mono(each.next_snapshot)) for of in heads.lines for each in of.consumers]
    ends = {point: each.words for point, each in expiries(heads, now_ms).items()}
    parts += [
        section("Tags", _tags(history, zone, now_ms)),
        section("Branches", table(("Branch", "Head", "Committed", "#Snapshots"), _branches(heads, zone))),
        section("Readers", table(("Consumer", "Reads next"), readers)),
        section("Snapshots", _commits(snapshots, zone, ends=ends)),
        section(
            "Who holds the bytes",
            sentence("Each file stands in one line: that of the exact set of names that hold it."),
            note(_NOT_EXACT) if history.incomplete else Html(""),
            table(
                ("Held by exactly", "#Files", "#Bytes"),
                [
                    (each["holders"], count(each["files"]), size(each["bytes"]))
                    for each in by_holders(history).to_pylist()
                ],
            ),
        ),
        section("Options", table(("Option", "Value"), [(mono(k), mono(v)) for k, v in sorted(line.options.items())])),
    ]
    if at is not None:
        parts.append(section(f"Partitions at {at.point}", _partitions(history, at)))
    again = ["report", heads.location, *(["--at", at.point] if at else []), "-o", "report.html"]
    parts.append(section("To make it again", command(spoken.line(*again))))
    where = "without any commit" if at is None else f"at {at.point}"
    return page(f"{title} {where}", "The state of a table, from its metadata; no data was read.", parts, _foot(heads))


# a plan ---------------------------------------------------------------------------------------------------------------


def _change(plan: Plan) -> str:
    kind = "".join(f" {each.lower()}" if each.isupper() else each for each in type(plan.change).__name__).strip()
    return f"{kind.capitalize()}, branch {plan.change.branch}"


def _going(verdict: Verdict, by_point: dict[str, Snapshot], zone: str) -> tuple[Piece, ...]:
    at = by_point.get(verdict.point)
    who = (moment(at.time_ms, zone), at.commit_user) if at else ("—", "—")
    return (mono(verdict.point), marked("goes", "goes"), *who, "; ".join(verdict.reasons))


def _staying(points: Iterable[Verdict]) -> list[tuple[Piece, ...]]:
    """A line a point; neighbours that stay for one and the same reason share one."""
    rows: list[tuple[Piece, ...]] = []
    stays = [verdict for verdict in points if verdict.keep]
    for reasons, alike in itertools.groupby(stays, key=lambda each: each.reasons):
        names, why = [each.point for each in alike], "; ".join(reasons)
        if len(names) < _ALIKE:
            rows += [(mono(name), "1", why) for name in names]
        else:
            rows.append((mono(f"{names[0]} … {names[-1]}"), count(len(names)), why))
    return rows


def _references(plan: Plan) -> Html:
    """Reference files that go, are made or are written anew, in order."""
    rows: list[tuple[Piece, ...]] = [(marked("goes", "goes"), mono(path)) for path, _ in plan.removes]
    rows += [("made", mono(path)) for path in plan.leaves]
    rows += [("set" if step.after is not None else marked("goes", "goes"), mono(step.path)) for step in plan.steps]
    return table(("", "File"), rows[:FILES_LISTED], of=len(rows), what="references")


# a table --------------------------------------------------------------------------------------------------------------


def _standing(history: History, at: AsOf, zone: str) -> Html:
    """What a reader of the point sees."""
    position = history.position(at.point)
    less = position in history.incomplete
    totals = history.totals
    return section(
        f"At {at.point}",
        facts(
            [
                ("Snapshot", _point(at, zone)),
                ("Commit", at.snapshot.kind),
                ("By", mono(at.snapshot.commit_user)),
                ("Rows in files", count(at.snapshot.total_rows)),
                ("Files", count(int(totals.files[position]), at_least=less)),
                ("Bytes", ("≥ " if less else "") + exact(int(totals.bytes[position]))),
            ]
        ),
    )


def _partitions(history: History, at: AsOf) -> Html:
    grouped = (
        history.files_at(history.position(at.point))
        .group_by("partition")
        .aggregate([("path", "count"), ("rows", "sum"), ("bytes", "sum")])
        .sort_by([("bytes_sum", "descending"), ("partition", "ascending")])
    )
    less = history.position(at.point) in history.incomplete
    rows: list[tuple[Piece, ...]] = [
        (
            mono(each["partition"] or "—"),
            *(count(each[name], at_least=less) for name in ("path_count", "rows_sum")),
            size(each["bytes_sum"], at_least=less),
        )
        for each in grouped.slice(0, PARTITIONS_LISTED).to_pylist()
    ]
    heads = ("Partition", "#Files", "#Rows", "#Bytes")
    return table(heads, rows, of=len(grouped), what="partitions, greatest first,")


def _tags(history: History, zone: str, now_ms: int) -> Html:
    tags = {(line.branch, tag.name): tag for line in history.heads.lines for tag in line.tags}
    costs = {each["point"]: each for each in answers.tag_costs(history, now_ms)}
    rows = []
    for (branch, name), tag in tags.items():
        prefix = _before(branch, history.heads)
        cost = costs.get(f"{prefix}tag:{name}", {})
        rows.append(
            (
                mono(f"{prefix}{name}"),
                mono(tag.snapshot.id),
                moment(tag.snapshot.time_ms, zone),
                size(cost.get("exclusive_now_bytes")),
                size(cost.get("exclusive_after_policy_bytes")),
                cost.get("expires") or "—",
            )
        )
    heads = ("Tag", "Snapshot", "Committed", "#Frees now", "#After the policy", "Goes by itself")
    return table(heads, rows[:POINTS_LISTED], of=len(rows), what="tags")


def _branches(heads: Heads, zone: str) -> list[tuple[Piece, ...]]:
    rows: list[tuple[Piece, ...]] = []
    for line in heads.lines:
        if line.branch in (heads.main.branch, *heads.branches):
            head = line.latest
            at = (mono(head.id), moment(head.time_ms, zone)) if head else ("—", "—")
            rows.append((mono(line.branch), *at, count(len(line.snapshots))))
    return rows


# shared ---------------------------------------------------------------------------------------------------------------


def _commits(found: Sequence[tuple[str, Snapshot]], zone: str, ends: dict[str, str] | None = None) -> Html:
    rows: list[tuple[Piece, ...]] = []
    for point, each in found[:POINTS_LISTED]:
        who, own = mono(each.commit_user or "—"), (ends.get(point, "—"),) if ends else ()
        when, changed = moment(each.time_ms, zone), signed(each.delta_rows)
        rows.append((mono(point), when, each.kind, who, count(each.total_rows), changed, *own))
    heads = ("Snapshot", "Committed", "Commit", "By", "#Rows", "#Rows ±", *(("Goes by itself",) if ends else ()))
    return table(heads, rows, of=len(found), what="snapshots")


def _listed(files: pa.Table, columns: Sequence[str]) -> Html:
    rows = [_file({name: each[name] for name in columns}) for each in files.slice(0, FILES_LISTED).to_pylist()]
    heads = [f"{'#' if name in ('rows', 'bytes') else ''}{name.capitalize()}" for name in columns]
    return table(heads, rows, of=len(files), what="files")


def _file(each: dict[str, object]) -> tuple[Piece, ...]:
    made: list[Piece] = []
    for name, value in each.items():
        if isinstance(value, int):
            made.append(size(value) if name == "bytes" else count(value))
        else:
            made.append("—" if value is None else mono(value) if name in ("path", "partition") else str(value))
    return tuple(made)


def _sums(total: Mapping[str, int], name: str) -> tuple[Piece, ...]:
    return count(total[f"{name}_files"]), count(total[f"{name}_rows"]), size(total[f"{name}_bytes"])


def _point(at: AsOf, zone: str) -> Html:
    told = f"snapshot {at.snapshot.id}, committed {moment(at.snapshot.time_ms, zone)}"
    return Html(f"{mono(at.point).text} ({told})")


def _snapshots(heads: Heads) -> dict[str, Snapshot]:
    found: dict[str, Snapshot] = {}
    for line in heads.lines:
        before = _before(line.branch, heads)
        found |= {f"{before}{each.id}": each for each in line.snapshots}
        found |= {f"{before}tag:{tag.name}": tag.snapshot for tag in line.tags}
        found |= {f"{before}changelog:{each.id}": each for each in line.changelogs}
    return found


def _before(branch: str, heads: Heads) -> str:
    """What stands before a point's name."""
    return "" if branch == heads.main.branch else f"branch:{branch}/"


def _foot(heads: Heads) -> str:
    """What the report was made of, so that two of the same state can be told from two of different ones."""
    found = sorted(heads.references.items())
    digest = hashlib.sha256(b"".join(f"{path}\0{len(content)}\0".encode() + content for path, content in found))
    return (
        f"Snapscope {version('snapscope')}. Sizes in decimal units: 1 kB is 1,000 bytes. Rows as files hold them, "
        f"before keys are merged. State of the table's references: SHA-256 {digest.hexdigest()}."
    )

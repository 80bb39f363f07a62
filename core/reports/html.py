"""Self-contained HTML reports: a plan for approval, a difference, a table's state. Values in, text out.

Invariant: a report states what was read and when, names the rule it used, and counts what it does not list. The command
in a plan's report runs exactly that plan or refuses.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence

from core.analysis.diff import Diff, deletes, spelled
from core.analysis.expiration_dates import expiries
from core.analysis.storage_cost import by_holders
from core.messages import Reason, both, joined, message, sentences
from core.model.effects import steps
from core.model.expiry import Forecast
from core.model.history import History
from core.model.plan import LEAVING, Plan, Verdict
from core.model.references import Heads, Snapshot
from core.model.time_input import UTC
from core.model.time_travel import AsOf
from core.planning.confirmation import danger
from core.procedures import command_line
from core.reports import json as answers
from core.reports import pieces
from core.reports.page import (
    Fragment,
    Piece,
    Speak,
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
from core.units import size as rounded

PARTITIONS_LISTED = 300
_ALIKE = 4  # this many neighbours with the same reason share a line
_LESS = message(
    "What could not be read is missing from every sum here: sizes, rows and files are lower "
    "bounds (≥), and what deleting a tag would reclaim is not shown."
)
_NOT_EXACT = message("Snapshots and tags that cannot be read may hold some of these files too.")
_FREES = message(
    "A file is deleted if an expired snapshot or deleted tag holds it and no remaining "
    "snapshot, tag, branch or changelog does."
)
_RUNS = message(
    "This command runs exactly this plan or refuses: it makes the plan again for the same "
    "moment, and if any reference of the table has changed since, the fingerprint differs "
    "and nothing is touched."
)


def of_plan(
    plan: Plan,
    heads: Heads,
    title: str,
    *,
    zone: str = UTC,
    native: Sequence[Reason] = (),
    coming: Forecast | None = None,
    speak: Speak = str,
) -> str:
    """A plan for approval: what expires and why, why the rest is kept, warnings, and the command that runs it."""
    confirmation = danger(plan, heads.name)
    typed = message("You will be asked to type “{phrase}”.", phrase=confirmation.phrase)
    roots = [each.root for each in plan.outside]
    runs_it = command_line.exactly(plan.change, heads.location, plan.now_ms, plan.fingerprint, roots)
    by_point = pieces.snapshots(heads)
    deleted = [_deleted_row(plan, verdict, by_point, zone) for verdict in plan.deleted_points[: pieces.POINTS_LISTED]]
    warnings = [note(each.text) for each in plan.warnings]
    warnings += (
        [note(message("This plan needs extra confirmation: {why}.", why=joined(sentences(confirmation.why))))]
        if confirmation.why
        else []
    )
    next_commit = [] if coming is None else [sentence(coming.headline), *(note(each.text) for each in coming.breaks)]
    orphans = plan.orphans.to_pylist()[: pieces.FILES_LISTED]
    parts = [
        facts(
            [
                ("Table", mono(heads.location)),
                ("Change", _change(plan)),
                (
                    "Reclaims",
                    message("{size} in {files}", size=exact(plan.freed_bytes), files=pieces.files(len(plan.frees))),
                ),
                ("Still held", exact(plan.kept_bytes)),
                (
                    "Removed snapshots and tags",
                    message("{goes:,} of {all:,}", goes=len(plan.deleted_points), all=len(plan.points)),
                ),
                ("Rules", plan.rules.text),
                ("Evaluated at", moment(plan.now_ms, zone)),
                ("Fingerprint", mono(plan.fingerprint)),
            ]
        ),
        section("Warnings", *warnings),
        section(
            "Run this plan",
            command(runs_it),
            sentence(both(_RUNS, typed) if confirmation.phrase else _RUNS),
        ),
        section(
            "Deleted",
            table(
                ("Snapshot or tag", "", "Committed", "By", "Why"),
                deleted,
                of=len(plan.deleted_points),
                what="snapshots and tags",
            ),
        ),
        section("Kept, and why", table(("Snapshot or tag", "#Snapshots and tags", "Why"), _kept_rows(plan.points))),
        section(
            "Files to delete",
            sentence(_FREES),
            table(("Kind", "#Files", "#Bytes"), [(kind, count(n), size(total)) for kind, n, total in plan.by_kind()]),
            pieces.listed(plan.frees, ("path", "kind", "bytes")),
        )
        if len(plan.frees)
        else Fragment(),
        section(
            "No longer held by anything",
            table(
                ("Path", "Kind", "#Bytes"), [pieces.file(each) for each in orphans], of=len(plan.orphans), what="files"
            ),
        ),
        section("Current files that the commit removes", *(sentence(each.text) for each in plan.notes)),
        pieces.listed(plan.leaving, LEAVING.names) if len(plan.leaving) else Fragment(),
        section("References that are written", _references(plan)),
        section("Steps, in order", table(("#", "Step"), _steps(plan))),
        section("Compare with the engine", *(sentence(each.text) for each in native)),
        section("At the next commit, automatically", *next_commit),
    ]
    return page(
        message("{title}: {headline}", title=title, headline=plan.headline),
        "A plan, for approval. Nothing was changed.",
        parts,
        pieces.foot(heads),
        speak,
    )


def of_diff(value: Diff, history: History, title: str, *, zone: str = UTC, speak: Speak = str) -> str:
    """Which files, columns and options differ between two versions."""
    total, location = value.summary, history.heads.location
    headline = message(
        "{title}: from {a} to {b}, {rows} rows in files, {bytes}",
        title=title,
        a=value.a.point,
        b=value.b.point,
        rows=signed(total["net_rows"]),
        bytes=f"{'−' if total['net_bytes'] < 0 else '+'}{rounded(abs(total['net_bytes']))}",
    )
    sums = [
        (label, *(pieces.sums(total, name)), *(pieces.sums(total, f"compaction_{name}")))
        for name, label in (("added", message("Added")), ("removed", message("Removed")))
    ]
    heads = ("", "#Files", "#Rows", "#Bytes", "#of which compaction: files", "#rows", "#bytes")
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
        facts([("Table", mono(location)), ("From", pieces.point(value.a, zone)), ("To", pieces.point(value.b, zone))]),
        note(message("The second version is the older one: what was added since is shown as removed."))
        if value.is_backwards
        else Fragment(),
        section("Files", table(heads, sums), note(missed) if (missed := deletes(value)) else Fragment()),
        section("Commits between", pieces.commits([(str(each.id), each) for each in value.commits], zone)),
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
        section("Files added", pieces.listed(value.added, columns)),
        section("Files removed", pieces.listed(value.removed, columns)),
        section("To see it again", command(f"{command_line.line('diff', location, value.a.point, value.b.point)}")),
    ]
    return page(
        headline,
        "The difference between two versions, from metadata; no data was read.",
        parts,
        pieces.foot(history.heads),
        speak,
    )


def of_table(history: History, at: AsOf | None, title: str, *, zone: str = UTC, now_ms: int, speak: Speak = str) -> str:
    """A table's state: its content at a version (None: nothing was ever committed), and everything in its history."""
    heads = history.heads
    line = (heads.line(at.branch) if at else None) or heads.main
    schema = at.schema if at else line.schema
    held = history.bytes_of(history.held.over(history.existing))
    parts = [
        facts(
            [
                ("Table", mono(heads.location)),
                ("Format", heads.format.capitalize()),
                ("Read at", moment(now_ms, zone)),
                (
                    "Everything held",
                    exact(held, at_least=bool(history.incomplete)),
                ),
            ]
        )
    ]
    parts += [note(each.sentence(), "problem") for each in history.problems]
    parts += [note(each.sentence()) for each in history.warnings]
    parts += [note(_LESS, "problem")] if history.incomplete else []
    if at is not None:
        parts.append(_standing(history, at, zone))
    if schema is not None:
        rows = [
            (
                str(each.id),
                mono(each.name),
                mono(spelled(each.type)),
                message("key") if each.name in schema.primary_keys else "",
                message("partition") if each.name in schema.partition_keys else "",
            )
            for each in schema.fields
        ]
        parts.append(
            section(message("Columns (schema {id})", id=schema.id), table(("#Id", "Name", "Type", "", ""), rows))
        )
    snapshots = [(pieces.before(of.branch, heads) + str(it.id), it) for of in heads.lines for it in of.snapshots[::-1]]
    readers = [(mono(each.name), mono(each.next_snapshot)) for of in heads.lines for each in of.consumers]
    ends = {point: each.words for point, each in expiries(heads, now_ms).items()}
    parts += [
        section("Tags", _tags(history, zone, now_ms)),
        section("Branches", table(("Branch", "Head", "Committed", "#Snapshots"), _branches(heads, zone))),
        section("Readers", table(("Consumer", "Reads next"), readers)),
        section("Snapshots", pieces.commits(snapshots, zone, ends=ends)),
        section(
            "Storage by holder",
            sentence(
                message("Each file is counted on one line: that of the exact set of snapshots and tags that hold it.")
            ),
            note(_NOT_EXACT) if history.incomplete else Fragment(),
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
        parts.append(section(message("Partitions at {point}", point=at.point), _partitions(history, at)))
    again = ["report", heads.location, *(["--at", at.point] if at else []), "-o", "report.html"]
    parts.append(section("To create it again", command(command_line.line(*again))))
    name = message("{title} without any commit", title=title)
    name = name if at is None else message("{title} at {point}", title=title, point=at.point)
    return page(name, "The state of a table, from its metadata; no data was read.", parts, pieces.foot(heads), speak)


# a plan ---------------------------------------------------------------------------------------------------------------


def _change(plan: Plan) -> str:
    kind = "".join(f" {each.lower()}" if each.isupper() else each for each in type(plan.change).__name__).strip()
    return message("{kind}, branch {branch}", kind=kind.capitalize(), branch=plan.change.branch)


def _deleted_row(plan: Plan, verdict: Verdict, by_point: dict[str, Snapshot], zone: str) -> tuple[Piece, ...]:
    at = by_point.get(verdict.point)
    outcome = message("expires") if plan.change.expires(verdict.point) else message("deleted")
    who = (moment(at.time_ms, zone), at.commit_user) if at else ("—", "—")
    return (mono(verdict.point), marked("goes", outcome), *who, joined(sentences(verdict.reasons)))


def _kept_rows(points: Iterable[Verdict]) -> list[tuple[Piece, ...]]:
    """One line per version; neighbours kept for the same reasons share a line."""
    rows: list[tuple[Piece, ...]] = []
    kept = [verdict for verdict in points if verdict.keep]
    for reasons, group in itertools.groupby(kept, key=lambda each: each.reasons):
        names, why = [each.point for each in group], joined(sentences(reasons))
        if len(names) < _ALIKE:
            rows += [(mono(name), "1", why) for name in names]
        else:
            rows.append((mono(f"{names[0]} … {names[-1]}"), count(len(names)), why))
    return rows


def _steps(plan: Plan) -> list[tuple[Piece, ...]]:
    """The steps of the plan, in order."""
    return [(count(number), step.words) for number, step in enumerate(steps(plan.effects), 1)]


def _references(plan: Plan) -> Fragment:
    """The reference files that are deleted or created."""
    rows: list[tuple[Piece, ...]] = [(marked("goes", message("deleted")), mono(path)) for path, _ in plan.removes]
    rows += [(message("created"), mono(path)) for path in plan.leaves]
    return table(("", "File"), rows[: pieces.FILES_LISTED], of=len(rows), what="references")


# a table --------------------------------------------------------------------------------------------------------------


def _standing(history: History, at: AsOf, zone: str) -> Fragment:
    """What a reader of the version sees."""
    position = history.position(at.point)
    less = position in history.incomplete
    totals = history.totals
    return section(
        message("At {point}", point=at.point),
        facts(
            [
                ("Snapshot", pieces.point(at, zone)),
                ("Commit", at.snapshot.kind),
                ("By", mono(at.snapshot.commit_user)),
                ("Rows in files", count(at.snapshot.total_rows)),
                ("Files", count(int(totals.files[position]), at_least=less)),
                ("Bytes", exact(int(totals.bytes[position]), at_least=less)),
            ]
        ),
    )


def _partitions(history: History, at: AsOf) -> Fragment:
    grouped = history.partitions_at(history.position(at.point))
    less = history.position(at.point) in history.incomplete
    rows: list[tuple[Piece, ...]] = [
        (
            mono(each["partition"] or "—"),
            *(count(each[name], at_least=less) for name in ("files", "rows")),
            size(each["bytes"], at_least=less),
        )
        for each in grouped.slice(0, PARTITIONS_LISTED).to_pylist()
    ]
    heads = ("Partition", "#Files", "#Rows", "#Bytes")
    return table(heads, rows, of=len(grouped), what="largest partitions")


def _tags(history: History, zone: str, now_ms: int) -> Fragment:
    tags = {(line.branch, tag.name): tag for line in history.heads.lines for tag in line.tags}
    costs = {each["point"]: each for each in answers.tag_costs(history, now_ms)}
    rows = []
    for (branch, name), tag in tags.items():
        prefix = pieces.before(branch, history.heads)
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
    heads = ("Tag", "Snapshot", "Committed", "#Reclaims now", "#After policy expiry", "Expires automatically")
    return table(heads, rows[: pieces.POINTS_LISTED], of=len(rows), what="tags")


def _branches(heads: Heads, zone: str) -> list[tuple[Piece, ...]]:
    rows: list[tuple[Piece, ...]] = []
    for line in heads.lines:
        if line.branch in (heads.main.branch, *heads.branches):
            head = line.latest
            at = (mono(head.id), moment(head.time_ms, zone)) if head else ("—", "—")
            rows.append((mono(line.branch), *at, count(len(line.snapshots))))
    return rows

"""Questions about what exists, what existed and what changed. They read and never write."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from core.analysis.diff import Diff, deletes
from core.analysis.diff import diff as compare
from core.analysis.file_lifetime import find, lifetime
from core.cli import on_spark
from core.cli.arguments import Args
from core.cli.listings import line_of
from core.cli.output import UNREAD, grid
from core.cli.text import SHOWN, of_forecast, signed_rows, signed_size
from core.errors import Invalid
from core.model.history import History, HistorySummary
from core.model.time_travel import AsOf, in_words, parse_time_ms
from core.reports import json as answers
from core.spark.read.removed_points import resolved
from core.table import Table, open_table, readable
from core.units import parse_user_duration_ms, several, size

Answer = tuple[Any, str]


def point(args: Args) -> str:
    """The requested version, as VERSION or --at. A blank one does not mean latest: a shell variable was not set."""
    if args.at is not None and args.point is not None:
        raise Invalid(f"Both {args.point} and --at {args.at} were given.", remedy="Give one of them.")
    given = args.at if args.at is not None else args.point
    return str(given if given is not None else "latest")


def files(args: Args) -> Answer:
    table = open_table(args.table)
    history = table.history()
    heads = history.heads
    version = readable(heads, point(args), args.branch)
    found = answers.files(history, version)
    last = ("content", "deletes") if heads.capabilities.deletes_are_files else ("bucket", "level")
    rows = [
        (
            each["path"],
            size(each["bytes"]),
            f"{each['rows']:,}",
            each["partition"],
            *(str(each[name]) for name in last),
        )
        for each in found
    ]
    total = sum(each["bytes"] for each in found)
    return found, grid(("path", "bytes", "rows", "partition", *last), rows) + (
        f"\n{several(len(found), 'file')}, {size(total)}, live at {version.point}."
    )


def as_of(args: Args) -> Answer:
    found = open_table(args.table).as_of(point(args), args.branch)
    lines = [f"Snapshot {found.snapshot.id}, committed {in_words(found.snapshot.time_ms)}.", found.rule]
    for name, each in (("before", found.before), ("after", found.after)):
        lines.append(f"{name:>7}: " + (f"{each.id}, committed {in_words(each.time_ms)}" if each else "none retained"))
    if found.engine_note:
        lines.append(found.engine_note)
    return answers.as_of(found), "\n".join(lines)


def diff(args: Args) -> Answer:
    table = open_table(args.table)
    history = table.history()
    a, b = (resolved(table, history.heads, point, args.branch) for point in (args.a, args.b))
    document, text = compared(compare(history, a, b))
    if args.rows:
        document["rows"], shown = _rows(args, table, history, a, b)
        text += f"\n\n{shown}"
    return document, text


def compared(found: Diff) -> Answer:
    """What differs between two versions, from metadata."""
    document, total, a, b = answers.diff(found), found.summary, found.a, found.b
    lines = [
        f"From {a.point} to {b.point}: {signed_rows(total['net_rows'])} in files, {signed_size(total['net_bytes'])}.",
        *(
            f"{name}: {several(total[f'{name}_files'], 'file')}, {size(total[f'{name}_bytes'])}, "
            f"{several(total[f'{name}_rows'], 'row')} "
            f"(of which compaction: {several(total[f'compaction_{name}_files'], 'file')})"
            for name in ("added", "removed")
        ),
        *([missed] if (missed := deletes(found)) else []),
        *found.schema_changes,
        *found.option_changes,
    ]
    rows = [
        (
            each["partition"],
            "" if each["bucket"] is None else str(each["bucket"]),
            f"+{each['added_files']} -{each['removed_files']}",
            f"{each['added_rows'] - each['removed_rows']:+,}",
            signed_size(each["added_bytes"] - each["removed_bytes"]),
        )
        for each in document["partitions"]
    ]
    return document, "\n".join(lines) + "\n" + grid(("partition", "bucket", "files", "rows", "bytes"), rows)


def _rows(args: Args, table: Table, history: History, a: AsOf, b: AsOf) -> Answer:
    from core.spark.diff.rows import row_diff  # slow to import

    found = row_diff(table, history, a, b, limit=args.limit, timeout_s=parse_user_duration_ms(args.timeout) / 1000)
    lines = [
        (
            each.kind if each.times == 1 else f"{each.kind} ×{each.times}",
            ", ".join(f"{name}={value}" for name, value in each.key.items()),
            ", ".join(
                f"{name}: {each.before[name]} → {value}" if each.kind == "changed" else f"{name}={value}"
                for name, value in (each.after or each.before).items()
            ),
        )
        for each in found.changes
    ]
    return answers.rows(found), "\n".join(
        [f"{found.stat_line}.", *([grid(("", "key", "columns"), lines)] if lines else []), found.note]
    )


_ENDS = {
    True: "Still current.",
    False: "Removed by a commit that is no longer retained or cannot be read.",
    None: "Whether it is still current cannot be determined: the newest state cannot be read in full.",
}


def holders(args: Args) -> Answer:
    table = open_table(args.table)
    heads, _ = line_of(table, args.branch)  # files belong to the whole table, but an unknown branch is an error
    history, now_ms = table.lasting(heads), _now_ms(args)
    found = lifetime(history, find(history, args.path, table.store.relative), now_ms)
    life = found.life
    lines = [f"{life.path}: {life.kind}, {'unknown size' if life.bytes is None else size(life.bytes)}."]
    if found.born is not None:
        where = "by" if found.is_exact else "in or before"
        lines.append(f"Added {where} snapshot {found.born.id}, committed {in_words(found.born.time_ms)}.")
        if found.removed is not None:
            lines.append(f"Removed by snapshot {found.removed.id}, committed {in_words(found.removed.time_ms)}.")
        elif not found.is_reference:
            lines.append(_ENDS[found.is_live])
    lines.append(f"Held by {', '.join(life.holders) or 'no readable snapshot or tag'}.")
    lines += [f"{life.words[:1].upper()}{life.words[1:]}.", *_unread(args, history)]
    return {**answers.lifetime(found), **answers.problems(history)}, "\n".join(lines)


def _unread(args: Args, history: HistorySummary) -> list[str]:
    """Report what could not be read; an incomplete answer makes the exit status nonzero."""
    args.partly = UNREAD if history.incomplete else ""
    return [f"Unreadable: {each.sentence()}" for each in history.problems]


_EXCLUSIVE = ("exclusive_now_bytes", "exclusive_after_policy_bytes")


def cost(args: Args) -> Answer:
    table = open_table(args.table)
    history = on_spark.history_unless_spark(args, table)
    if history is None:
        with on_spark.table(args.table) as wide:
            summed = on_spark.history(wide)
            found = answers.costs(summed, _now_ms(args), args.branch)
            return {**found, **on_spark.metadata_reader()}, "\n\n".join(
                [*_costs(args, summed, found), on_spark.sentence()]
            )
    found = answers.costs(history, _now_ms(args), args.branch)
    coming = table.next_commit(history, _now_ms(args), args.branch)
    found["next_commit"] = answers.forecast(coming)
    automatic = (
        "Writers of this table expire nothing automatically." if coming is None else "\n".join(of_forecast(coming))
    )
    return found, "\n\n".join(_costs(args, history, found, automatic))


def _costs(args: Args, history: HistorySummary, found: Mapping[str, Any], *notes: str) -> list[str]:
    tags = [
        (
            each["point"],
            *("—" if each[name] is None else size(each[name]) for name in _EXCLUSIVE),
            each["expires"] or "",
        )
        for each in found["tags"]
    ]
    soon, later = found["snapshots"][:SHOWN], found["snapshots"][SHOWN:]
    ends = [(each["point"], each["expires"]) for each in soon]
    sets = [(each["holders"], str(each["files"]), size(each["bytes"])) for each in found["by_holders"][:20]]
    frees = "reclaims" if history.heads.capabilities.tags_hold_files else "reclaims at the next expiry"
    drops = [(", ".join(each["tags"]), str(each["files"]), size(each["bytes"])) for each in found["best_drops"][:10]]
    least = "At least " if history.incomplete else ""
    return [
        *(["\n".join(unread)] if (unread := _unread(args, history)) else []),
        f"{least}{size(found['held_bytes'])} are held.",
        *notes,
        grid(("tag", "reclaims now", "after policy expiry", "expires"), tags),
        grid(("snapshot", "expires automatically"), ends) + (f"\n… and {len(later)} more" if later else ""),
        grid(("holders", "files", "bytes"), sets),
        found["best_drops_untold"] or grid(("tags that reclaim most", "files", frees), drops),
    ]


def _now_ms(args: Args) -> int:
    return time.time_ns() // 1_000_000 if args.now is None else parse_time_ms(args.now)

"""Commits that end live files or count rows: drop-partition, truncate, compact, analyze. Planned and asked for like any
other change. Rows to put in place of others need a frame: overwrites are made by core.spark.write.append."""

from __future__ import annotations

import argparse

from core.model.actions import Analyze, Change, Compact, DropPartitions, Truncate

Args = argparse.Namespace


def asked(kind: str, args: Args) -> Change | None:
    match kind:
        case "drop-partition":
            return DropPartitions(tuple(args.partition), args.branch)
        case "truncate":
            return Truncate(args.branch)
        case "compact":
            return Compact(args.branch, tuple(args.partition), args.min_files)
        case "analyze":
            return Analyze(args.branch, None if args.all_columns else tuple(args.column))
        case _:
            return None


def _drop_options(sub: argparse.ArgumentParser) -> None:
    _partitions(sub, "take this one's rows away: some or all of its keys", required=True)


def _truncate_options(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("--now", metavar="TIME")


def _compact_options(sub: argparse.ArgumentParser) -> None:
    _partitions(sub, "only this one's files", required=False)
    sub.add_argument("--min-files", type=int, help="small files that become one (default: the table's option)")


def _partitions(sub: argparse.ArgumentParser, help_: str, *, required: bool) -> None:
    sub.add_argument(
        "--partition", action="append", default=[], required=required, metavar="KEY=VALUE[,KEY=VALUE…]", help=help_
    )
    sub.add_argument("--now", metavar="TIME")


def _analyze_options(sub: argparse.ArgumentParser) -> None:
    which = sub.add_mutually_exclusive_group()
    which.add_argument("--column", action="append", default=[], metavar="NAME", help="this column's, too")
    which.add_argument("--all-columns", action="store_true")
    sub.add_argument("--now", metavar="TIME")


COMMANDS = (
    ("drop-partition", _drop_options, "Take the rows of partitions out of the newest point, by a commit."),
    ("truncate", _truncate_options, "Take all rows out of the newest point, by a commit."),
    ("compact", _compact_options, "Make few large files of many small ones; rows stay as they are."),
    ("analyze", _analyze_options, "Count rows and columns for planners, and commit the statistics."),
)

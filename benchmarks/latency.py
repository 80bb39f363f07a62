"""Benchmark a table of 10,000 snapshots on a store that answers each request after 30 ms: seconds and requests.

    python benchmarks/latency.py [--delay-ms 30] [--rounds 3] [--questions open,plan] [--expire 2000,10000]
        [--orphans 1000]

The store is a small S3 server in memory, in a process of its own. Each question is asked in a fresh process with an
empty cache, right after a bare asyncio loop over obstore that issues only the GETs of the objects that the question
needs, 256 at a time. Output: median seconds with the spread, the median of the rounds' ratios to that loop, and the
requests. Then expiries are run on the newest 2,000 and on all snapshots: all but one expire, after they were planned in
the same process. The bare loop beside them reads each reference that goes and deletes it and each file by a request of
its own, 256 at a time. The table's metadata is written from a seed, which takes a minute; `--warehouse DIRECTORY` keeps
it for the next run. Finally, orphans are searched for in a table of `--orphans` partitions, each with 20 of them.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import multiprocessing
import os
import platform
import statistics
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any
from urllib.parse import unquote

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support import ratios
from tests.support import builders, memory_s3

AT_ONCE = 256
MARK = "begin"
PLACE = f"s3://{memory_s3.BUCKET}/t"
STATE = builders.STATES["10,000 snapshots"]
_SPAWN = multiprocessing.get_context("spawn")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--delay-ms", type=float, default=30)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--warehouse", type=Path, help="where the table is, or is written")
    parser.add_argument("--questions", default=",".join(QUESTIONS))
    parser.add_argument("--expire", default="2000,10000", help="of how many snapshots")
    parser.add_argument("--orphans", type=int, default=1000, help="in how many partitions; 0 for none")
    args = parser.parse_args()
    questions, counts = args.questions.split(","), [int(each) for each in args.expire.split(",") if each]
    with tempfile.TemporaryDirectory(prefix="snapscope-bench-") as folder:
        where = f"{platform.machine()}, {os.cpu_count()} processors, load {os.getloadavg()[0]:.0f}"
        print(f"{where}; {args.delay_ms:g} ms a request, {args.rounds} rounds")
        if any(questions) or counts:
            warehouse = args.warehouse or Path(folder) / "warehouse"
            if not warehouse.exists():
                warehouse.mkdir()
                STATE.build(warehouse)
            with server(STATE.location(warehouse), args.delay_ms / 1000) as ask:
                measure(ask, [each for each in questions if each], args.rounds, Path(folder))
                for count in counts:
                    measure_expiry(ask, count, args.rounds, Path(folder))
        if args.orphans:
            measure_search(args.orphans, args.delay_ms / 1000, args.rounds, Path(folder))


def measure(ask: Callable[..., Any], names: Sequence[str], rounds: int, folder: Path) -> None:
    environment = ask("leads")
    needed = {"open": ask("names", "t/snapshot/snapshot-"), "plan": ask("names", "t/snapshot/", "t/manifest/")}
    needed |= {"reopen": [], "as of": []}
    print(f"{'question':34} {'requests':>8} {'seconds':>8} {'bare GETs':>9} {'seconds':>8} {'ratio':>6}")
    for name in names:
        question = QUESTIONS[name]
        timings: list[tuple[float, float]] = []
        requests, gets = 0, needed[name]
        for _ in range(rounds):
            cache = tempfile.mkdtemp(dir=folder)
            own = {**environment, "SNAPSCOPE_CACHE": cache, "SNAPSCOPE_STATE": cache}
            if name == "reopen":
                in_process(own, QUESTIONS["open"])
                ask("commit")
            bare = in_process(own, bare_loop, gets) if gets else (0.0, 0)
            ask("taken")
            seconds, answer = in_process(own, question)
            seen = [(method, unquote(path)) for method, path in ask("taken")]
            requests = len(seen)
            timings.append((seconds, bare[0]))
        middle = statistics.median(seconds for seconds, _ in timings)
        spread = f"({min(timings)[0]:.2f} to {max(timings)[0]:.2f})"
        line = f"{name:20} {answer!s:>13} {requests:>8,} {middle:>8.2f} {len(gets):>9,}"
        if gets:
            both = dict(zip(("Snapscope", "bare GETs"), map(list, zip(*timings, strict=True)), strict=True))
            ratios.add(f"{name}, a distant store", "s", both)
            ratio = statistics.median(seconds / bare for seconds, bare in timings)
            line += f" {statistics.median(bare for _, bare in timings):>8.2f} {ratio:>5.2f}x"
        print(f"{line}  {spread}")
        kinds = sorted({method for method, _ in seen})
        print(f"  {', '.join(f'{sum(m == kind for m, _ in seen):,} {kind}' for kind in kinds)}; "
              f"{sum('list-type' in path for _, path in seen)} of them listings")  # fmt: skip


def measure_expiry(ask: Callable[..., Any], count: int, rounds: int, folder: Path) -> None:
    """Expire all but the newest of so many snapshots: seconds until references, and until files are deleted."""
    timings: list[tuple[float, float, float]] = []
    for _ in range(rounds):
        cache = tempfile.mkdtemp(dir=folder)
        own = {**ask("leads"), "SNAPSCOPE_CACHE": cache, "SNAPSCOPE_STATE": cache}
        ask("restore", count)
        ask("taken")
        _, (of_references, seconds, references, files) = in_process(own, expired)
        seen = ask("taken")
        begin = next(at for at, (_, path) in enumerate(seen) if path.endswith(MARK))
        ends = max(at for at, (method, path) in enumerate(seen) if method == "PUT" and path.endswith("EARLIEST"))
        ask("restore", count)
        bare = in_process(own, bare_deletes, references, files)[0]
        timings.append((seconds, of_references, bare))
    loops = {"Snapscope": [each[0] for each in timings], "bare loop": [each[2] for each in timings]}
    ratios.add(f"expire {count - 1:,} snapshots, a distant store", "s", loops)
    middle, to_end, loop = (statistics.median(each[at] for each in timings) for at in range(3))
    ratio = statistics.median(seconds / bare for seconds, _, bare in timings)
    print(f"expire {count - 1:,} snapshots, {len(files):,} files: {middle:.1f} s ({min(timings)[0]:.1f} to "
          f"{max(timings)[0]:.1f}), {to_end:.1f} s of it until the references are deleted; the bare loop "
          f"{loop:.1f} s, {ratio:.2f}x")  # fmt: skip
    for what, part in (("until then", seen[begin + 1 : ends + 1]), ("after", seen[ends + 1 :])):
        kinds = sorted({method for method, _ in part})
        print(f"  {what}: {', '.join(f'{sum(m == kind for m, _ in part):,} {kind}' for kind in kinds)}; "
              f"{sum('list-type' in path for _, path in part)} of them listings")  # fmt: skip


def measure_search(partitions: int, delay_s: float, rounds: int, folder: Path) -> None:
    """Search for orphans in a table of this many partitions, each with 20 of them: seconds and requests."""
    table = builders.TableBuilder(folder / "parted" / "t", partition_keys=("dt",))
    table.commit([table.file(1, partition=(f"{number:05}",)) for number in range(partitions)])
    timings = []
    with server(table.root, delay_s) as ask:
        ask(
            "litter",
            [f"t/dt={number % partitions:05}/bucket-0/data-{number}-0.parquet" for number in range(20 * partitions)],
        )
        for _ in range(rounds):
            cache = tempfile.mkdtemp(dir=folder)
            own = {**ask("leads"), "SNAPSCOPE_CACHE": cache, "SNAPSCOPE_STATE": cache}
            ask("taken")
            seconds, found = in_process(own, searched)
            assert found == 20 * partitions
            timings.append(seconds)
            seen = ask("taken")
    middle, listings = statistics.median(timings), sum("list-type" in path for _, path in seen)
    print(f"find {found:,} orphans in {partitions:,} partitions: {middle:.1f} s "
          f"({min(timings):.1f}-{max(timings):.1f}); "
          f"{len(seen):,} requests, {listings:,} of them listings")  # fmt: skip


# questions, each in a process of its own --------------------------------------------------------------------------


def opened() -> object:
    from core.table import open_table

    return len(open_table(PLACE).heads().main.snapshots)


def planned() -> object:
    from core.model.actions import Expire
    from core.table import open_table

    plan = open_table(PLACE).preview(Expire(retain_max=1, retain_min=1), 4_000_000_000_000)
    return len(plan.frees)


def as_of() -> object:
    from core.table import open_table

    return open_table(PLACE).as_of("time:2026-02-01T12:00:00Z").point


def expired() -> tuple[float, float, list[str], list[str]]:
    """Plan and run an expiry; return the seconds until references and files are deleted, and what was deleted."""
    from core.execution import grace_period
    from core.execution.apply import apply
    from core.model.actions import Expire
    from core.table import open_table

    table = open_table(PLACE)
    plan = table.preview(Expire(retain_max=1, retain_min=1), 4_000_000_000_000)
    ends: list[float] = []
    grace_period.wait = lambda *_: ends.append(time.perf_counter())
    with contextlib.suppress(urllib.error.HTTPError):
        urllib.request.urlopen(f"{os.environ['AWS_ENDPOINT_URL']}/{memory_s3.BUCKET}/{MARK}")
    began = time.perf_counter()
    receipt = apply(table, plan)
    assert receipt.is_exact, f"{receipt.outcome}: {receipt.kept_back[:1]} {receipt.problems[:1]}"
    references = [f"t/{path}" for path, _ in plan.removes]
    files = [f"t/{path}" for path in plan.frees["path"].to_pylist()]
    return ends[0] - began, time.perf_counter() - began, references, [each for each in files if each not in references]


def searched() -> int:
    from core.model.actions import CleanOrphans
    from core.table import open_table

    return len(open_table(PLACE).preview(CleanOrphans(3_900_000_000_000), 4_000_000_000_000).frees)


QUESTIONS: Mapping[str, Callable[[], object]] = {"open": opened, "plan": planned, "reopen": opened, "as of": as_of}


def bare_loop(paths: Sequence[str]) -> int:
    """Read these objects, 256 at a time, and nothing else."""
    from obstore.store import S3Store

    store = S3Store(
        memory_s3.BUCKET, endpoint=os.environ["AWS_ENDPOINT_URL"], virtual_hosted_style_request=False,
        client_options={"allow_http": True},
    )  # fmt: skip

    async def several(waiting: Any) -> int:
        size = 0
        for path in waiting:
            size += len(await (await store.get_async(path)).bytes_async())
        return size

    async def everything() -> int:
        waiting = iter(paths)
        return sum(await asyncio.gather(*(several(waiting) for _ in range(AT_ONCE))))

    return asyncio.run(everything())


def bare_deletes(references: Sequence[str], files: Sequence[str]) -> int:
    """Read and delete these references, then delete these files, 256 at a time, and nothing else."""
    from obstore.store import S3Store

    store = S3Store(
        memory_s3.BUCKET, endpoint=os.environ["AWS_ENDPOINT_URL"], virtual_hosted_style_request=False,
        client_options={"allow_http": True},
    )  # fmt: skip

    async def one(path: str, *, reads: bool) -> None:
        if reads:
            await (await store.get_async(path)).bytes_async()
        await store.delete_async(path)

    async def several(waiting: Any, *, reads: bool) -> None:
        for path in waiting:
            await one(path, reads=reads)

    async def everything() -> None:
        for paths, reads in ((references, True), (files, False)):
            waiting = iter(paths)
            await asyncio.gather(*(several(waiting, reads=reads) for _ in range(AT_ONCE)))

    asyncio.run(everything())
    return len(references) + len(files)


def in_process(environment: Mapping[str, str], work: Callable[..., object], *arguments: Any) -> tuple[float, Any]:
    """Do work in a fresh process, and return its seconds without imports, and its answer."""
    parent_end, child_end = _SPAWN.Pipe()
    child = _SPAWN.Process(target=_child, args=(child_end, dict(environment), work, arguments))
    child.start()
    child_end.close()
    try:
        found: tuple[float, Any] = parent_end.recv()
    finally:
        child.join()
    return found


def _child(answers: Connection, environment: Mapping[str, str], work: Callable[..., object], arguments: Any) -> None:
    os.environ.update(environment)
    import obstore.store
    import s3fs

    import core.formats.paimon.format
    import core.table

    assert all((obstore.store, s3fs, core.formats.paimon.format, core.table))
    started = time.perf_counter()
    answer = work(*arguments)
    answers.send((time.perf_counter() - started, answer))


# the server, in a process of its own ------------------------------------------------------------------------------


@contextmanager
def server(table: Path, delay_s: float) -> Any:
    """Start the server with the metadata of a table, and yield a function that sends it a command."""
    parent_end, child_end = _SPAWN.Pipe()
    child = _SPAWN.Process(target=_serve, args=(child_end, table, delay_s), daemon=True)
    child.start()

    def ask(*words: Any) -> Any:
        parent_end.send(words)
        return parent_end.recv()

    try:
        yield ask
    finally:
        child.terminate()
        child.join()


def _serve(commands: Connection, table: Path, delay_s: float) -> None:
    objects = {
        f"t/{path.relative_to(table)}": bytes(path.stat().st_size)
        if path.parent.name == "bucket-0"
        else path.read_bytes()
        for path in table.rglob("*")
        if path.is_file()
    }
    with memory_s3.serving(objects, delay_s) as serving:
        newest = 10_000
        while True:
            word, *arguments = commands.recv()
            match word:
                case "leads":
                    commands.send(serving.leads)
                case "taken":
                    commands.send(serving.taken())
                case "names":
                    commands.send([name for name in serving.names() if name.startswith(tuple(arguments))])
                case "litter":
                    serving.objects.update(dict.fromkeys(arguments[0], b""))
                    serving._names = None
                    commands.send(None)
                case "restore":
                    below = {f"t/snapshot/snapshot-{number}" for number in range(1, 10_001 - arguments[0])}
                    serving.objects.clear()
                    serving.objects.update((name, data) for name, data in objects.items() if name not in below)
                    serving.objects["t/snapshot/EARLIEST"] = str(10_001 - arguments[0]).encode()
                    serving._names = None
                    commands.send(newest)
                case "commit":
                    if not arguments:
                        newest += 1
                        document = json.loads(serving.objects[f"t/snapshot/snapshot-{newest - 1}"])
                        serving.objects[f"t/snapshot/snapshot-{newest}"] = json.dumps(
                            {**document, "id": newest}
                        ).encode()
                        serving.objects["t/snapshot/LATEST"] = str(newest).encode()
                        serving._names = None
                    commands.send(newest)


if __name__ == "__main__":
    main()

"""Listings of S3: in parts, by pages, and answers that are none."""

from __future__ import annotations

import math
import random
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from core.errors import Corrupt, NotFound
from core.storage import kept_contents
from core.storage.file_systems import DirectoryEntry
from core.storage.s3 import listing
from core.storage.store import Store
from tests.support import memory_s3
from tests.support.depth import first_fast

# listings in parts ---------------------------------------------------------------------------------------------------

SPLITS = ("a-4", "a-8", "b-4")
HTML = b"<html><body>Log in first</body></html>"
EMPTY = b"<ListBucketResult><KeyCount>0</KeyCount><IsTruncated>false</IsTruncated></ListBucketResult>"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[memory_s3.Server]:
    monkeypatch.setattr(memory_s3, "PAGE", 10)
    monkeypatch.setattr(listing, "_PAGE", 10)
    monkeypatch.setattr(listing, "_FIRST_PAGE", 10)
    with memory_s3.serving({}) as server:
        server.lead(monkeypatch)
        yield server


def both(server: memory_s3.Server, names: Sequence[str]) -> tuple[list[DirectoryEntry], int]:
    """What is listed in parts, which must be what is listed at once, and the requests."""
    server.objects.clear()
    server.objects.update({f"t/m/{name}": name.encode() for name in names} | {"t/n": b"", "t/m-x": b""})
    server._names = None
    store = Store(f"s3://{memory_s3.BUCKET}/t")
    whole = store.ls_if_there("m")
    server.taken()
    found = store.ls_if_there("m", SPLITS)
    assert found == whole
    return found, len(server.taken())


@pytest.mark.parametrize("seed", first_fast(range(6)))
def test_parts_that_are_listed_at_the_same_time_are_the_whole(server: memory_s3.Server, seed: int) -> None:
    chance = random.Random(seed)
    letters = "0123456789abcdef"
    for count in (0, 1, 9, 10, 11, 60):
        names = [f"{chance.choice(['a', 'b', 'c', '0'])}-{chance.choice(letters)}{number}" for number in range(count)]
        names += [*SPLITS, "", "a-5/inner", "a-5/more/x"] if count > 9 else []
        _, requests = both(server, names)
        assert requests == 1 if count < 10 else requests > 1


@pytest.mark.parametrize("does", ["ignores start-after", "lists in no order"])
def test_a_server_that_lists_otherwise_is_asked_page_by_page(
    server: memory_s3.Server, monkeypatch: pytest.MonkeyPatch, does: str
) -> None:
    listed = server._listed

    def otherwise(asked: Mapping[str, str]) -> tuple[int, list[tuple[str, str]], bytes]:
        if does == "ignores start-after":
            return listed({name: value for name, value in asked.items() if name != "start-after"})
        status, headers, body = listed(asked)
        head, *contents = body.split(b"<Contents>")
        if contents:
            tail = contents[-1].partition(b"</Contents>")[2]
            contents[-1] = contents[-1].removesuffix(tail)
            body = b"<Contents>".join([head, *reversed(contents)]) + tail
        return status, headers, body

    monkeypatch.setattr(server, "_listed", otherwise)
    found, _ = both(server, [f"{kind}-{number % 16:x}{number:03}" for kind in "ab" for number in range(40)])
    assert len(found) == 80


# listings that begin their pages where they began before --------------------------------------------------------------

PAGES = 8


def listed(server: memory_s3.Server) -> tuple[list[str], list[str]]:
    """The names that are listed with what is kept of the last listing, and those after which pages were asked for."""
    server._names = None
    server.taken()
    found = [each.name for each in Store(f"s3://{memory_s3.BUCKET}/t").ls_if_there("m", SPLITS)]
    asked = [parse_qs(urlsplit(target).query) for _, target in server.taken()]
    return found, [each.get("start-after", [""])[0] for each in asked]


@pytest.fixture
def large(server: memory_s3.Server, monkeypatch: pytest.MonkeyPatch) -> memory_s3.Server:
    """A directory of 62 names on pages of 10, listed once."""
    monkeypatch.setattr(listing, "_LAST_PAGE", 3)
    server.objects.update({f"t/m/{kind}-{number:02}": b"" for kind in "ab" for number in range(31)} | {"t/m-x": b""})
    listed(server)
    return server


def test_a_large_directory_is_listed_again_by_one_request_for_each_page(large: memory_s3.Server) -> None:
    found, pages = listed(large)
    assert found == sorted(name[4:] for name in large.objects if name.startswith("t/m/"))
    assert len(pages) == PAGES


@pytest.mark.parametrize("seed", first_fast(range(6)))
def test_whatever_changes_meanwhile_is_listed(large: memory_s3.Server, seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(6):
        names = sorted(name for name in large.objects if name.startswith("t/m/"))
        for name in chance.sample(names, min(len(names), chance.choice([0, 1, 5, 40]))):
            del large.objects[name]
        for _ in range(chance.choice([0, 1, 12, 50])):
            below = chance.choice(["", "0", "/x"])
            large.objects[f"t/m/{chance.choice('abc')}-{chance.randrange(100):02}{below}"] = b""
        names = [name[4:] for name in large.objects if name.startswith("t/m/")]
        directories = {name.partition("/")[0] for name in names if "/" in name}
        assert sorted(listed(large)[0]) == sorted([*directories, *(name for name in names if "/" not in name)])


def test_pages_that_never_began_there_show_each_name_once(
    large: memory_s3.Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = listed(large)[0]
    for starts in (["t/m/b", "t/m/a"], ["t/m/a-05"] * 3, ["zzz"], ["a"], ["t/m/a-05", "t/m/a-06"]):
        monkeypatch.setattr(kept_contents, "page_starts", lambda _, starts=starts: starts)
        assert listed(large)[0] == whole


def test_a_directory_that_shrank_is_one_page_again(large: memory_s3.Server) -> None:
    for name in [name for name in large.objects if name > "t/m/a-05"]:
        del large.objects[name]
    assert len(listed(large)[0]) == 6
    assert listed(large) == ([f"a-{number:02}" for number in range(6)], [""])


@pytest.mark.parametrize("answer", [HTML, EMPTY, b""])
@pytest.mark.parametrize("at", range(PAGES))
def test_no_page_that_is_none_ends_such_a_listing(
    large: memory_s3.Server, monkeypatch: pytest.MonkeyPatch, answer: bytes, at: int
) -> None:
    """One answer is wrong, once: what is listed is still everything."""
    listing_of, (whole, pages) = large._listed, listed(large)
    wrong = sorted(pages)[at]
    spoiled = list[str]()

    def broken(asked: Mapping[str, str]) -> tuple[int, list[tuple[str, str]], bytes]:
        if asked.get("start-after") == wrong and not spoiled:
            spoiled.append(wrong)
            return 200, [], answer
        return listing_of(asked)

    monkeypatch.setattr(large, "_listed", broken)
    assert listed(large)[0] == whole
    assert spoiled


# answers that are no whole listings ----------------------------------------------------------------------------------

DENIED = b"<Error><Code>AccessDenied</Code><Message>You may not list this.</Message></Error>"


@pytest.mark.parametrize("counts", [True, False])
@pytest.mark.parametrize("splits", [(), SPLITS])
def test_a_server_that_knows_only_the_first_version_of_listings_is_never_believed(
    server: memory_s3.Server, monkeypatch: pytest.MonkeyPatch, splits: Sequence[str], counts: bool
) -> None:
    """It ignores `list-type=2`: where names follow, it gives no token but a marker, and obstore stops there."""
    listed = server._listed

    def first_version(asked: Mapping[str, str]) -> tuple[int, list[tuple[str, str]], bytes]:
        status, headers, body = listed(asked)
        body = re.sub(rb"<(/?)NextContinuationToken>", rb"<\1NextMarker>", body)
        return status, headers, body if counts else re.sub(rb"<KeyCount>\d*</KeyCount>", b"", body)

    server.objects.update({f"t/m/a-{number:02}": b"" for number in range(25)} | {"t/few/a": b""})
    monkeypatch.setattr(server, "_listed", first_version)
    store = Store(f"s3://{memory_s3.BUCKET}/t")
    assert [each.name for each in store.ls_if_there("few", splits)] == ["a"]
    with pytest.raises(Corrupt, match="not a listing"):
        store.ls_if_there("m", splits)


@pytest.mark.parametrize("beside", [(), ("a-00/inner",), ("z/inner", "z/more")])
def test_each_page_is_asked_for_once(server: memory_s3.Server, beside: Sequence[str]) -> None:
    """Then whether names follow. Only of a directory with others in its first page that page is asked for twice."""
    names = [f"a-{number:02}" for number in range(1, 34)]
    server.objects.update({f"t/m/{name}": b"" for name in (*names, *beside)})
    store = Store(f"s3://{memory_s3.BUCKET}/t")
    found = {each.name: each.is_dir for each in store.ls_if_there("m")}
    assert found == dict.fromkeys(names, False) | {name.partition("/")[0]: True for name in beside}
    assert len(server.taken()) == 5 + ("a-00/inner" in beside)


TOKEN = re.compile(rb"<NextContinuationToken>.*?</NextContinuationToken>")


@pytest.mark.parametrize("answer", first_fast(["html", "nothing", "no token", "no names"]))
@pytest.mark.parametrize("splits", [(), SPLITS])
@pytest.mark.parametrize("beside", [(), ("a-00/inner", "a-01/inner")])
@pytest.mark.parametrize("client", ["obstore", "s3fs"])
def test_a_later_page_that_is_none_never_ends_a_listing(
    server: memory_s3.Server,
    monkeypatch: pytest.MonkeyPatch,
    client: str,
    beside: Sequence[str],
    splits: Sequence[str],
    answer: str,
) -> None:
    """Both clients take an answer without names and a token for the last page."""
    listed = server._listed

    def broken(asked: Mapping[str, str]) -> tuple[int, list[tuple[str, str]], bytes]:
        status, headers, body = listed(asked)
        if not asked.keys() & {"continuation-token", "start-after"}:
            return status, headers, body
        return status, headers, {"html": HTML, "nothing": b"", "no names": EMPTY}.get(answer, TOKEN.sub(b"", body))

    names = [*beside, *(f"{kind}-{number:02}" for kind in "ab" for number in range(5, 40))]
    server.objects.update({f"t/m/{name}": b"" for name in names} | {"t/n": b""})
    store = Store(f"s3://{memory_s3.BUCKET}/t")
    if client == "s3fs":
        assert store.many
        store.many._paused_until = math.inf
    assert len(store.ls_if_there("m", splits)) == len(names)
    monkeypatch.setattr(server, "_listed", broken)
    with pytest.raises(Corrupt):
        store.ls_if_there("m", splits)


@pytest.mark.parametrize("client", ["obstore", "s3fs"])
def test_a_listing_during_which_names_were_added_is_repeated(
    server: memory_s3.Server, monkeypatch: pytest.MonkeyPatch, client: str
) -> None:
    listed, added = server._listed, list[str]()

    def adding(asked: Mapping[str, str]) -> tuple[int, list[tuple[str, str]], bytes]:
        if asked.get("start-after") == "t/m/a-28" and not added:
            added.append("t/m/b")
            server.objects["t/m/b"] = b""
            server._names = None
        return listed(asked)

    server.objects.update({f"t/m/a-{number:02}": b"" for number in range(30)})
    monkeypatch.setattr(server, "_listed", adding)
    store = Store(f"s3://{memory_s3.BUCKET}/t")
    if client == "s3fs":
        assert store.many
        store.many._paused_until = math.inf
    assert len(store.ls("m")) == 31
    assert added


@pytest.mark.parametrize("splits", [(), SPLITS])
def test_both_clients_say_the_same_of_a_file_in_any_time_zone(
    server: memory_s3.Server, monkeypatch: pytest.MonkeyPatch, splits: Sequence[str]
) -> None:
    """The first page comes from another client than the rest; a file that moves between them has not changed."""
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    try:
        server.objects.update({f"t/m/a-{number:02}": b"" for number in range(5, 15)})
        store = Store(f"s3://{memory_s3.BUCKET}/t")
        few = {each.name: each for each in store.ls_if_there("m", splits)}
        server.objects.update({f"t/m/a-{number:02}": b"" for number in range(5)})
        server._names = None
        more = {each.name: each for each in store.ls_if_there("m", splits)}
        assert len(more) == 15
        assert {name: more[name] for name in few} == few
    finally:
        monkeypatch.undo()
        time.tzset()


@pytest.mark.parametrize("bucket", [memory_s3.BUCKET, "another"])
def test_what_is_not_there_is_absent(server: memory_s3.Server, monkeypatch: pytest.MonkeyPatch, bucket: str) -> None:
    if bucket == "another":
        none = b"<Error><Code>NoSuchBucket</Code><Message>There is no such bucket.</Message></Error>"
        monkeypatch.setattr(server, "answer", lambda *_: (404, [], none))
    for place in (f"s3://{bucket}/t", f"s3://{bucket}"):
        store = Store(place)
        with pytest.raises(NotFound):
            store.ls("none")
        assert store.ls_if_there("none") == []


@pytest.mark.parametrize("splits", [(), SPLITS])
def test_a_listing_without_a_bucket_is_no_empty_directory_where_the_bucket_answers(
    server: memory_s3.Server, monkeypatch: pytest.MonkeyPatch, splits: Sequence[str]
) -> None:
    """404 is the answer of a server that has lost the bucket for a moment, or of a proxy."""
    none, listed = b"<Error><Code>NoSuchBucket</Code><Message>No.</Message></Error>", server._listed
    server.objects.update({"t/m/a": b"", "t/n": b""})
    monkeypatch.setattr(
        server, "_listed", lambda asked: (404, [], none) if asked["prefix"].startswith("t/m") else listed(asked)
    )
    store = Store(f"s3://{memory_s3.BUCKET}/t")
    with pytest.raises(Corrupt, match="can be listed"):
        store.ls_if_there("m", splits)
    with pytest.raises(Corrupt, match="can be listed"):
        store.ls("m")
    assert store.ls_if_there("none", splits) == []


@pytest.mark.parametrize("answer", first_fast([HTML, DENIED]))
@pytest.mark.parametrize("splits", [(), SPLITS])
def test_what_is_no_listing_is_no_empty_directory(
    server: memory_s3.Server, monkeypatch: pytest.MonkeyPatch, splits: Sequence[str], answer: bytes
) -> None:
    server.objects["t/m/a"] = b""
    store = Store(f"s3://{memory_s3.BUCKET}/t")
    assert len(store.ls_if_there("m", splits)) == 1
    monkeypatch.setattr(server, "_listed", lambda asked: (200, [], answer))
    with pytest.raises(Corrupt):
        store.ls_if_there("m", splits)


NAMES = ["a", "a//b", "b/", "b/%2F+", "c d", "日期=二", "<&>\"'", "z\x01\x7f\t", " "]
UNUSUAL: Mapping[str, Callable[[bytes], bytes]] = {
    "no": lambda body: body,
    "owners": lambda body: body.replace(b"</Size>", b"</Size><Owner><ID>1</ID></Owner><StorageClass>IA</StorageClass>"),
    "no tags": lambda body: re.sub(rb"<ETag>.*?</ETag>", b"", body),
    "no namespace": lambda body: re.sub(rb" xmlns=\"[^\"]*\"", b"", body),
    "dates of RFC 1123": lambda body: re.sub(rb"2026-01-01T00:00:00.000Z", b"Thu, 01 Jan 2026 00:00:00 GMT", body),
    "no zone": lambda body: body.replace(b".000Z", b".000"),
}  # fmt: skip


@pytest.mark.parametrize("unusual", UNUSUAL)
def test_pages_are_read_as_botocore_reads_them(
    server: memory_s3.Server, monkeypatch: pytest.MonkeyPatch, unusual: str
) -> None:
    server.objects.update({f"t/{name}": name.encode() for name in NAMES} | {"t/in/a": b"", "t/in/b": b""})
    listed = server._listed

    def changed(asked: Mapping[str, str]) -> tuple[int, list[tuple[str, str]], bytes]:
        status, headers, body = listed(asked)
        return status, headers, UNUSUAL[unusual](body)

    monkeypatch.setattr(server, "_listed", changed)
    client = Store(f"s3://{memory_s3.BUCKET}/t").many
    assert client is not None
    pages = dict[bool, list[Any]]()
    for is_ours in (True, False):
        if not is_ours:
            of = f"{listing.__name__} before-parse"
            client._fs.s3.meta.events.unregister("before-parse.s3.ListObjectsV2", unique_id=of)
        found = [client._page("t/", Delimiter=each, MaxKeys=1000) for each in ("", "/")]
        assert None not in found
        pages[is_ours] = [
            ([(each["Key"], each["Size"], each.get("ETag"), each["LastModified"]) for each in page["Contents"]],
             {key: value for key, value in page.items() if key not in ("Contents", "ResponseMetadata")})
            for page in found if page
        ]  # fmt: skip
    assert pages[True] == pages[False]
    assert [key for key, *_ in pages[True][0][0]] == sorted(each for each in server.objects)[: len(pages[True][0][0])]

"""Many directories, listed together."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from core.errors import Corrupt
from core.storage import listings
from core.storage.file_systems import DirectoryEntry
from core.storage.s3 import listing
from core.storage.store import Store
from tests.support import memory_s3
from tests.support.depth import first_fast, sample

FILES = {f"t/d{number:03}/f{each}": b"x" * each for number in range(50) for each in range(1, 4)}


def shown(store: Store, *directories: str) -> dict[str, list[tuple[str, int | None]]]:
    found = listings.of(store, directories)
    return {directory: [(each.name, each.size) for each in entries] for directory, entries in found.items()}


EXPECTED = {f"d{number:03}": [(f"f{each}", each) for each in range(1, 4)] for number in range(50)}


def test_on_a_disk(tmp_path: Path) -> None:
    for path, content in FILES.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(content)
    found = shown(Store(str(tmp_path / "t")), *EXPECTED, "nowhere")
    assert found == {**EXPECTED, "nowhere": []}
    assert list(found) == [*EXPECTED, "nowhere"]
    with pytest.raises(Corrupt):
        shown(Store(str(tmp_path / "t")), "d001", "d001/f1")


def test_names_are_those_of_a_listing(tmp_path: Path) -> None:
    (tmp_path / "t/d/inner").mkdir(parents=True)
    (tmp_path / "t/d/file").write_text("x")
    (tmp_path / "t/d/link").symlink_to("file")
    (tmp_path / "t/d/to-directory").symlink_to("inner")
    (tmp_path / "t/d/to-nothing").symlink_to("nowhere")
    store = Store(str(tmp_path / "t"))
    listed = [entry.name for entry in store.ls_if_there("d") if not entry.is_dir]
    assert sorted(listings.names(store, "d")) == listed == ["file", "link", "to-nothing"]
    found, are_all = listings.first_names(store, "d")
    assert (sorted(found), are_all) == (listed, True)
    assert listings.names(store, "nowhere") == []
    with pytest.raises(Corrupt):
        listings.names(store, "d/file")


def test_in_parallel_on_a_store(monkeypatch: pytest.MonkeyPatch) -> None:
    with memory_s3.serving(FILES) as server:
        server.lead(monkeypatch)
        server.taken()
        found = shown(Store(f"s3://{memory_s3.BUCKET}/t"), *EXPECTED, "nowhere")
        assert found == {**EXPECTED, "nowhere": []}
        assert list(found) == [*EXPECTED, "nowhere"]
        assert len(server.taken()) < 10


def test_a_refusal_ends_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whichever thread is refused: the others do not go on to the end."""
    with memory_s3.serving(FILES) as server:
        server.lead(monkeypatch)
        monkeypatch.setattr(listings, "_OF_A_RUN", 10_000)
        store, asked, ls = Store(f"s3://{memory_s3.BUCKET}/t"), list[str](), Store.ls_if_there

        def refusing(self: Store, directory: str) -> list[DirectoryEntry]:
            asked.append(directory)
            if directory == "d020":
                raise Corrupt("refused", path=directory)
            return ls(self, directory)

        monkeypatch.setattr(Store, "ls_if_there", refusing)
        with pytest.raises(Corrupt, match="refused"):
            listings.of(store, [*EXPECTED, *(f"more{number}" for number in range(5_000))])
        assert len(asked) < 1_000


def test_a_directory_that_has_only_its_marker_is_empty(monkeypatch: pytest.MonkeyPatch) -> None:
    """As s3fs lists what S3A leaves; a file of that name is refused."""
    store = Store("memory://listings/t")
    name = f"{store.full('d')}/"
    info = {"name": name, "type": "file", "size": 0}
    monkeypatch.setattr(store._fs, "ls", lambda *_, **__: [info])
    assert listings.of(store, ["d"]) == {"d": []}
    info["name"] = name.rstrip("/")
    with pytest.raises(Corrupt, match="found a file"):
        listings.of(store, ["d"])


# by pages of many directories -----------------------------------------------------------------------------------------

STEPS = (
    *"abcdefgh", "dt=1", "dt=10", "dt=1-", "dt=1.", "hh=10%3A00", "who?", "x#y", "a b", "日期=二", "é", "_h", ".h",
    ".", "..", "", "+", "&amp;", "<x>", "'", '"', "~", "[1]", "*", "\x01", "a\tb",
)  # fmt: skip


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[memory_s3.Server]:
    """A server whose pages are short, and runs that are."""
    monkeypatch.setattr(memory_s3, "PAGE", 20)
    monkeypatch.setattr(listing, "_PAGE", 20)
    monkeypatch.setattr(listing, "_FIRST_PAGE", 10)
    monkeypatch.setattr(listings, "_OF_A_RUN", 4)
    with memory_s3.serving({}) as server:
        server.lead(monkeypatch)
        yield server


def holds(server: memory_s3.Server, names: Sequence[str]) -> None:
    server.objects.clear()
    server.objects.update({name: name.encode() for name in names})
    server._names = None


def alone(store: Store, directories: Sequence[str]) -> dict[str, list[DirectoryEntry]]:
    return {directory: store.ls_if_there(directory) for directory in directories}


@pytest.mark.parametrize("seed", sample(range(40), 4))
@pytest.mark.parametrize("root", first_fast(["t", "t/data=1/x", ""]))
def test_pages_show_what_each_listing_shows(server: memory_s3.Server, root: str, seed: int) -> None:
    """Whatever the names are, also of markers of directories and of files beside a directory of the same name."""
    chance, names = random.Random(seed), set[str]()
    above = f"{root}/" if root else ""
    for _ in range(chance.choice([20, 40, 60])):
        steps = [chance.choice(STEPS) for _ in range(chance.randint(1, 4))]
        first = chance.choice(["d/", "d/e/", "", "%/"])
        for number in range(chance.choice([0, 1, 1, 2, 5, 30])):
            names.add(f"{above}{first}{'/'.join(steps)}/f{number}")
        names.add(f"{above}{first}{'/'.join(steps)}{chance.choice(['', '/', '//', '/.'])}")
    holds(server, sorted(each for each in names if each and each[0] != "/"))
    store = Store(f"s3://{memory_s3.BUCKET}/{root}".rstrip("/"))
    some, below = list[str](), [""]
    for directory in below:  # as searches go
        entries = [each for each in store.ls_if_there(directory) if each.is_dir] if directory.count("/") < 4 else []
        below += [f"{directory}/{each.name}".removeprefix("/") for each in entries if each.name not in (".", "..")]
    some = [each for each in below[1:] if store.addresses(each)] + ["nowhere", "d/nowhere"]
    for directories in (sorted(some), [each for each in some if each.count("/") == 1], sorted(some)[::3]):
        chance.shuffle(directories)
        server.taken()
        expected = alone(store, directories)
        requests = len(server.taken())
        assert listings.of(store, directories) == expected
        assert len(server.taken()) < 1.5 * requests + 10


def test_first_names_are_those_of_one_page(server: memory_s3.Server) -> None:
    holds(server, [*(f"t/d/f{number:03}" for number in range(50)), "t/d/inner/x", "t/d0/x"])
    store = Store(f"s3://{memory_s3.BUCKET}/t")
    assert listings.first_names(store, "d") == ([f"f{number:03}" for number in range(20)], False)
    assert len([path for _, path in server.taken() if "list-type" in path]) == 1
    assert sorted(listings.names(store, "d", ("f02", "f04"))) == [f"f{number:03}" for number in range(50)]
    assert listings.first_names(store, "d/inner") == (["x"], True)
    assert listings.first_names(store, "nowhere") == ([], False), "what seems empty is listed"


@pytest.mark.parametrize("beside", first_fast([(), ("d010/x/y", "d020/x/y"), ("d03", "d030-/x", "d030./x", "d0300/x")]))
def test_many_directories_take_few_requests(server: memory_s3.Server, beside: Sequence[str]) -> None:
    files = [f"t/d{number:03}/f{each}" for number in range(320) for each in range(3)]
    holds(server, [*files, *(f"t/{each}" for each in beside), "t/z", "u/d001/x"])
    store, directories = Store(f"s3://{memory_s3.BUCKET}/t"), [f"d{number:03}" for number in range(320)]
    found = listings.of(store, directories)
    assert len(server.taken()) < 100  # 48 pages are full of these names
    assert found == alone(store, directories)


def test_a_few_directories_of_many_names_do_not_slow_down_the_others(server: memory_s3.Server) -> None:
    large = [f"t/d{number:03}/{inner}f{each:03}" for number, inner in ((3, ""), (90, "x/")) for each in range(300)]
    holds(server, [*large, *(f"t/d{number:03}/a{each}" for number in range(160) for each in range(3))])
    store, directories = Store(f"s3://{memory_s3.BUCKET}/t"), [f"d{number:03}" for number in range(160)]
    found = listings.of(store, directories)
    assert len(server.taken()) < 100
    assert found == alone(store, directories)


def test_directories_of_many_names_are_listed_alone(server: memory_s3.Server) -> None:
    holds(server, [f"t/d{number:03}/x/f{each:03}" for number in range(96) for each in range(90)])
    store, directories = Store(f"s3://{memory_s3.BUCKET}/t"), [f"d{number:03}" for number in range(96)]
    found = listings.of(store, directories)
    assert found == alone(store, directories)
    by_pages = [path for _, path in server.taken() if "start-after" in path]
    assert len(by_pages) < 2 * 96


EMPTY = b"<ListBucketResult><KeyCount>0</KeyCount><IsTruncated>false</IsTruncated></ListBucketResult>"


def _lines(body: bytes) -> bytes:
    return body.replace(b"</Contents><Contents>", b"</Contents>\n<Contents>")


ODD: Mapping[str, Callable[[bytes], bytes]] = {
    "html": lambda body: b"<html><body>Log in first</body></html>",
    "nothing": lambda body: b"",
    "no names": lambda body: EMPTY,
    "no count": lambda body: re.sub(rb"<KeyCount>\d*</KeyCount>", b"", body),
    "no token": lambda body: re.sub(rb"<NextContinuationToken>.*?</NextContinuationToken>", b"", body),
    "cut off": lambda body: body.replace(b"<IsTruncated>true", b"<IsTruncated>false"),
    "another order": lambda body: re.sub(
        b"(<Contents>.*</Contents>)",
        lambda found: b"".join(reversed(found[1].split(b"\n"))),
        _lines(body),
        flags=re.DOTALL,
    ),
}


@pytest.mark.parametrize("answer", [*ODD, "ignores start-after", "no bucket"])
@pytest.mark.parametrize("from_page", [1, 3])
def test_pages_that_are_not_whole_are_not_believed(
    server: memory_s3.Server, monkeypatch: pytest.MonkeyPatch, answer: str, from_page: int
) -> None:
    """Each directory is listed alone instead. (Only what goes on from a name is answered like that here.)"""
    names = [f"t/d{number:03}/f{each}" for number in range(64) for each in range(7)]
    holds(server, names)
    store, directories = Store(f"s3://{memory_s3.BUCKET}/t"), [f"d{number:03}" for number in range(64)]
    expected, listed, pages = alone(store, directories), server._listed, list[str]()

    def broken(asked: Mapping[str, str]) -> tuple[int, list[tuple[str, str]], bytes]:
        if "start-after" not in asked:
            return listed(asked)
        pages.append(asked["start-after"])
        if len(pages) < from_page:
            return listed(asked)
        if answer == "no bucket":
            return 404, [], b"<Error><Code>NoSuchBucket</Code><Message>No.</Message></Error>"
        if answer == "ignores start-after":
            return listed({name: value for name, value in asked.items() if name != "start-after"})
        status, headers, body = listed(asked)
        return status, headers, ODD[answer](body)

    monkeypatch.setattr(server, "_listed", broken)
    assert listings.of(store, directories) == expected
    assert len(pages) >= from_page


def test_a_directory_that_a_page_shows_empty_is_asked_for_alone(
    server: memory_s3.Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    holds(server, [f"t/d{number:03}/f" for number in range(64)])
    store, directories = Store(f"s3://{memory_s3.BUCKET}/t"), [f"d{number:03}" for number in range(64)]
    listed = server._listed

    def without(asked: Mapping[str, str]) -> tuple[int, list[tuple[str, str]], bytes]:
        status, headers, body = listed(asked)
        if "start-after" in asked:
            body = re.sub(rb"<Contents><Key>t/d01./f</Key>.*?</Contents>", b"", body)
        return status, headers, body

    monkeypatch.setattr(server, "_listed", without)
    assert {each: len(found) for each, found in listings.of(store, directories).items()} == dict.fromkeys(
        directories, 1
    )


def test_a_store_that_lists_nothing_is_refused(server: memory_s3.Server, monkeypatch: pytest.MonkeyPatch) -> None:
    holds(server, [f"t/d{number:03}/f" for number in range(64)])
    store, directories = Store(f"s3://{memory_s3.BUCKET}/t"), [f"d{number:03}" for number in range(64)]
    assert all(listings.of(store, directories).values())
    monkeypatch.setattr(server, "_listed", lambda asked: (200, [], b"<html></html>"))
    with pytest.raises(Corrupt):
        listings.of(store, directories)

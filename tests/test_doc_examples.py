"""Runs every command and code block in README and docs, on a separate demo warehouse for each page."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from core.demo import iceberg_twin
from core.demo.data import Calendar
from core.execution import grace_period
from core.storage.store import Store
from core.table import open_table
from tests.support import doc_blocks
from tests.support.doc_blocks import PAGES, ROOT, Block, blocks

WITH_BLOCKS = [page.relative_to(ROOT).as_posix() for page in PAGES if any(each.is_run for each in blocks(page))]
MOST_NOT_RUN = 16


def block(text: str, language: str = "sh", note: str = "") -> Block:
    return Block(ROOT / "README.md", 1, language, text, note)


# --- what is a block, and what is run --------------------------------------------------------------------------------


def test_blocks_are_found_with_the_comment_before_them(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "a\n\n```sh\nsnapscope --help\n```\n\n<!-- not run: no S3 -->\n```sh\nls s3://x\n```\n\n```text\nx\n```\n"
    )
    found = blocks(page)
    assert [(each.language, each.line, each.is_run, each.reason) for each in found] == [
        ("sh", 3, True, ""),
        ("sh", 8, False, "no S3"),
        ("text", 12, False, ""),
    ]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("snapscope tags t\n", [["tags", "t"]]),
        ("snapscope query t 'a > 1; b'  # why\nsnapscope \\\n  tags t\n", [["query", "t", "a > 1; b"], ["tags", "t"]]),
        ("snapscope tags t | head\n", []),
        ("x=$(snapscope tags t)\n", []),
        ("ls\n", []),
        ("snapscope tags t\nls\n", []),
    ],
)
def test_plain_calls_are_told_from_what_a_shell_reads(text: str, words: list[list[str]]) -> None:
    assert doc_blocks.commands(text) == words


def test_every_block_names_a_language_that_is_run_or_shown() -> None:
    known = {*doc_blocks.RUN, *doc_blocks.SHOWN}
    assert {each.place: each.language for page in PAGES for each in blocks(page) if each.language not in known} == {}


def test_few_blocks_are_not_run_and_each_says_why() -> None:
    left_out = [each for page in PAGES for each in blocks(page) if each.language in doc_blocks.RUN and not each.is_run]
    assert [each.place for each in left_out if len(each.reason.split()) < 3] == []
    assert len(left_out) <= MOST_NOT_RUN, [each.place for each in left_out]


@pytest.mark.slow
def test_a_block_that_fails_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    programs = doc_blocks.make_program(tmp_path)
    for failing in (
        block("snapscope tags no-such-table\n"),
        block("snapscope tags no-such-table | cat\n"),
        block("false\ntrue\n"),
        block("assert 1 == 2\n", "python"),
    ):
        with pytest.raises(AssertionError):
            doc_blocks.run(failing, {}, programs)


# --- they run --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return doc_blocks.make_program(tmp_path_factory.mktemp("bin"))


@pytest.fixture
def reader(demo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Set up what a reader has: their own demo. Its Iceberg table contains absolute paths, so it is created again."""
    own = Path(shutil.copytree(demo, tmp_path / "demo", ignore=shutil.ignore_patterns("orders_iceberg")))
    calendar = Calendar(json.loads((own / ".snapscope-demo").read_text())["created_ms"])
    source, twin = open_table(str(own / "sales.db" / "orders")).history(), own / "sales.db" / "orders_iceberg"
    iceberg_twin.build(source, Store(str(twin)), str(twin), calendar)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(grace_period, "wait", lambda *_: None)  # nobody writes to the demo, and 30 s are the usual wait
    return tmp_path


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.parametrize("page", WITH_BLOCKS)
def test_every_block_of_the_page_runs(page: str, reader: Path, programs: Path) -> None:
    names: dict[str, object] = {"__name__": "__main__"}
    for each in blocks(ROOT / page):
        if each.is_run:
            doc_blocks.run(each, names, programs)
    assert reader.is_dir()

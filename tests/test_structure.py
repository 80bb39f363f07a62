"""The counts in tests/structure.py do not grow, and the diagram is current."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests import structure


@pytest.mark.parametrize("name", structure.COUNTS)
def test_no_count_grows(name: str) -> None:
    places = structure.COUNTS[name]()
    assert len(places) <= json.loads(structure.LIMITS.read_text())[name], places


def test_the_counts_see_what_they_count() -> None:
    """A count that cannot grow checks nothing: each of these existed when the counts were written, or is created
    here."""
    assert structure._asks_for_the_format(structure.ast.parse("table.own").body[0].value)  # type: ignore[attr-defined]
    assert structure._asks_for_the_format(structure.ast.parse("heads.format == 'iceberg'").body[0].value)  # type: ignore[attr-defined]
    assert structure._asks_for_the_format(structure.ast.parse("heads.pointer is None").body[0].value)  # type: ignore[attr-defined]
    assert not structure._asks_for_the_format(structure.ast.parse("args.format == 'json'").body[0].value)  # type: ignore[attr-defined]
    assert structure.tests_named_by_imports("from tests.core import test_paths\n") == ["tests.core.test_paths"]
    assert structure.tests_named_by_imports("import tests.core.test_paths\n") == ["tests.core.test_paths"]
    assert structure.tests_named_by_imports('code = """\n    from tests.dashboard.conftest import Page"""')
    assert structure.tests_named_by_imports('code = (\n    "from tests.core.test_paths import *\\n"\n)')
    assert not structure.tests_named_by_imports("from tests.support.places import ROOT\n")
    modules = ["core/x/journal.py", "core/x/journal_lock.py", "core/x/other.py"]
    assert structure.modules_of("tests/core/x/test_journal_lost.py", modules) == ["core/x/journal.py"]
    assert structure.modules_of("tests/core/x/test_journal_lock.py", modules) == ["core/x/journal_lock.py"]
    assert structure.modules_of("tests/core/x/test_x.py", modules) == modules
    assert structure.modules_of("tests/core/x/test_kill.py", modules) == []
    assert structure.modules_of("tests/core/y/test_journal.py", modules) == []


@pytest.mark.slow
def test_an_import_is_late_only_because_of_a_slow_library() -> None:
    """What the source text shows is what Python does."""
    assert structure.loads_a_slow_library("core.spark.sql.run")  # directly
    assert structure.loads_a_slow_library("core.demo.build")  # indirectly
    assert not structure.loads_a_slow_library("core.cli")
    check = "import sys, core.cli; sys.exit(bool({'pyspark', 'py4j'} & sys.modules.keys()))"
    assert subprocess.run([sys.executable, "-c", check], cwd=structure.ROOT, check=False).returncode == 0
    check = "import sys, core.demo.build; sys.exit('pyspark' not in sys.modules)"
    assert subprocess.run([sys.executable, "-c", check], cwd=structure.ROOT, check=False).returncode == 0


@pytest.mark.parametrize(
    "code",
    [
        "why.startswith('kept, because')",
        "why.startswith('after ')",
        "'itself would strand' in why",
        "hint == f'the id {number}'",
        "NONE = 'no file'\nfound == NONE",
        "error.message.partition(separator)",
        "problem.sentence() in seen",
        "{'was gone already': 1}",
        "fates['was gone already']",
        "why in ('was gone', 'is gone')",
        "match why:\n    case 'was gone already': pass",
    ],
)
def test_a_decision_on_a_sentence_is_seen(code: str) -> None:
    assert list(structure.decided_on(structure.ast.parse(code)))


@pytest.mark.parametrize(
    "code",
    ["kind == 'snapshot-id'", "path.startswith('bucket-')", "re.fullmatch(r'[a-z]+ [a-z]+', text)", "a.code == b"],
)
def test_a_name_is_no_sentence(code: str) -> None:
    assert not list(structure.decided_on(structure.ast.parse(code)))


def test_the_diagram_is_drawn_from_the_imports_of_today() -> None:
    text = structure.ARCHITECTURE.read_text()
    assert structure.written(text) == text

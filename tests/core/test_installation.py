"""Hints about missing software: commands for exactly this Python, and packages that an index has."""

from __future__ import annotations

import importlib.util
import re
import shlex
import sys
import tomllib
from importlib.metadata import PackageNotFoundError
from typing import Any

import pytest
from packaging.requirements import Requirement

from core import doctor, installation
from core.errors import Unsupported
from core.installation import EXTRAS, extra_command, install_command, packages_of
from core.storage.store import Store
from tests.support.places import ROOT

DECLARED = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]


@pytest.mark.parametrize("extra", [*dict.fromkeys(EXTRAS.values()), "iceberg"])
def test_an_extra_is_installed_by_its_packages(extra: str) -> None:
    assert {str(Requirement(each)) for each in packages_of(extra)} == {str(Requirement(e)) for e in DECLARED[extra]}
    words = shlex.split(extra_command(extra))
    assert words[:4] == [sys.executable, "-m", "pip", "install"]
    assert [Requirement(each) for each in words[4:]] == [Requirement(each) for each in packages_of(extra)]


def test_without_pip_uv_installs_into_the_same_python(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        installation, "find_spec", lambda name: None if name == "pip" else importlib.util.find_spec(name)
    )
    assert install_command("s3fs>=1") == shlex.join(["uv", "pip", "install", "--python", sys.executable, "s3fs>=1"])


def test_a_source_tree_that_nobody_installed_installs_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> Any:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(installation, "requires", absent)
    assert packages_of("s3") == (".[s3]",)


def test_a_store_without_its_package_says_what_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    for protocol in ("s3", "oss"):  # fsspec keeps every class it has imported
        monkeypatch.delitem(sys.modules["fsspec.registry"]._registry, protocol, raising=False)
    monkeypatch.setitem(sys.modules, "s3fs", None)
    monkeypatch.setitem(sys.modules, "ossfs", None)
    for url, extra in (("s3://bucket/t", "s3"), ("oss://bucket/t", "oss")):
        with pytest.raises(Unsupported) as caught:
            Store(url)
        assert str(caught.value.remedy).endswith(extra_command(extra))
    with pytest.raises(Unsupported, match="fsspec package of that protocol"):
        Store("nosuch://bucket/t")


def test_the_doctor_names_the_same_commands() -> None:
    stores = {each.name: each for each in doctor.of_group("stores")}
    for protocol, (_, extra) in doctor.STORES.items():
        remedy = stores[protocol].remedy
        assert remedy == "" or remedy.endswith(extra_command(extra))
        assert EXTRAS[protocol.removesuffix("://")] == extra


def test_no_hint_names_a_package_that_no_index_has() -> None:
    texts = [*(path for each in ("core", "dashboard", "snapscope") for path in (ROOT / each).rglob("*.py"))]
    texts += [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    hint = re.compile(r"pip install\W+snapscope\W")
    assert hint.search("pip install 'snapscope[s3]'")
    assert [str(path) for path in texts if hint.search(path.read_text())] == []

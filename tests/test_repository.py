"""What the repository says about itself is true: its commands exist, its pins fit, and it names no private machine."""

from __future__ import annotations

import re
import subprocess
import tomllib
from importlib.metadata import PackageNotFoundError, version

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests import proof
from tests.support.places import ROOT

README = (ROOT / "README.md").read_text()
MAKEFILE = (ROOT / "Makefile").read_text()
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
PROJECT, TOOLS = PYPROJECT["project"], PYPROJECT["tool"]
SETTINGS = ROOT / ".streamlit" / "config.toml"
PINS = [line for line in (ROOT / "constraints.txt").read_text().splitlines() if not line.startswith("#")]
PINNED = {canonicalize_name(name): pin for name, pin in (line.split("==") for line in PINS)}
REQUIREMENTS = [
    Requirement(line)
    for lines in (PROJECT["dependencies"], *PROJECT["optional-dependencies"].values())
    for line in lines
]

HOSTS = (
    r"pypi\.org|pythonhosted\.org|maven\.apache\.org|maven\.org|npmjs\.org|debian\.org|crates\.io|golang\.org"
    r"|\bindex-url\b|\bfind-links\b|\btrusted-host\b"
)


def tracked() -> list[str]:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [name for name in listed.split("\0") if name and (ROOT / name).is_file()]


def commands(text: str) -> str:
    """Return everything in code blocks and inline code."""
    fence = re.compile(r"^```.*?\n(.*?)^```", flags=re.DOTALL | re.MULTILINE)
    return "\n".join([*fence.findall(text), *re.findall(r"`([^`\n]+)`", fence.sub("", text))])


def test_every_make_command_the_readme_names_exists() -> None:
    named = set(re.findall(r"\bmake ([a-z][a-z-]*)", commands(README)))
    targets = set(re.findall(r"^([a-z][a-z-]*):", MAKEFILE, flags=re.MULTILINE))
    assert {"run", "test", "check", "proof"} <= named
    assert named - targets == set()


def test_every_path_the_readme_names_exists() -> None:
    named = re.findall(r"`((?:core|dashboard|tests|benchmarks)/[\w./]*)`", README)
    assert named, "the map names paths"
    assert [path for path in named if not (ROOT / path).exists()] == []


def test_ci_runs_the_readmes_own_test_command() -> None:
    """The expression in .ci/run, evaluated: it finds exactly what the README tells a reader to type."""
    run = (ROOT / ".ci" / "run").read_text()
    expression = re.search(r"^command=\$\((sed .* README\.md) \|", run, flags=re.MULTILINE)
    assert expression
    found = subprocess.run(["bash", "-c", expression[1]], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert found.split("\n")[0] == "make test"
    assert run.rstrip().endswith("$command"), "it is the last thing run, so its status is CI's"
    assert (ROOT / ".ci" / "run").stat().st_mode & 0o111


def test_the_docs_have_a_place_for_the_proofs() -> None:
    page = proof.PAGE.read_text()
    assert proof.PAGE.is_relative_to(ROOT / "docs")
    assert page.count(proof.BEGIN) == page.count(proof.END) == 1


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_bytes()) <= 8_192


def test_the_licence_is_part_of_the_wheel() -> None:
    licence = (ROOT / "LICENSE").read_text()
    assert "Apache License" in licence
    assert "END OF TERMS AND CONDITIONS" in licence
    assert PROJECT["license"] == "Apache-2.0"
    assert PROJECT["license-files"] == ["LICENSE"]


def test_the_readme_tells_the_coverage_that_make_test_demands() -> None:
    floor = TOOLS["coverage"]["report"]["fail_under"]
    said = re.search(r"run ([\d.]+) % of the lines[^.]*?\((\d{4}-\d\d-\d\d)\)", " ".join(README.split()))
    assert said
    assert float(said[1]) >= floor
    assert f"fails below {floor:g} %" in " ".join(README.split())
    assert "--cov " in MAKEFILE


def test_no_registry_is_named() -> None:
    """Environments bring their own registries; an --index-url in a tracked file would only work on one machine."""
    command = ["git", "grep", "--text", "--extended-regexp", "--files-with-matches", "-e", HOSTS]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    assert found == ["tests/test_repository.py"], "its own docstring is found"


def test_no_file_is_large() -> None:
    """A jar that a build left behind would stay in the history of every clone."""
    assert [name for name in tracked() if (ROOT / name).stat().st_size > 1_000_000] == []


def test_every_pin_is_one_plain_version() -> None:
    assert [line for line in PINS if not re.fullmatch(r"[A-Za-z0-9._-]+==[0-9][0-9A-Za-z.]*", line)] == []
    assert sorted(PINNED) == list(PINNED)


@pytest.mark.parametrize("requirement", REQUIREMENTS, ids=lambda requirement: requirement.name)
def test_pins_fit_what_the_project_asks_for(requirement: Requirement) -> None:
    pin = PINNED[canonicalize_name(requirement.name)]
    assert requirement.specifier.contains(pin), f"{requirement} is pinned to {pin}; make pins resolves it anew"


def test_the_tests_run_on_the_pinned_versions() -> None:
    other = {}
    for requirement in REQUIREMENTS:
        try:
            installed = version(requirement.name)
        except PackageNotFoundError:
            continue  # an extra that is not installed; required packages fail where they are imported
        if installed != PINNED[canonicalize_name(requirement.name)]:
            other[requirement.name] = installed
    assert other == {}, "make env installs the pinned versions"


def test_an_installed_dashboard_has_its_settings() -> None:
    setuptools = TOOLS["setuptools"]
    patterns = setuptools["package-data"]["dashboard"]
    assert SETTINGS in {path.resolve() for pattern in patterns for path in (ROOT / "dashboard").glob(pattern)}


def test_an_installed_program_has_its_templates() -> None:
    """They are in packages, next to the modules that fill them in, and part of the installed files."""
    setuptools = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]
    found = [ROOT / name for name in tracked() if re.fullmatch(r"(core|dashboard)/.*\.html", name)]
    assert {path.name for path in found} >= {"page.html", "markup.html", "refusal_page.html", "onward_page.html"}
    for path in found:
        assert (path.parent / "__init__.py").exists()
        assert any(path.match(pattern) for pattern in setuptools["package-data"]["*"]), path


def test_the_dashboard_stays_on_this_machine() -> None:
    config = tomllib.loads(SETTINGS.read_text())
    assert config["server"]["address"] == config["browser"]["serverAddress"] == "127.0.0.1"
    assert config["browser"]["gatherUsageStats"] is False
    assert config["client"]["showErrorDetails"] == "none"


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_both_themes_are_whole(theme: str) -> None:
    """A colour missing from one theme or its sidebar falls back to Streamlit's own, which does not match."""
    themes = tomllib.loads(SETTINGS.read_text())["theme"]
    other = themes["dark" if theme == "light" else "light"]
    assert themes[theme].keys() == other.keys()
    assert {"backgroundColor", "secondaryBackgroundColor", "textColor"} <= themes[theme].keys()
    assert {"backgroundColor", "secondaryBackgroundColor", "textColor"} <= themes[theme]["sidebar"].keys()
    assert themes[theme]["sidebar"].keys() == other["sidebar"].keys()

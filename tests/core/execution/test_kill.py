"""The real command line is killed with SIGKILL during an expiry; see `kill`. The proof does so a hundred times."""

from __future__ import annotations

import random

import pytest

from tests.support.execution.kill import Moment, Stage

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Stage:
    return Stage(tmp_path_factory.mktemp("killed"))


@pytest.mark.parametrize("moment", [Moment("settling"), Moment("sweep", 0.4)])
def test_resumed_it_ends_where_a_clean_run_ends(stage: Stage, moment: Moment) -> None:
    stage.resume(stage.kill(moment))


def test_undone_every_reference_is_back_byte_for_byte(stage: Stage) -> None:
    assert stage.undo(stage.kill(Moment("references", 0.5)))


@pytest.mark.parametrize("moment", [Moment("references", 0.3), Moment("sweep", 0.1)])
def test_ids_of_removed_snapshots_used_again_before_it_is_resumed(stage: Stage, moment: Moment) -> None:
    stage.reuse(stage.kill(moment), random.Random(3))

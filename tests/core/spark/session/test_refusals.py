"""What Spark raises, in one sentence that says why."""

from __future__ import annotations

import pytest

from core.errors import Corrupt
from core.spark.session.refusals import refusal

READ = (
    "[FAILED_READ_FILE.NO_HINT] Encountered error while reading file file:///w/t/f.parquet. SQLSTATE: KD001\n"
    "\tat a.b.C\n"
)


@pytest.mark.parametrize(
    ("causes", "said"),
    [
        ("", "Spark could not read a data file. Encountered error while reading file file:///w/t/f.parquet."),
        (
            "Caused by: java.lang.IllegalStateException: outer\nCaused by: java.io.EOFException: Reached the end",
            "Encountered error while reading file file:///w/t/f.parquet. Reached the end.",
        ),
        (
            "Caused by: org.apache.spark.SparkRuntimeException: [SOME_CLASS] Value 17 is unknown. SQLSTATE: 22023",
            "Encountered error while reading file file:///w/t/f.parquet. Value 17 is unknown.",
        ),
        (
            "Caused by: org.apache.hadoop.fs.ChecksumException: "
            "Checksum error: file:/w/t/f g.parquet at 0 exp: 1 got: 2",
            "A data file does not match the checksums in /w/t/.f g.parquet.crc, which Hadoop wrote beside it.",
        ),
    ],
)
def test_a_file_that_cannot_be_read_is_reported_with_the_cause(causes: str, said: str) -> None:
    found = refusal(RuntimeError(READ + causes))
    assert isinstance(found, Corrupt)
    assert said in str(found)

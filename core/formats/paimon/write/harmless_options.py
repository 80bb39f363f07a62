"""Options of the engine that a writer may ignore: they affect no row, no file's content and no commit. Pure.

Invariant: an option that is not listed here is relevant. A family ends with a dot; all others are complete names.
"""

from __future__ import annotations

_FAMILIES = (
    "changelog.num-retained.",
    "compaction.",
    "lookup.",
    "num-sorted-run.",
    "orc.",
    "parquet.block.",
    "parquet.bloom.filter.",
    "parquet.compression.codec.zstd.",
    "parquet.dictionary.",
    "parquet.page.",
    "snapshot.expire.",
    "snapshot.num-retained.",
    "source.split.",
    "tag.callback.",
    "write-buffer-spill.",
)
_NAMES = frozenset(
    """
    async-file-write cache-page-size changelog.time-retained commit.discard-duplicate-files commit.force-compact
    commit.force-create-snapshot commit.max-retries commit.max-retry-wait commit.min-retry-wait commit.timeout
    commit.user-prefix consumer-id consumer.changelog-only consumer.expiration-time consumer.ignore-progress
    consumer.mode continuous.discovery-interval dynamic-partition-overwrite file-operation.thread-num
    file-reader-async-threshold file.block-size file.compression.zstd-level local-sort.max-num-file-handles
    manifest.compression manifest.delete-file-drop-stats manifest.full-compaction-threshold-size
    manifest.merge-min-count manifest.merge-optimize.enabled manifest.target-file-size num-levels owner page-size
    parquet.enable.dictionary partition.default-name partition.expiration-batch-size
    partition.expiration-check-interval partition.expiration-max-num partition.expiration-strategy
    partition.expiration-time partition.sink-strategy partition.timestamp-format.strict
    partition.timestamp-formatter partition.timestamp-pattern path read.batch-size scan.manifest.parallelism
    scan.max-splits-per-task scan.parallelism scan.plan-sort-partition sink.process-time-zone
    sink.watermark-time-zone snapshot.clean-empty-directories
    snapshot.ignore-empty-commit snapshot.time-retained snapshot.watermark-idle-timeout sort-engine
    sort-spill-buffer-size sort-spill-threshold spill-compression spill-compression.zstd-level
    streaming-read-append-overwrite streaming-read-overwrite streaming.read.snapshot.delay tag.automatic-completion
    tag.automatic-creation tag.batch.customized-name tag.callbacks tag.create-interval tag.create-success-file
    tag.create-time tag.creation-delay tag.creation-period tag.creation-period-duration tag.default-time-retained
    tag.num-retained-max tag.period-formatter tag.time-expire-enabled target-file-size write-buffer-for-append
    write-buffer-size write-buffer-spillable write-max-writers-to-spill write-only write.batch-memory write.batch-size
    write.compaction-skip
    """.split()
)


def is_harmless(name: str) -> bool:
    """Return whether a writer writes the same whatever the option's value.

    What engines do after a commit (expiry, tags, compaction) is left to them; nothing of it is done here.
    """
    return name in _NAMES or name.startswith(_FAMILIES)


def is_changeable(name: str) -> bool:
    """Return whether the option may be changed on a table with rows: harmless, and no location or owner."""
    return is_harmless(name) and name not in ("path", "owner", "partition.default-name")

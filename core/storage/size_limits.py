"""Size limits in bytes, packed and unpacked, above which a file is rejected unread; one constant and reason each. Pure.

Invariant: no table written by an engine reaches one of these limits. A file that exceeds one is damaged or was made to
exhaust its reader.
"""

from __future__ import annotations

MB, GB = 1 << 20, 1 << 30

HINT = 4 << 10
"""EARLIEST, LATEST, version-hint.text: a number of up to 19 digits."""

DOCUMENT = 32 * MB
"""A snapshot, tag, changelog or consumer takes 1 kB; a schema or statistics of 10,000 commented columns take 3 MB."""

TABLE_METADATA = 512 * MB
"""Iceberg's metadata.json, unpacked, lists every snapshot: 100,000 snapshots with long summaries take 150 MB."""

REFERENCES = GB
"""Total size of the references that one read of a directory keeps in memory: a million snapshots of 1 kB each."""

MANIFEST = 512 * MB
"""A manifest is 8 MB unless a table option says otherwise; a list or manifest of a million entries takes 100 MB."""

INDEX_FILE = GB
"""An index file of deletion vectors is 2 MB unless a table option says otherwise."""

DATA_FILE = 16 * GB
"""A data file that has to be read whole because its store is not a local disk."""

FOOTER = 256 * MB
"""The stored footer of a Parquet or ORC file: that of 10,000 columns in 1,000 row groups takes about 200 MB."""
FOOTER_UNPACKED = GB
"""An ORC footer including its stripe statistics, unpacked."""

PACKED_JSON = 300
"""Maximum compression ratio of gzipped JSON above `DOCUMENT`.

Measured: 30 for 100,000 snapshots that differ only in ids and times, 142 for 8,000 identical schemas.
"""

UNPACKED = 64 * MB
"""Unpacked size that is accepted however small the packed file is."""

EXPANSION = 1032
"""Maximum compression ratio of a file: the most deflate can reach. Statistics of 2,000 all-null columns reach 400."""

JSON_VALUES = 1 << 20
"""Values in one JSON document, each about 64 bytes in memory; more if they average `JSON_VALUE` bytes of text."""
JSON_VALUE = 8

AVRO_HEADER = 16 * MB
"""The header of an Avro file. An Iceberg manifest repeats the table's schema there."""
AVRO_ENTRIES = 1024
"""Entries in that header; both formats write eight."""
AVRO_SCHEMA = MB
"""The Avro schema of the records: 10 kB plus 100 bytes for each partition field."""
AVRO_DEPTH = 48
"""Nesting depth of the Avro types: both formats use eight; the decoder fails at 128 braces."""
AVRO_TYPES = 4096
"""Types in one record, with named types counted at each use: 80 plus three for each partition field."""

AVRO_BLOCKS = 1 << 20
"""Blocks in one file; some writers start a block for each record."""
AVRO_BLOCK = 64 * MB
"""One block, unpacked: writers end a block at 64 kB; a few put a whole list into one block."""
ZSTD_WINDOW = 27
"""Window size of a zstd frame as a power of two; zstd's own default limit."""

RECORDS = 1 << 16
"""Records accepted however small the file is; beyond that, one per packed byte. Each record names a file."""

BATCH = 64 * MB
"""Unpacked size of the records that are decoded at one time."""

DECODED = 512 * MB
"""Memory of the rows of one scan; for larger files `EXPANSION` times the file size."""

POSITIONS = 1 << 26
"""Deleted rows of one data file: 8 bytes each in memory, 12 while they are read.

A file with that many rows takes several GB.
"""
BITMAPS = 1 << 16
"""Bitmaps of 2**32 positions in one deletion vector; row positions go up to 2**48."""

TYPE_DEPTH = 100
"""Nesting depth of a column's type; the engines themselves stop at a few hundred."""

STATEMENT = MB
"""Characters in one SQL text."""

"""How large a file, and what it unpacks to, may be before it is refused unread: one number each, and why. Pure.

Law: no table that an engine writes reaches one of these limits; whatever exceeds one is damaged or made to exhaust a
reader.
"""

from __future__ import annotations

MB, GB = 1 << 20, 1 << 30

HINT = 4 << 10
"""EARLIEST, LATEST, version-hint.text: a number of up to 19 digits."""

DOCUMENT = 32 * MB
"""A snapshot, tag, changelog or consumer takes a kilobyte; schema or statistics of 10,000 commented columns 3 MB."""

TABLE_METADATA = 512 * MB
"""Iceberg's metadata.json, unpacked, holds every snapshot: 100,000 of them with long summaries take 150 MB."""

REFERENCES = GB
"""What one look at a directory of references keeps in memory: a million snapshots of a kilobyte."""

MANIFEST = 512 * MB
"""A manifest is 8 MB unless a table asks for more; the list or manifest of a million entries takes 100 MB."""

INDEX_FILE = GB
"""An index file of deletion vectors is 2 MB unless a table asks for more."""

DATA_FILE = 16 * GB
"""A data file that is read whole, because its store is no local disk."""

FOOTER = 256 * MB
"""The footer of a Parquet or ORC file as it is stored: that of 10,000 columns in 1,000 row groups takes some 200 MB."""
FOOTER_UNPACKED = GB
"""An ORC footer with its stripe statistics, unpacked."""

PACKED_JSON = 300
"""Times its size that gzipped JSON of more than `DOCUMENT` unpacks to; that of 100,000 snapshots alike but for their
ids and times 30, of 8,000 schemas that are alike 142."""

UNPACKED = 64 * MB
"""What a file may unpack to however small it is."""

EXPANSION = 1032
"""Times its size that a file may unpack to: the most that deflate can do. Statistics of 2,000 columns of nulls: 400."""

JSON_VALUES = 1 << 20
"""Values of a document, each some 64 bytes in memory; more only where a value takes `JSON_VALUE` bytes in the mean."""
JSON_VALUE = 8

AVRO_HEADER = 16 * MB
"""An Iceberg manifest repeats its table's schema in its header."""
AVRO_ENTRIES = 1024
"""Of that header: eight in both formats."""
AVRO_SCHEMA = MB
"""The schema of Avro's records: 10 kB, and 100 bytes for each partition field."""
AVRO_DEPTH = 48
"""Types within types: eight in both formats; the decoder gives up at 128 braces."""
AVRO_TYPES = 4096
"""Types of one record, those under a name counted where they are used: 80, and three for each partition field."""

AVRO_BLOCKS = 1 << 20
"""Blocks of one file; some writers make one of each record."""
AVRO_BLOCK = 64 * MB
"""One block unpacked: writers end one at 64 kB, a few put a whole list into one."""
ZSTD_WINDOW = 27
"""Bits of the memory a zstd frame asks for, as zstd itself has it."""

RECORDS = 1 << 16
"""Records of one file however small it is; more need a byte each of the packed file. Each names a file of its own."""

BATCH = 64 * MB
"""What the records that are decoded at a time take unpacked."""

DECODED = 512 * MB
"""What a scan's rows may take in memory, or `EXPANSION` times the size of its files."""

POSITIONS = 1 << 26
"""Deleted rows of one data file, eight bytes each in memory and twelve while they are read; files of so many rows are
some gigabytes."""
BITMAPS = 1 << 16
"""Bitmaps of 2**32 positions in one deletion vector: rows are numbered up to 2**48."""

TYPE_DEPTH = 100
"""Types within a column's type: engines themselves end at some hundreds."""

STATEMENT = MB
"""Characters of one SQL text."""

#!/usr/bin/env python3
"""Statistics of row groups as Kith reads them, against pyarrow's reading of the same files.

    usage: outside_statistics.py PARQUET_STATISTICS

The files are those of parquet-testing, and one that pyarrow writes with every flat type. A bound that Kith gives must be
pyarrow's; one that pyarrow gives and Kith does not must be among those below. Exit status 77, skipped, without
KITH_OUTSIDE or pyarrow.
"""

import datetime
import decimal
import json
import math
import os
import pathlib
import struct
import subprocess
import sys
import tempfile

SKIPPED = 77

# Files in which Kith leaves out bounds that pyarrow uses.
LEFT_OUT = {
    "fixed_length_decimal.parquet": "deprecated fields, whose order of decimals in bytes differed between writers",
    "fixed_length_decimal_legacy.parquet": "the same",
    "nan_in_stats.parquet": "a bound is NaN",
}
# Columns of which Kith uses bounds and pyarrow does not.
USED = {
    "float_ieee754": "pyarrow does not know the column order of IEEE 754",
    "double_ieee754": "the same",
    "float16_ieee754": "the same",
}


def reexecute():
    """Under the project's own virtual environment, where that is set up."""
    here = pathlib.Path(__file__).resolve().parents[2] / ".venv/bin/python3"
    if here.exists() and pathlib.Path(sys.prefix).resolve() != here.parents[1].resolve():
        os.execv(here, [str(here), *sys.argv])


reexecute()
try:
    import pyarrow as pa
    import pyarrow.parquet as pq
except ImportError as missing:
    print(missing)
    sys.exit(SKIPPED)


def spell(column, raw, value):
    """A bound as parquet_statistics prints it; floating-point numbers stay numbers."""
    name, details = column.logical_type.type, json.loads(column.logical_type.to_json())
    if name == "DECIMAL":
        return format(value, "f")
    if name == "FLOAT16":
        return str(struct.unpack("<H", raw)[0])
    if isinstance(raw, bool):
        return str(int(raw))
    if isinstance(raw, float):
        return raw
    if isinstance(raw, int):
        bits = 32 if column.physical_type == "INT32" else 64
        return str(raw if details.get("isSigned", True) else raw % (1 << bits))
    return (raw if isinstance(raw, bytes) else raw.encode()).hex()


def same(column, found, expected):
    if isinstance(expected, float):
        return found != "-" and float(found) == expected
    return found == expected


def check_chunk(path, metadata, line):
    group, index, least, most, least_exact, most_exact, nulls = line.split("\t")
    column = metadata.schema.column(int(index))
    statistics = metadata.row_group(int(group)).column(int(index)).statistics
    place = f"{path}, row group {group}, column {column.path}"
    given = statistics is not None and statistics.has_min_max
    if (least, most) == ("-", "-"):
        assert not given or path.name in LEFT_OUT, f"{place}: bounds were left out"
    elif column.path not in USED:
        assert given, f"{place}: {least} to {most}, where pyarrow has none"
        for found, raw, value in ((least, statistics.min_raw, statistics.min), (most, statistics.max_raw, statistics.max)):
            expected = spell(column, raw, value)
            assert same(column, found, expected), f"{place}: {found}, expected {expected}"
    # Of some old writers pyarrow distrusts all statistics, counts included, though only bounds were wrong (PARQUET-251).
    if column.max_definition_level > 0 and column.logical_type.type != "NULL" and statistics is not None:
        expected = str(statistics.null_count) if statistics.has_null_count else "-"
        assert nulls == expected, f"{place}: {nulls} NULLs, expected {expected}"


def check_file(tool, path):
    metadata = pq.read_metadata(path)
    lines = subprocess.run([tool, path], check=True, capture_output=True, text=True).stdout.splitlines()
    for line in lines:
        check_chunk(path, metadata, line)
    return len(lines)


def write_every_type(path):
    """Three row groups, one of them all NULL."""
    day, moment = datetime.date(1969, 7, 20), datetime.datetime(2024, 2, 29, 12, 30, 15, 123000)
    values = {
        "bool": (pa.bool_(), [False, True]),
        **{f"int{b}": (getattr(pa, f"int{b}")(), [-(2 ** (b - 1)), 2 ** (b - 1) - 1]) for b in (8, 16, 32, 64)},
        **{f"uint{b}": (getattr(pa, f"uint{b}")(), [0, 2**b - 1]) for b in (8, 16, 32, 64)},
        "float16": (pa.float16(), [-1.5, 65504.0]),
        "float32": (pa.float32(), [-0.1, math.inf]),
        "float64": (pa.float64(), [-0.1, math.nan, 1e300]),
        "decimal_9": (pa.decimal128(9, 2), [decimal.Decimal("-1.25"), decimal.Decimal("9999999.99")]),
        "decimal_38": (pa.decimal128(38, 3), [decimal.Decimal("-1.250"), decimal.Decimal(10**34)]),
        "date": (pa.date32(), [day, moment.date()]),
        "time": (pa.time64("us"), [datetime.time(0), moment.time()]),
        "timestamp": (pa.timestamp("ms", "UTC"), [datetime.datetime(1969, 1, 1), moment]),
        "string": (pa.string(), ["", "Zürich"]),
        "binary": (pa.binary(), [b"\0", b"\xff"]),
        "fixed": (pa.binary(3), [b"abc", b"\xffbc"]),
    }
    table = pa.table({name: pa.array([*v, None, None, None, None, v[0]][:7], kind) for name, (kind, v) in values.items()})
    pq.write_table(table, path, row_group_size=3, store_decimal_as_integer=True)


def main():
    (tool,) = sys.argv[1:]
    outside = os.environ.get("KITH_OUTSIDE")
    if outside is None:
        print("KITH_OUTSIDE is not set")
        sys.exit(SKIPPED)
    chunks = 0
    for path in sorted(pathlib.Path(outside, "parquet-testing/data").rglob("*.parquet")):
        try:
            pq.read_metadata(path).schema.to_arrow_schema()
        except (OSError, pa.ArrowException):
            continue  # pyarrow does not read it
        chunks += check_file(tool, path)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "every_type.parquet"
        write_every_type(path)
        chunks += check_file(tool, path)
    print(f"{chunks} column chunks compared")


if __name__ == "__main__":
    main()

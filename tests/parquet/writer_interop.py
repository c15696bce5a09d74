#!/usr/bin/env python3
"""Files of Kith's writer, read by pyarrow, DuckDB, DataFusion and Kith.

    usage: writer_interop.py WRITER_SAMPLE PARQUET_DUMP

WRITER_SAMPLE writes files of every flat type, codec and shape; this script makes the same values by the same rule and
compares them with what the readers find in the files: values, types, statistics, rows of filters that prune. Exit status 77,
skipped, without pyarrow or DuckDB.
"""

import decimal
import itertools
import math
import os
import pathlib
import struct
import subprocess
import sys
import tempfile

SKIPPED = 77
MASK = (1 << 64) - 1


def reexecute():
    """Under the project's own virtual environment, where that is set up."""
    here = pathlib.Path(__file__).resolve().parents[2] / ".venv/bin/python3"
    if here.exists() and pathlib.Path(sys.prefix).resolve() != here.parents[1].resolve():
        os.execv(here, [str(here), *sys.argv])


reexecute()
try:
    import duckdb
    import pyarrow as pa
    import pyarrow.parquet as pq
except ImportError as missing:
    print(missing)
    sys.exit(SKIPPED)

try:
    import datafusion
except ImportError:
    datafusion = None  # one reader less

decimal.getcontext().prec = 60
SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


def mix(z):
    z = (z + 0x9E3779B97F4A7C15) & MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def signed(h):
    return h - (1 << 64) if h >> 63 else h


def remainder(a, b):
    """As C has it: the sign is the dividend's."""
    return int(math.copysign(1, a)) * (abs(a) % b)


def make_float(h):
    if h % 97 == 0:
        return math.nan
    return -0.0 if h % 89 == 0 else ((h & 0xFFFFF) - 0x80000) / 16


def make_float16(h):
    return struct.unpack("<e", struct.pack("<H", h & 0xFFFF))[0]


def make_text(h):
    return ("é" * 100 if h % 11 == 0 else "") + (f"v{h % 100000}" if h % 13 else "")


def make_bytes(h, length):
    out, filler = b"", h
    while len(out) < length:
        out += struct.pack("<Q", filler)
        filler = mix(filler)
    return out[:length]


def integer(bits, is_signed=True):
    return lambda h: (signed(h) if is_signed else h) >> (64 - bits)


def decimal64(precision, scale):
    return lambda h: decimal.Decimal(remainder(signed(h), 10**precision)).scaleb(-scale)


def decimal_20(h):
    return decimal.Decimal(remainder(signed(h), 10**18) * 100)


def decimal_38(h):
    return decimal.Decimal(remainder(signed(h), 10**18) * 10**18 + h % 10**18).scaleb(-10)


def time(unit):
    return lambda h: h % (86400 * SECOND[unit])


def timestamp(unit):
    return lambda h: h % (4000000000 * SECOND[unit]) - 1000000000 * SECOND[unit]


def date(h):
    return h % 40000 - 10000


def binary(h):
    return make_bytes(h, h % 100)


# name, type that pyarrow reads, value as pyarrow gives it (dates and times as integers), factor of the stored unit
COLUMNS = [
    ("bool", pa.bool_(), lambda h: bool(h & 1), 1),
    ("int8", pa.int8(), integer(8), 1),
    ("int16", pa.int16(), integer(16), 1),
    ("int32", pa.int32(), integer(32), 1),
    ("int64", pa.int64(), integer(64), 1),
    ("uint8", pa.uint8(), integer(8, False), 1),
    ("uint16", pa.uint16(), integer(16, False), 1),
    ("uint32", pa.uint32(), integer(32, False), 1),
    ("uint64", pa.uint64(), integer(64, False), 1),
    ("float16", pa.float16(), make_float16, 1),
    ("float32", pa.float32(), make_float, 1),
    ("float64", pa.float64(), make_float, 1),
    ("decimal_9_2", pa.decimal128(9, 2), decimal64(9, 2), 1),
    ("decimal_18_4", pa.decimal128(18, 4), decimal64(18, 4), 1),
    ("decimal_20_0", pa.decimal128(20, 0), decimal_20, 1),
    ("decimal_38_10", pa.decimal128(38, 10), decimal_38, 1),
    ("date32", pa.date32(), date, 1),
    ("date64", pa.date32(), date, 1),
    ("time32_s", pa.time32("ms"), time("s"), 1000),
    ("time32_ms", pa.time32("ms"), time("ms"), 1),
    ("time64_us", pa.time64("us"), time("us"), 1),
    ("time64_ns", pa.time64("ns"), time("ns"), 1),
    ("timestamp_s", pa.timestamp("ms"), timestamp("s"), 1000),
    ("timestamp_ms", pa.timestamp("ms"), timestamp("ms"), 1),
    ("timestamp_us", pa.timestamp("us"), timestamp("us"), 1),
    ("timestamp_ns", pa.timestamp("ns"), timestamp("ns"), 1),
    ("timestamp_us_utc", pa.timestamp("us", "UTC"), timestamp("us"), 1),
    ("utf8", pa.string(), make_text, 1),
    ("large_utf8", pa.string(), make_text, 1),
    ("utf8_view", pa.string(), make_text, 1),
    ("binary", pa.binary(), binary, 1),
    ("large_binary", pa.binary(), binary, 1),
    ("binary_view", pa.binary(), binary, 1),
    ("fixed_5", pa.binary(5), lambda h: make_bytes(h, 5), 1),
    ("null", pa.null(), lambda h: None, 1),
    ("required_int32", pa.int32(), integer(32), 1),
    ("required_float64", pa.float64(), make_float, 1),
    ("required_utf8", pa.string(), make_text, 1),
    ("required_bool", pa.bool_(), lambda h: bool(h & 1), 1),
    ("wide_decimal_9_2", pa.decimal128(9, 2), decimal64(9, 2), 1),
]


def expected_column(index, rows, shape):
    name, kind, make, factor = COLUMNS[index]
    values = []
    for row in range(rows):
        h = mix((index << 32) + (row % 50 if shape == "repeated" else row))
        null = ((h >> 56) % 5 == 0 or shape == "nulls") and not name.startswith("required")
        if shape == "sorted" and pa.types.is_integer(kind):
            h = (row << (64 - kind.bit_width)) & MASK
        value = None if null or pa.types.is_null(kind) else make(h)
        values.append(value * factor if factor != 1 and value is not None else value)
    return values


def plain_values(column):
    """Python values; dates and times as the integers that are stored."""
    kind = column.type
    if pa.types.is_date32(kind) or pa.types.is_time32(kind):
        column = column.cast(pa.int32())
    elif pa.types.is_temporal(kind):
        column = column.cast(pa.int64())
    return column.to_pylist()


def same(a, b):
    if isinstance(a, float) and isinstance(b, float):
        return (math.isnan(a) and math.isnan(b)) or (a == b and math.copysign(1, a) == math.copysign(1, b))
    return a == b and type(a) is type(b)


def compare(label, found, expected):
    assert len(found) == len(expected), f"{label}: {len(found)} rows, expected {len(expected)}"
    for row, (a, b) in enumerate(zip(found, expected)):
        assert same(a, b), f"{label}: row {row} is {a!r}, expected {b!r}"


def check_values(reader, table, expected):
    for (name, kind, _, _), values in zip(COLUMNS, expected):
        field = table.schema.field(name)
        column = table[name].combine_chunks()
        if pa.types.is_decimal64(field.type):  # Kith's own; pyarrow reads all as 128 bits
            column = column.cast(kind)
        assert column.type == kind, f"{reader}: {name} is {column.type}, expected {kind}"
        assert field.nullable != name.startswith("required"), f"{reader}: {name}"
        compare(f"{reader}: {name}", plain_values(column), values)


def check_readers(path, dump, expected):
    check_values("pyarrow", pq.read_table(path, page_checksum_verification=True), expected)
    subprocess.run([dump, "--verify", "--all", path, path + ".arrows"], check=True)
    check_values("Kith", pa.ipc.open_stream(path + ".arrows").read_all(), expected)


def check_duckdb(path, expected):
    connection = duckdb.connect()
    connection.execute("SET TimeZone = 'UTC'")
    table = connection.sql(f"SELECT * FROM read_parquet('{path}')").to_arrow_table()
    for (name, kind, _, _), values in zip(COLUMNS, expected):
        column = table[name].combine_chunks()
        if isinstance(column, pa.ChunkedArray):
            column = pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type)
        if pa.types.is_temporal(kind):
            unit = getattr(kind, "unit", None)
            target = kind if unit is None else pa.time64("us") if pa.types.is_time(kind) else kind
            if pa.types.is_time(kind) and unit == "ns":
                target = kind
            column = column.cast(target)
            found = plain_values(column)
            if pa.types.is_time32(kind):
                found = [v if v is None else v // 1000 for v in found]
        elif pa.types.is_null(kind):
            found = [None if v is None else v for v in column.to_pylist()]
        else:
            found = column.to_pylist()
        compare(f"DuckDB: {name}", found, values)


def bounds(values):
    """Smallest and largest of what statistics cover, or None."""
    present = [v for v in values if v is not None and not (isinstance(v, float) and math.isnan(v))]
    return (min(present), max(present)) if present else None


def exactness(path):
    """Of each chunk, whether its bounds are said to be exact."""
    rows = duckdb.sql(
        f"SELECT row_group_id, column_id, min_is_exact, max_is_exact FROM parquet_metadata('{path}')"
    ).fetchall()
    return {(group, column): (low, high) for group, column, low, high in rows}


def check_statistics(path, expected, row_group_rows):
    metadata = pq.read_metadata(path)
    rows = len(expected[0])
    assert metadata.num_row_groups == -(-rows // row_group_rows)
    assert metadata.created_by.startswith("kith version ")
    assert metadata.metadata[b"made by"] == b"writer_sample"
    exact = exactness(path)
    for group, (index, (name, kind, _, _)) in itertools.product(range(metadata.num_row_groups), enumerate(COLUMNS)):
        values = expected[index][group * row_group_rows : (group + 1) * row_group_rows]
        chunk = metadata.row_group(group).column(index)
        statistics = chunk.statistics
        assert statistics.null_count == sum(v is None for v in values), f"{name}: {statistics.null_count} nulls"
        limits = bounds(values)
        if pa.types.is_null(kind):
            continue
        assert statistics.has_min_max == (limits is not None), f"{name}: {statistics}"
        if limits is None:
            continue
        raw = statistics.min_raw, statistics.max_raw
        if pa.types.is_string(kind) or (pa.types.is_binary(kind)):
            encoded = [v if isinstance(v, bytes) else v.encode() for v in values if v is not None]
            least, most = min(encoded), max(encoded)
            low, high = (v if isinstance(v, bytes) else v.encode() for v in raw)
            assert low <= least and high >= most and len(low) <= 64 and len(high) <= 64, f"{name}: {raw}"
            assert exact[group, index] == (low == least, high == most), f"{name}: {exact[group, index]}"
        elif pa.types.is_integer(kind) and kind.bit_width in (32, 64) and pa.types.is_signed_integer(kind):
            assert raw == limits, f"{name}: {raw}, expected {limits}"
        elif pa.types.is_float32(kind) or pa.types.is_float64(kind):
            assert (statistics.min, statistics.max) == limits, f"{name}: {raw}, expected {limits}"
        elif pa.types.is_decimal(kind):
            assert (statistics.min, statistics.max) == limits, f"{name}: {raw}, expected {limits}"


def counters(path):
    """Functions that count the rows where a column has a value. DataFusion prunes by the page index as well."""
    duck = duckdb.connect()
    yield lambda name, kind, value: duck.execute(
        f"SELECT count(*) FROM read_parquet('{path}') WHERE \"{name}\" = ?", [value]
    ).fetchone()[0]
    if datafusion is not None:
        settings = {"datafusion.execution.parquet.pushdown_filters": "true"}
        context = datafusion.SessionContext(datafusion.SessionConfig(settings))
        table = context.read_parquet(path)
        yield lambda name, kind, value: table.filter(
            datafusion.col(f'"{name}"') == datafusion.lit(pa.scalar(value, kind))
        ).count()


def check_pruning(path, expected):
    """A filter must find the rows that are there, whatever an engine skips for it."""
    for index, (name, kind, _, _) in enumerate(COLUMNS):
        if not (pa.types.is_integer(kind) or pa.types.is_string(kind) or pa.types.is_floating(kind)) or name == "float16":
            continue
        present = [v for v in expected[index] if v is not None and v == v and v != 0]
        if not present:
            continue  # zeros are left out: engines differ on whether the two are equal
        for value, count in itertools.product((min(present), max(present), present[len(present) // 2]), counters(path)):
            found = count(name, kind, value)
            assert found == present.count(value), f"{name} = {value!r}: {found}, expected {present.count(value)}"


CASES = [
    # codec, rows, rows of a row group, of a page, shape, options
    ("none", 1, 100, 10, "random", []),
    ("snappy", 5000, 2000, 300, "random", []),
    ("zstd", 5000, 2000, 300, "repeated", []),
    ("zstd", 3000, 3000, 100, "sorted", []),
    ("snappy", 1000, 400, 100, "nulls", []),
    ("none", 2500, 1000, 7, "repeated", ["no_dictionary"]),
    ("snappy", 2500, 1000, 1000, "random", ["no_page_index"]),
    ("zstd", 0, 1000, 1000, "random", []),
]


def run_case(sample, dump, folder, case):
    codec, rows, row_group_rows, page_rows, shape, options = case
    path = str(pathlib.Path(folder) / "sample.parquet")
    subprocess.run([sample, path, codec, str(rows), str(row_group_rows), str(page_rows), shape, *options], check=True)
    expected = [expected_column(i, rows, shape) for i in range(len(COLUMNS))]
    check_readers(path, dump, expected)
    check_duckdb(path, expected)
    check_statistics(path, expected, row_group_rows)
    check_pruning(path, expected)
    for group in range(pq.read_metadata(path).num_row_groups):
        chunk = pq.read_metadata(path).row_group(group).column(3)
        assert chunk.has_offset_index == ("no_page_index" not in options)
        assert chunk.has_column_index == ("no_page_index" not in options)


def main():
    sample, dump = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        for case in CASES:
            run_case(sample, dump, folder, case)
            print("ok:", *case)


if __name__ == "__main__":
    main()

"""Writes the seeds of the Parquet fuzzer with pyarrow: small files that between them have every flat type, encoding,
codec and page version, with and without NULLs, page indexes and several row groups.

    usage: .venv/bin/python tests/fuzz/make_parquet_seeds.py
"""

import datetime
import decimal
import pathlib

import pyarrow
import pyarrow.parquet

FOLDER = pathlib.Path(__file__).parent / "seeds" / "parquet"
ROWS = 12


def column(kind, values):
    """The values, repeated to ROWS rows with every fifth NULL."""
    return pyarrow.array([None if row % 5 == 4 else values[row % len(values)] for row in range(ROWS)], kind)


def every_type():
    day = datetime.date(2024, 2, 29)
    moment = datetime.datetime(2024, 2, 29, 12, 30, 15, 123456)
    return pyarrow.table({
        "bool": column(pyarrow.bool_(), [True, False]),
        "int8": column(pyarrow.int8(), [-128, 127]),
        "uint64": column(pyarrow.uint64(), [0, 2**64 - 1]),
        "int32": column(pyarrow.int32(), [1, 2, 3]),
        "float": column(pyarrow.float32(), [0.0, -0.0, float("nan")]),
        "double": column(pyarrow.float64(), [1.5, float("-inf")]),
        "decimal": column(pyarrow.decimal128(12, 2), [decimal.Decimal("1.25"), decimal.Decimal("-9.99")]),
        "date": column(pyarrow.date32(), [day]),
        "time": column(pyarrow.time64("us"), [moment.time()]),
        "timestamp": column(pyarrow.timestamp("us", tz="UTC"), [moment]),
        "string": column(pyarrow.string(), ["", "kith", "a longer piece of text"]),
        "binary": column(pyarrow.binary(), [b"\0\xff"]),
        "fixed": column(pyarrow.binary(3), [b"abc"]),
    })


def encoded(encoding, kind, values):
    return pyarrow.table({"x": column(kind, values)}), {
        "use_dictionary": False, "column_encoding": {"x": encoding}, "data_page_version": "2.0"}


def files():
    yield "types", every_type(), {"write_page_index": True, "compression": "snappy"}
    two = pyarrow.table({"x": pyarrow.array(range(ROWS), pyarrow.int32()), "s": pyarrow.array(["a", "b"] * (ROWS // 2))})
    yield "row_groups", two, {"row_group_size": 4, "data_page_size": 8, "write_page_index": True, "compression": "none"}
    yield "nulls", pyarrow.table({"x": pyarrow.nulls(ROWS)}), {}
    for codec in ("gzip", "zstd", "lz4", "brotli"):
        yield codec, two, {"compression": codec, "write_page_checksum": True}
    for name, encoding, kind, values in (
        ("plain", "PLAIN", pyarrow.string(), ["a", "bc"]),
        ("delta", "DELTA_BINARY_PACKED", pyarrow.int64(), [1, 5, -7, 2**62]),
        ("delta_length", "DELTA_LENGTH_BYTE_ARRAY", pyarrow.string(), ["one", "two", "three"]),
        ("delta_strings", "DELTA_BYTE_ARRAY", pyarrow.string(), ["prefix", "prefixes", "presents"]),
        ("split", "BYTE_STREAM_SPLIT", pyarrow.float64(), [1.0, 2.5]),
        ("rle", "RLE", pyarrow.bool_(), [True, True, False]),
    ):
        yield name, *encoded(encoding, kind, values)


def main():
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, table, options in files():
        table = table.replace_schema_metadata(None)
        pyarrow.parquet.write_table(table, FOLDER / f"{name}.parquet", store_schema=False, **options)


if __name__ == "__main__":
    main()

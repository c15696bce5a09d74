#!/usr/bin/env python3
"""The same SQL by kith and by DuckDB over files that pyarrow wrote must give the same rows in the same order.

usage: against_duckdb.py KITH [--seed N] [--rounds N] [--queries N] [--workers N …] [--unions]

Tables of every flat type with NULL, NaN, signed zeros, ties and skew are written in several shapes (row groups, pages, codecs,
dictionaries, files, columns whose type grew from file to file). Queries are made at random, over a table, subqueries, WITH and UNION ALL; each ends in ORDER BY … with a unique
last key, so that rows and their order are fixed, and so does each subquery that has a LIMIT. Each runs under several settings; with --workers on so many local workers,
or one of these numbers of them, with and without sharing of Top-K bounds. With --unions each query is a Top-K of a union's rows, by a key for which each member has its own column. Exits 77 (skipped) when duckdb or pyarrow is missing.
"""
import argparse
import datetime
import decimal
import math
import os
import random
import subprocess
import sys
import tempfile

try:
    import duckdb
    import pyarrow as pa
    import pyarrow.parquet as pq
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

ROWS = 3000
WORDS = ["", "a", "ab", "abc", "b%", "x_y", "Żółć", "日本", "pending", "furiously", "a\\b", "zz" * 20]
OFFSETS = [0, 1, 59, 86399, 10**6, 1577836800, -1, -86400, -2208988800, -11676096000]  # seconds since 1970, back to 1600


def maybe(rng, share, make):
    return None if rng.random() < share else make()


TABLES = ["t", "u", "v"]


def make_table(rng, number):
    """Ids that no other table has: a union's rows are told apart by them."""
    nulls = rng.choice([0.0, 0.1, 0.5])
    day = datetime.date(1992, 1, 1)
    instant = datetime.datetime(2020, 1, 1)

    def column(make, kind):
        return pa.array([maybe(rng, nulls, make) for _ in range(ROWS)], kind)

    floats = [0.0, -0.0, math.nan, math.inf, -math.inf, 1.5, -2.25]
    return pa.table({
        "id": pa.array(rng.sample(range(number, 10 * ROWS, len(TABLES)), ROWS), pa.int64()),
        "i8": column(lambda: rng.randint(-128, 127), pa.int8()),
        "i16": column(lambda: rng.randint(-300, 300), pa.int16()),
        "i32": column(lambda: rng.randint(-10, 10), pa.int32()),
        "i64": column(lambda: rng.randint(-2**62, 2**62), pa.int64()),
        "u32": column(lambda: rng.randint(0, 2**32 - 1), pa.uint32()),
        "u64": column(lambda: rng.randint(0, 2**64 - 1), pa.uint64()),
        "f32": column(lambda: rng.choice(floats) if rng.random() < 0.3 else round(rng.uniform(-50, 50)) / 4, pa.float32()),
        "f64": column(lambda: rng.choice(floats) if rng.random() < 0.3 else rng.uniform(-1, 1), pa.float64()),
        "b": column(lambda: rng.random() < 0.5, pa.bool_()),
        "d9": column(lambda: decimal.Decimal(rng.randint(-10**5, 10**5)).scaleb(-2), pa.decimal128(9, 2)),
        "d30": column(lambda: decimal.Decimal(rng.randint(-10**25, 10**25)).scaleb(-5), pa.decimal128(30, 5)),
        "s": column(lambda: rng.choice(WORDS), pa.string()),
        "t": column(lambda: f"{rng.randint(0, 10**6):07d} " + rng.choice(WORDS), pa.string()),
        "d": column(lambda: day + datetime.timedelta(days=rng.randint(0, 2500)), pa.date32()),
        "ts": column(lambda: instant + datetime.timedelta(microseconds=rng.randint(0, 10**13)), pa.timestamp("us")),
        "tz": column(lambda: instant + datetime.timedelta(milliseconds=rng.randint(0, 10**10)), pa.timestamp("us", "UTC")),
        "old": column(lambda: rng.choice(OFFSETS) * 1000 + rng.randint(-999, 999), pa.timestamp("ms")),
        "tn": column(lambda: rng.choice(OFFSETS[:-1]) * 10**9 + 1000 * rng.randint(-10**6, 10**6), pa.timestamp("ns")),
        "past": column(lambda: rng.randint(-200000, 100000), pa.date32()),
        "tm": column(lambda: rng.choice([0, 1, 86399999999, rng.randint(0, 86399999999)]), pa.time64("us")),
        "bin": column(lambda: rng.choice([b"", b"\x00", b"\x00\xff", b"abc", rng.randbytes(rng.randint(0, 20))]), pa.binary()),
        "e": column(lambda: rng.choice(WORDS), pa.string()).dictionary_encode(),
        "en": column(lambda: rng.randint(-3, 3), pa.int64()).dictionary_encode(),
        "ls": column(lambda: rng.choice(WORDS), pa.large_string()),
        "sv": column(lambda: rng.choice(WORDS) * rng.randint(1, 3), pa.string_view()),
        "d18": column(lambda: decimal.Decimal(rng.randint(-10**17, 10**17)).scaleb(-4), pa.decimal128(18, 4)),
        "nothing": pa.nulls(ROWS, pa.int32()),
    })


# Types that a column may have in some of a table's files: what it holds fits each of them.
GROWN = {"i8": [pa.int16(), pa.int32()], "i16": [pa.int64()], "i32": [pa.int8(), pa.int16(), pa.int64()], "u32": [pa.int64()],
         "f32": [pa.float64()], "d9": [pa.decimal128(12, 3), pa.decimal128(25, 2)], "nothing": [pa.int8(), pa.int64()]}


def evolved(rng, table):
    """One file's rows, some columns having been narrower, or wider, when it was written."""
    for name, types in GROWN.items():
        if rng.random() < 0.3:
            table = table.set_column(table.column_names.index(name), name, table[name].cast(rng.choice(types)))
    return table


def write_table(rng, table, folder):
    files = rng.choice([1, 1, 3])
    if rng.random() < 0.4:
        key = rng.choice(["i32", "d", "f64", "id", "past", "old", "t"])
        # pyarrow cannot move rows of string views.
        table = table.set_column(table.column_names.index("sv"), "sv", table["sv"].cast(pa.string()))
        table = table.sort_by([(key, rng.choice(["ascending", "descending"]))])
    step = -(-table.num_rows // files)
    for i in range(files):
        pq.write_table(
            evolved(rng, table.slice(i * step, step)), f"{folder}/{i}.parquet",
            row_group_size=rng.choice([100, 700, 5000]), compression=rng.choice(["snappy", "zstd", "gzip", "lz4", "brotli", "none"]),
            use_dictionary=rng.choice([True, False]), data_page_version=rng.choice(["1.0", "2.0"]),
            data_page_size=rng.choice([512, 4096, 1 << 20]), write_statistics=rng.choice([True, True, False]),
            write_page_index=rng.choice([True, False]), store_decimal_as_integer=rng.choice([True, False]))


NUMBERS = ["i8", "i16", "i32", "i64", "u32", "f32", "f64", "d9"]


def literal(rng, column):
    return {
        "i8": lambda: str(rng.randint(-130, 130)), "i16": lambda: str(rng.randint(-310, 310)), "i32": lambda: str(rng.randint(-11, 11)),
        "i64": lambda: str(rng.randint(-2**62, 2**62)), "u32": lambda: str(rng.randint(0, 2**32)), "u64": lambda: str(rng.randint(0, 2**63)),
        "f32": lambda: f"CAST({rng.choice(['0.5', '-2.25', '12.25', '0'])} AS DOUBLE PRECISION)",
        "f64": lambda: f"CAST({rng.choice(['0.5', '-0.3', '0', '1e10'])} AS DOUBLE PRECISION)",
        "d9": lambda: f"{rng.randint(-1000, 1000)}.{rng.randint(0, 99):02d}", "d30": lambda: f"{rng.randint(-10**20, 10**20)}.5",
        "s": lambda: "'" + rng.choice(WORDS) + "'", "t": lambda: f"'{rng.randint(0, 10**6):07d}'",
        "d": lambda: f"DATE '{1992 + rng.randint(0, 6)}-0{rng.randint(1, 9)}-1{rng.randint(0, 9)}'",
        "ts": lambda: f"TIMESTAMP '2020-0{rng.randint(1, 4)}-11 12:34:56'", "tz": lambda: f"TIMESTAMPTZ '2020-0{rng.randint(1, 4)}-11 12:34:56+00'",
        "id": lambda: str(rng.randint(0, 10 * ROWS)), "b": lambda: rng.choice(["true", "false"]),
        "old": lambda: f"TIMESTAMP '{rng.choice([1599, 1900, 1969, 1970, 2020])}-12-31 23:59:{rng.randint(0, 59):02d}.{rng.randint(0, 999):03d}'",
        "tn": lambda: f"TIMESTAMP '{rng.choice([1899, 1969, 2019])}-12-31 23:59:59.{rng.randint(0, 999999):06d}'",
        "past": lambda: f"DATE '{rng.randint(1500, 2200):04d}-02-28'", "tm": lambda: f"TIME '{rng.randint(0, 23):02d}:59:59.{rng.randint(0, 999)}'",
        "e": lambda: "'" + rng.choice(WORDS) + "'", "en": lambda: str(rng.randint(-4, 4)), "ls": lambda: "'" + rng.choice(WORDS) + "'",
        "sv": lambda: "'" + rng.choice(WORDS) * 2 + "'", "d18": lambda: f"{rng.randint(-10**13, 10**13)}.{rng.randint(0, 99999):05d}",
        "nothing": lambda: "0",
    }[column]()


COLUMNS = ["id", "i8", "i16", "i32", "i64", "u32", "u64", "f32", "f64", "b", "d9", "d30", "s", "t", "d", "ts", "tz",
           "old", "tn", "past", "tm", "e", "en", "ls", "sv", "d18", "nothing"]
UNCOMPARED = ["bin"]  # selected and sorted by, but not compared with literals: the two spell them differently


def predicate(rng, depth=0):
    kind = rng.random()
    if depth < 2 and kind < 0.35:
        return "(" + rng.choice([" AND ", " OR "]).join(predicate(rng, depth + 1) for _ in range(rng.randint(2, 3))) + ")"
    if depth < 2 and kind < 0.45:
        return "NOT " + predicate(rng, depth + 1)
    column = rng.choice(COLUMNS)
    if kind < 0.55:
        return f"{column} IS {rng.choice(['', 'NOT '])}NULL"
    if kind < 0.65 and column != "b":
        return f"{column} {rng.choice(['', 'NOT '])}BETWEEN {literal(rng, column)} AND {literal(rng, column)}"
    if kind < 0.75 and column != "b":
        return f"{column} {rng.choice(['', 'NOT '])}IN ({', '.join(literal(rng, column) for _ in range(rng.randint(1, 4)))})"
    if kind < 0.85:
        pattern = rng.choice(["a%", "%b", "%r%", "_b%", "000%", "%ó%", "p_nding", "%"])
        return f"{rng.choice(['s', 't', 'e', 'ls', 'sv'])} {rng.choice(['', 'NOT '])}{rng.choice(['LIKE', 'LIKE', 'ILIKE'])} '{pattern}'"
    if kind < 0.88:
        left, right = rng.choice(PAIRS)
        return f"{left} {rng.choice(['=', '<>', '<', '>=', 'IS DISTINCT FROM', 'IS NOT DISTINCT FROM'])} {right}"
    return f"{column} {rng.choice(['=', '<>', '<', '<=', '>', '>='])} {literal(rng, column)}"


# Columns of different types that compare with each other.
PAIRS = [("i8", "i32"), ("i16", "i64"), ("u32", "i32"), ("u32", "i64"), ("i32", "f64"), ("i8", "f32"), ("f32", "f64"), ("d9", "i32"),
         ("d9", "d30"), ("d9", "d18"), ("i32", "d18"), ("s", "e"), ("s", "ls"), ("sv", "t"), ("e", "sv"), ("d", "ts"), ("past", "d"),
         ("old", "ts"), ("ts", "tn"), ("en", "i32"), ("nothing", "i32"), ("b", "i32 > 0")]

EXPRESSIONS = [
    "i32 + i16", "i32 * 2 - i8", "-i16", "d9 * 2", "d9 + d9", "d9 - i32", "f64 * 2", "i8 % 7", "CAST(i32 AS BIGINT) * i16",
    "CASE WHEN i32 > 3 THEN 'big' WHEN i32 < -3 THEN 'small' ELSE s END", "coalesce(s, t, 'none')", "s || '-' || t",
    "CAST(i32 AS VARCHAR)", "CAST(d9 AS DOUBLE PRECISION)", "upper(t)", "length(s)", "abs(i16)", "nullif(i32, 0)", "CAST(d AS VARCHAR)",
    "date_part('year', d)", "i32 IS DISTINCT FROM i16", "greatest(i32, i16)", "CAST(f32 AS DOUBLE PRECISION)", "i32 = 3", "CAST(ts AS DATE)",
    "substring(t, 3, 4)", "lower(s)", "CASE i32 WHEN 1 THEN 'one' WHEN 2 THEN 'two' END", "CAST(d9 AS INTEGER)", "CAST(i32 AS DECIMAL(12, 3))",
    "CAST(past AS VARCHAR)", "CAST(old AS VARCHAR)", "CAST(old AS DATE)", "CAST(tn AS DATE)", "CAST(tm AS VARCHAR)", "CAST(d AS TIMESTAMP)",
    "date_part('month', past)", "date_part('dow', past)", "date_part('doy', past)", "date_part('week', past)", "date_part('quarter', old)",
    "date_part('hour', old)", "date_part('minute', tn)", "date_trunc('month', ts)", "date_trunc('week', old)", "date_trunc('hour', old)",
    "CAST(date_trunc('year', past) AS DATE)", "past - d", "past + 30", "CAST(d + INTERVAL '1 month' AS DATE)", "ts - INTERVAL '1 day'", "old + INTERVAL '13 months 2 hours'",
    "upper(e)", "e || ls", "length(sv)", "substring(s, 0, 3)", "substring(e, 2)", "replace(s, 'a', 'bb')", "trim(t)", "strpos(t, 'b')",
    "CAST(d18 AS DECIMAL(15, 1))", "CAST(d18 AS DECIMAL(28, 4)) * d9", "d18 + d30", "CAST(d18 AS VARCHAR)", "CAST(CASE WHEN abs(f64) < 1000 THEN f64 END AS DECIMAL(10, 3))", "round(d18, 2)", "abs(d9)",
    "round(f64)", "floor(d9)", "ceil(f32)", "CAST(CASE WHEN abs(f32) < 1000 THEN f32 END AS INTEGER)", "f64 / 4", "CAST(b AS INTEGER)", "CAST(i8 AS VARCHAR) || s", "-d18",
    "least(i8, i64, en)", "coalesce(nothing, i32)", "coalesce(e, ls)", "nullif(s, e)", "e = s", "sv < t", "nothing + 1",
    "CASE WHEN e LIKE 'a%' THEN d9 WHEN b THEN d18 END", "e IN ('a', s, 'zz')", "i32 IN (i8, en, 3)", "f64 > f32", "u64 > 5", "i64 % 1000",
]


# Columns whose names can be exchanged: whoever finds a column by its name finds the wrong one.
SWAPPED = [("i32", "i16"), ("s", "t"), ("d", "past"), ("f64", "f32"), ("ls", "s"), ("en", "i64")]
ALL_COLUMNS = COLUMNS + UNCOMPARED


def columns_of_subquery(rng):
    """All columns under names of the same kind, in some order: what is made for the table can be made for the subquery."""
    if rng.random() < 0.3:
        return None
    expressions = {name: name for name in ALL_COLUMNS}
    for a, b in rng.sample(SWAPPED, rng.randint(0, 3)):
        if expressions[a] == a and expressions[b] == b:
            expressions[a], expressions[b] = b, a
    if rng.random() < 0.4:
        expressions["i32"] = rng.choice(["i32 + 1", "i16 % 11", "i8 - i16", "length(t)"])
    if rng.random() < 0.3:
        expressions["s"] = rng.choice(["upper(s)", "s || t", "coalesce(s, 'x')", "'constant'"])
    if rng.random() < 0.2:
        expressions["f64"] = "f64 * 2"
    return expressions


def in_order(rng, columns, expressions):
    """The select list for `columns`, the same for every member of a union."""
    if expressions is None:
        return "*" if columns is None else ", ".join(columns)
    return ", ".join(f"{expressions[name]} AS {name}" for name in columns or ALL_COLUMNS)


def subquery(rng, tables, depth, columns=None):
    """A SELECT of all columns that reads each of the tables once at most. `columns`: their order."""
    if columns is None and rng.random() < 0.6:
        columns = rng.sample(ALL_COLUMNS, len(ALL_COLUMNS))
    if len(tables) > 1 and rng.random() < 0.4:
        count = rng.randint(2, len(tables))
        members = [subquery(rng, tables[i::count], depth + 1, columns or ALL_COLUMNS) for i in range(count)]
        text = " UNION ALL ".join(f"({m})" if "LIMIT" in m or "UNION" in m or rng.random() < 0.3 else m for m in members)
        return text + order_and_limit(rng, "id")
    text = "SELECT " + in_order(rng, columns, columns_of_subquery(rng)) + " FROM " + source(rng, tables, depth)
    if rng.random() < 0.5:
        text += " WHERE " + predicate(rng)
    return text + order_and_limit(rng, "id")


def order_and_limit(rng, unique):
    kind = rng.random()
    if kind < 0.6:
        return ""
    keys = [rng.choice(COLUMNS) + rng.choice(["", " DESC"]) + rng.choice(["", " NULLS FIRST", " NULLS LAST"])
            for _ in range(rng.randint(0, 2))]
    text = " ORDER BY " + ", ".join(keys + [unique])
    if kind < 0.7:
        return text
    return text + f" LIMIT {rng.choice([1, 10, 500, 2000])}" + rng.choice(["", "", " OFFSET 3", " OFFSET 700"])


def source(rng, tables, depth):
    """What FROM names."""
    if depth > 3 or rng.random() < 0.5:
        return rng.choice(tables)
    return f"({subquery(rng, tables, depth + 1)}) AS q{depth}"


def from_clause(rng):
    """The beginning of the query and what it reads."""
    if rng.random() < 0.5:
        return "", rng.choice(TABLES)
    tables = rng.sample(TABLES, len(TABLES))
    if rng.random() < 0.3:
        names = ", ".join(ALL_COLUMNS)
        one = f"WITH w ({names}) AS ({subquery(rng, tables, 1, ALL_COLUMNS)})"
        return one + " ", rng.choice(["w", "(SELECT * FROM w WHERE " + predicate(rng) + ") AS x"])
    return "", f"({subquery(rng, tables, 0)}) AS q"


def query(rng):
    outputs = [rng.choice(COLUMNS + UNCOMPARED + EXPRESSIONS) for _ in range(rng.randint(1, 5))] + ["id"]
    if rng.random() < 0.2:
        outputs = ["*"]
    keys = []
    for _ in range(rng.randint(0, 3)):
        key = rng.choice(COLUMNS + UNCOMPARED if rng.random() < 0.8 else ["i32 + i16", "d9 * 2", "lower(s)", "-i16"])
        keys.append(key + rng.choice(["", " ASC", " DESC"]) + rng.choice(["", " NULLS FIRST", " NULLS LAST"]))
    keys.append("id" + rng.choice(["", " DESC"]))
    beginning, table = from_clause(rng)
    text = beginning + "SELECT " + ", ".join(f"{e} AS c{i}" if e != "*" else e for i, e in enumerate(outputs)) + f" FROM {table}"
    if rng.random() < 0.7:
        text += " WHERE " + predicate(rng)
    text += " ORDER BY " + ", ".join(keys)
    if rng.random() < 0.8:
        text += f" LIMIT {rng.choice([0, 1, 5, 10, 100, 1000, 5000])}"
    if rng.random() < 0.3:
        text += f" OFFSET {rng.choice([0, 1, 7, 200, 4000])}"
    return text


# Columns that can stand in one place of a union; both have the same common type of any of them.
ALIKE = [["i8", "i16", "i32", "i64", "en", "nothing", "NULL"], ["i8", "u32", "i32"], ["f32", "f64", "NULL"], ["i8", "i32", "f64"], ["d9", "d18"], ["d9", "i32"],
         ["s", "t", "e", "ls", "sv", "NULL", "'constant'"], ["d", "ts"], ["ts", "old"], ["past", "d"], ["tm"], ["b", "true"], ["bin"], ["tz"],
         ["i32", "i16 % 11", "i8 - i16", "CASE WHEN b THEN i32 END"], ["f64", "f32 * 2", "CASE WHEN b THEN f64 END"]]


def member(rng, key, number, depth=0):
    """A member's ids are its own, so that the same table may come again."""
    if depth < 2 and rng.random() < 0.15:
        return "(" + " UNION ALL ".join(member(rng, key, 4 * number + i + 1, depth + 1) for i in range(2)) + ")"
    kind = rng.random()
    text = f"SELECT id * 64 + {number} AS id, {rng.choice(key)} AS k, t AS x, i32 AS y FROM {rng.choice(TABLES)}"
    if kind < 0.1:
        return text + " WHERE false"
    if kind < 0.5:
        text += " WHERE " + predicate(rng)
    if kind > 0.9:
        return f"({text} ORDER BY {rng.choice(['y', 'x DESC'])}, id LIMIT {rng.choice([1, 100, 2000])})"
    return text


def union_query(rng):
    key = rng.choice(ALIKE)
    # The key's type is that of its columns, not of constants alone.
    columns = [name for name in key if name in ALL_COLUMNS]
    members = [f"SELECT id * 64 + 63 AS id, {rng.choice(columns)} AS k, t AS x, i32 AS y FROM {rng.choice(TABLES)}"]
    members += [member(rng, key, i) for i in range(rng.randint(1, 3))]
    rng.shuffle(members)
    text = f"SELECT {rng.choice(['*', 'k, id', 'x, id', 'id, y, k'])} FROM ({' UNION ALL '.join(members)}) AS q"
    if rng.random() < 0.4:
        text += rng.choice([" WHERE y > 3", " WHERE k IS NOT NULL", " WHERE x < '05'", " WHERE id % 3 = 0"])
    keys = ["k" + rng.choice(["", " DESC"]) + rng.choice(["", " NULLS FIRST", " NULLS LAST"])]
    if rng.random() < 0.3:
        keys.append(rng.choice(["y", "x DESC", "y DESC NULLS LAST"]))
    return text + " ORDER BY " + ", ".join(keys + ["id"]) + f" LIMIT {rng.choice([1, 10, 10, 1000])}" + rng.choice(["", "", " OFFSET 5"])


SETTINGS = [
    [], ["--threads", "1"], ["--set", "execution.batch_size=7"], ["--set", "execution.target_partitions=5", "--set", "execution.batch_size=100"],
    ["--set", "execution.parquet.pushdown_filters=off"], ["--set", "optimizer.enable_dynamic_filter_pushdown=off"],
    ["--set", "execution.parquet.enable_page_index=off", "--set", "execution.parquet.pruning=off"],
]


def same(a, b):
    if isinstance(a, float) and isinstance(b, float):
        return a == b or (math.isnan(a) and math.isnan(b)) or math.isclose(a, b, rel_tol=1e-12)
    return a == b


def rows_of(table):
    columns = []
    for column in table.columns:
        if pa.types.is_timestamp(column.type) and column.type.tz:
            column = column.cast(pa.timestamp("us", "UTC"))
        columns.append(column.to_pylist())
    return list(zip(*columns)) if columns else []


def run_kith(kith, folder, text, extra, out):
    if os.path.exists(out):
        os.remove(out)
    tables = [argument for name in TABLES for argument in ("-t", f"{name}={folder}/{name}/*.parquet")]
    return subprocess.run([kith, "sql", *tables, *extra, f"COPY ({text}) TO '{out}'"], capture_output=True, text=True, timeout=120)


def compare(kith, folder, connection, text, extra):
    out = f"{folder}/out.parquet"
    try:
        expected, refused = rows_of(connection.sql(text).to_arrow_table()), None
    except duckdb.Error as error:
        expected, refused = None, str(error)
    ran = run_kith(kith, folder, text, extra, out)
    if ran.returncode not in (0, 1):
        return f"kith ended with {ran.returncode}: {ran.stderr}"
    if refused is not None:
        return None if ran.returncode == 1 else f"DuckDB refused: {refused}; kith did not"
    if ran.returncode != 0:
        return f"kith: {ran.stderr}"
    actual = rows_of(pq.read_table(out))
    if len(actual) != len(expected):
        return f"{len(actual)} rows, DuckDB has {len(expected)}"
    for i, (a, e) in enumerate(zip(actual, expected)):
        if len(a) != len(e) or not all(same(x, y) for x, y in zip(a, e)):
            return f"row {i}: kith {a}\n{' ' * 10}DuckDB {e}"
    return None


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("kith")
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--rounds", type=int, default=8)
    arguments.add_argument("--queries", type=int, default=25)
    arguments.add_argument("--workers", type=int, nargs="+")
    arguments.add_argument("--unions", action="store_true")
    options = arguments.parse_args()
    failures = total = 0
    for round_number in range(options.rounds):
        rng = random.Random(options.seed * 1000 + round_number)
        with tempfile.TemporaryDirectory() as folder:
            connection = duckdb.connect()
            connection.execute("SET TimeZone='UTC'")
            connection.execute("SET default_null_order='NULLS_LAST_ON_ASC_FIRST_ON_DESC'")
            for number, name in enumerate(TABLES):
                os.mkdir(f"{folder}/{name}")
                write_table(rng, make_table(rng, number), f"{folder}/{name}")
                connection.execute(f"CREATE VIEW {name} AS SELECT * FROM read_parquet('{folder}/{name}/*.parquet', union_by_name = true)")
            for _ in range(options.queries):
                text, extra = union_query(rng) if options.unions else query(rng), rng.choice(SETTINGS)
                if options.workers:
                    extra = extra + ["--local-workers", str(rng.choice(options.workers)), "--set", "distributed.file_scan_config_bytes_per_partition=1",
                                     "--set", f"distributed.sibling_topk={rng.choice(['on', 'off', 'auto'])}"]
                total += 1
                problem = compare(options.kith, folder, connection, text, extra)
                if problem is not None:
                    failures += 1
                    print(f"seed {options.seed} round {round_number}: {' '.join(extra)}\n  {text}\n  {problem}\n")
    print(f"{total - failures} passed, {failures} failed")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Top-K queries over TPC-H lineitem and orders as written by tpchgen-cli, by pyarrow and by DuckDB: kith must give DuckDB's rows in
DuckDB's order.

usage: tpch_against_duckdb.py KITH [--scale 0.01] [--folder DIR]

Each query's last sort keys are a primary key, so that whole rows and their order are fixed. With --folder the data is kept there and
used again. Exits 77 (skipped) when duckdb, pyarrow or tpchgen-cli is missing.
"""
import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

try:
    import duckdb
    import pyarrow.parquet as pq
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

LINE = "l_orderkey, l_linenumber"
QUERIES = [
    f"SELECT * FROM lineitem ORDER BY l_extendedprice DESC, {LINE} LIMIT 100",
    f"SELECT * FROM lineitem ORDER BY l_shipdate DESC, l_extendedprice, {LINE} LIMIT 100",
    f"SELECT l_orderkey, l_comment FROM lineitem ORDER BY l_comment, {LINE} LIMIT 100",
    f"SELECT l_orderkey, l_comment FROM lineitem WHERE l_comment LIKE '%special%' ORDER BY l_comment DESC, {LINE} LIMIT 37 OFFSET 5",
    f"SELECT l_extendedprice * (1 - l_discount) AS revenue, l_shipmode FROM lineitem WHERE l_shipdate BETWEEN DATE '1994-01-01' AND "
    f"DATE '1994-12-31' AND l_discount > 0.05 ORDER BY l_extendedprice * (1 - l_discount) DESC, {LINE} LIMIT 50",
    f"SELECT * FROM lineitem WHERE l_quantity < 3 AND l_shipmode IN ('AIR', 'RAIL') ORDER BY l_receiptdate, l_tax DESC, {LINE} LIMIT 1000",
    f"SELECT l_returnflag, l_linestatus, l_orderkey FROM lineitem ORDER BY l_returnflag, l_linestatus DESC, l_orderkey DESC, l_linenumber LIMIT 10",
    f"SELECT * FROM lineitem WHERE l_orderkey = 1 ORDER BY {LINE}",
    f"SELECT CASE WHEN l_tax > 0.04 THEN 'high' ELSE 'low' END AS band, l_partkey FROM lineitem ORDER BY l_partkey DESC, {LINE} LIMIT 20",
    "SELECT * FROM orders ORDER BY o_totalprice DESC, o_orderkey LIMIT 100",
    "SELECT * FROM orders WHERE o_orderpriority = '1-URGENT' ORDER BY o_orderdate, o_totalprice DESC, o_orderkey LIMIT 100 OFFSET 100",
    "SELECT o_orderkey, o_clerk, o_comment FROM orders WHERE o_comment NOT LIKE '%express%' ORDER BY o_clerk DESC, o_orderkey LIMIT 200",
    "SELECT o_custkey, o_orderdate FROM orders WHERE o_totalprice BETWEEN 100000 AND 100500.50 ORDER BY o_custkey, o_orderkey",
]
TABLES = ["lineitem", "orders"]


def make_data(folder, scale):
    made = pathlib.Path(folder)
    if (made / "done").exists():
        return
    generator = pathlib.Path(sys.executable).parent / "tpchgen-cli"
    if not generator.exists() and shutil.which("tpchgen-cli") is None:
        print("skipped: tpchgen-cli is missing")
        sys.exit(77)
    subprocess.run([str(generator) if generator.exists() else "tpchgen-cli", "parquet", "--scale-factor", str(scale),
                    "--tables", ",".join(TABLES), "--output-dir", str(made / "tpchgen")], check=True, capture_output=True)
    connection = duckdb.connect()
    for table in TABLES:
        source = made / "tpchgen" / f"{table}.parquet"
        for writer in ["pyarrow", "duckdb"]:
            (made / writer).mkdir(exist_ok=True)
        pq.write_table(pq.read_table(source), made / "pyarrow" / f"{table}.parquet", compression="zstd", row_group_size=200_000,
                       write_page_index=True)
        connection.execute(f"COPY (SELECT * FROM '{source}') TO '{made / 'duckdb' / f'{table}.parquet'}' (FORMAT parquet)")
    (made / "done").touch()


def rows_of(table):
    return list(zip(*[column.to_pylist() for column in table.columns]))


def check(kith, folder, writer, text, extra, out):
    tables = [f"--table={table}={folder}/{writer}/{table}.parquet" for table in TABLES]
    connection = duckdb.connect()
    for table in TABLES:
        connection.execute(f"CREATE VIEW {table} AS SELECT * FROM read_parquet('{folder}/{writer}/{table}.parquet')")
    expected = rows_of(connection.sql(text).to_arrow_table())
    ran = subprocess.run([kith, "sql", *tables, *extra, f"COPY ({text}) TO '{out}'"], capture_output=True, text=True, timeout=300)
    if ran.returncode != 0:
        return ran.stderr
    actual = rows_of(pq.read_table(out))
    if actual != expected:
        at = next((i for i, (a, e) in enumerate(zip(actual, expected)) if a != e), min(len(actual), len(expected)))
        return f"{len(actual)} and {len(expected)} rows, first difference at {at}: {actual[at:at + 1]} {expected[at:at + 1]}"
    return None


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("kith")
    arguments.add_argument("--scale", type=float, default=0.01)
    arguments.add_argument("--folder")
    arguments.add_argument("--extra", action="append", default=[], help="one more option for kith, such as --extra=--local-workers=2")
    options = arguments.parse_args()
    passed = failed = 0
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or f"{temporary}/data"
        os.makedirs(folder, exist_ok=True)
        make_data(folder, options.scale)
        for writer in ["tpchgen", "pyarrow", "duckdb"]:
            for text in QUERIES:
                problem = check(options.kith, folder, writer, text, options.extra, f"{temporary}/out.parquet")
                passed += problem is None
                failed += problem is not None
                if problem is not None:
                    print(f"{writer}: {text}\n  {problem}\n")
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()

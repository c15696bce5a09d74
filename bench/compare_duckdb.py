#!/usr/bin/env python3
"""Times Top-K queries over TPC-H's lineitem on Kith and on DuckDB, in turns, and checks that both give the same keys.

    usage: .venv/bin/python bench/compare_duckdb.py [--files PATTERN] [--pairs N] [--threads N] [--kith PROGRAM]

The two are not measured alike. DuckDB runs inside this process, warm, with its rows fetched into Python. Kith is a new
process for each query: the time is that of the whole process, with its start, the footers of all files and printing
as CSV. What `kith sql "SELECT 1"` takes is printed first, to show how much of it is the start. For each query there is a
line of wall-clock times and one of processor times, of all threads together, which other programs on the machine
disturb less. Ratios are of the two times of a pair; below 1, Kith was faster.
"""

import argparse
import csv
import os
import resource
import statistics
import subprocess
import time

import duckdb

# name, columns, what follows FROM, and the columns of the result that the query orders by
QUERIES = [
    ("price", "l_extendedprice", "ORDER BY l_extendedprice DESC LIMIT 100", 1),
    ("price, all columns", "l_extendedprice, *", "ORDER BY l_extendedprice DESC LIMIT 100", 1),
    ("date", "l_shipdate, l_orderkey", "ORDER BY l_shipdate DESC LIMIT 10", 1),
    (
        "three keys, all columns",
        "l_shipdate, l_extendedprice, l_orderkey, *",
        "ORDER BY l_shipdate DESC, l_extendedprice DESC, l_orderkey LIMIT 100",
        3,
    ),
    ("text", "l_comment, l_orderkey", "ORDER BY l_comment LIMIT 100", 1),
    ("filtered, all columns", "l_extendedprice, *", "WHERE l_discount > 0.05 ORDER BY l_extendedprice DESC LIMIT 100", 1),
    ("filtered by text", "l_shipdate, l_orderkey", "WHERE l_shipmode = 'AIR' ORDER BY l_shipdate LIMIT 100", 1),
]


def children_seconds():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def run_kith(options, sql):
    """Wall-clock and processor seconds, and the rows."""
    command = [options.kith, "sql", "--threads", str(options.threads), "--format", "csv"]
    command += ["-t", f"lineitem={options.files}"]
    begin, begin_cpu = time.perf_counter(), children_seconds()
    done = subprocess.run([*command, sql], capture_output=True, text=True, check=False)
    seconds = time.perf_counter() - begin, children_seconds() - begin_cpu
    if done.returncode != 0:
        raise SystemExit(done.stderr)
    return seconds, list(csv.reader(done.stdout.splitlines()))[1:]


def run_duckdb(connection, sql):
    begin, begin_cpu = time.perf_counter(), time.process_time()
    rows = connection.execute(sql).fetchall()
    return (time.perf_counter() - begin, time.process_time() - begin_cpu), rows


def check_keys(sql, key_columns, kith_rows, duckdb_rows):
    ours = sorted(tuple(row[:key_columns]) for row in kith_rows)
    theirs = sorted(tuple(str(value) for value in row[:key_columns]) for row in duckdb_rows)
    if ours != theirs:
        raise SystemExit(f"the keys differ for: {sql}")


def measure(options, connection, sql, key_columns):
    """Seconds of Kith and of DuckDB, pair by pair; who goes first alternates."""
    _, kith_rows = run_kith(options, sql)
    _, duckdb_rows = run_duckdb(connection, sql)
    check_keys(sql, key_columns, kith_rows, duckdb_rows)
    pairs = []
    for i in range(options.pairs):
        if i % 2 == 0:
            ours, theirs = run_kith(options, sql)[0], run_duckdb(connection, sql)[0]
        else:
            theirs, ours = run_duckdb(connection, sql)[0], run_kith(options, sql)[0]
        pairs.append((ours, theirs))
    return pairs


def milliseconds(seconds):
    low, middle, high = (1e3 * x for x in (min(seconds), statistics.median(seconds), max(seconds)))
    return f"{middle:.1f} ({low:.1f}-{high:.1f})"


def report(name, pairs):
    for clock, what in enumerate(("wall", "processor")):
        ours, theirs = zip(*((kith[clock], duck[clock]) for kith, duck in pairs))
        ratios = [a / b for a, b in zip(ours, theirs)]
        ratio = f"{statistics.median(ratios):.2f} ({min(ratios):.2f}-{max(ratios):.2f})"
        label = name if clock == 0 else ""
        print(f"{label:24} {what:9} {milliseconds(ours):>22} {milliseconds(theirs):>22} {ratio:>17}", flush=True)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", default="data/tpch/lineitem/*.parquet", help="lineitem, as `make demo` makes it")
    parser.add_argument("--pairs", type=int, default=11)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--kith", default="build/kith")
    return parser.parse_args()


def main():
    options = parse_arguments()
    connection = duckdb.connect()
    connection.execute(f"SET threads = {options.threads}")
    connection.execute(f"CREATE VIEW lineitem AS SELECT * FROM read_parquet('{options.files}')")
    starts = [run_kith(options, "SELECT 1")[0][0] for _ in range(options.pairs)]
    load = os.getloadavg()[0]
    print(f"DuckDB {duckdb.__version__}, {options.threads} threads each, {options.pairs} pairs; load before: {load:.1f}")
    print(f"kith sql \"SELECT 1\", the table's footers read: {milliseconds(starts)} ms\n")
    print(f"{'median (range), ms':24} {'':9} {'Kith, process':>22} {'DuckDB':>22} {'Kith / DuckDB':>17}")
    for name, columns, rest, key_columns in QUERIES:
        report(name, measure(options, connection, f"SELECT {columns} FROM lineitem {rest}", key_columns))


if __name__ == "__main__":
    main()

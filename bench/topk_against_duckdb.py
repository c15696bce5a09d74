#!/usr/bin/env python3
"""The tables of `kith bench topk` read by DuckDB, whose answers are compared value by value, in order, with Kith's.

    usage: bench/topk_against_duckdb.py [--data data/bench] [--kith build/kith] [--workers 2] [--time PAIRS]

`kith bench topk` checks its answers against the rule that made the tables; this checks both against an engine that knows
nothing of it. The tables must be there: a run of the benchmark, or of its --smoke, writes them. With --time each query is
timed, too, in pairs whose order alternates: Kith as a process of its own from start to end with no workers, DuckDB warm.
"""

import argparse
import csv
import pathlib
import statistics
import subprocess
import sys
import time

import duckdb

# layout -> what the queries select, filter and order by
QUERIES = {
    "pruning": [("score, id", "WHERE NOT excluded", "score")],
    "control": [("score, id", "WHERE NOT excluded", "score")],
    "overlap": [
        ("score, id, tag", "WHERE NOT excluded", "score"),
        ("payload, id", "WHERE NOT excluded", "payload"),
        ("val, id", "WHERE NOT excluded", "val"),
    ],
    "shuffled": [("score, id, payload", "", "score")],
    "sorted": [("score, id", "", "score")],
    "skewed": [("score, id", "", "score")],
    "rising": [("score, id", "", "score")],
}


def run_kith(options, files, sql, workers):
    command = [options.kith, "sql", "--format", "csv", "-t", f"t={files}", "--threads", "2"]
    if workers > 0:
        command += ["--local-workers", str(workers)]
        command += ["-s", "distributed.file_scan_config_bytes_per_partition=0"]
    begin = time.perf_counter()
    done = subprocess.run([*command, sql], capture_output=True, text=True, check=False)
    seconds = time.perf_counter() - begin
    if done.returncode != 0:
        raise SystemExit(f"{sql}: {done.stderr}")
    return seconds, list(csv.reader(done.stdout.splitlines()))[1:]


def run_duckdb(connection, files, sql):
    begin = time.perf_counter()
    rows = connection.execute(sql.replace(" FROM t ", f" FROM read_parquet('{files}') ")).fetchall()
    return time.perf_counter() - begin, rows


def same(ours, theirs):
    """Kith's CSV beside DuckDB's values."""
    if isinstance(theirs, float):
        return float(ours) == theirs
    return ours == str(theirs)


def compare(sql, kith_rows, duckdb_rows):
    if len(kith_rows) != len(duckdb_rows):
        raise SystemExit(f"{len(kith_rows)} rows instead of {len(duckdb_rows)} for: {sql}")
    for number, (ours, theirs) in enumerate(zip(kith_rows, duckdb_rows)):
        if not all(same(a, b) for a, b in zip(ours, theirs)):
            raise SystemExit(f"row {number} is {ours} instead of {theirs} for: {sql}")


def measure(options, connection, files, sql):
    pairs = []
    for i in range(options.time):
        if i % 2 == 0:
            ours, theirs = run_kith(options, files, sql, 0)[0], run_duckdb(connection, files, sql)[0]
        else:
            theirs, ours = run_duckdb(connection, files, sql)[0], run_kith(options, files, sql, 0)[0]
        pairs.append((1e3 * ours, 1e3 * theirs))
    ratios = [ours / theirs for ours, theirs in pairs]
    ours, theirs = (statistics.median(side) for side in zip(*pairs))
    return f": {ours:.1f} / {theirs:.1f} ms, ratio {statistics.median(ratios):.2f} [{min(ratios):.2f}-{max(ratios):.2f}]"


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=pathlib.Path, default=pathlib.Path("data/bench"))
    parser.add_argument("--kith", default="build/kith")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--time", type=int, default=0, metavar="PAIRS")
    return parser.parse_args()


def main():
    options = parse_arguments()
    connection = duckdb.connect()
    connection.execute("SET threads = 2")
    tables = [path for path in sorted(options.data.glob("*-*x*")) if path.name.split("-")[0] in QUERIES]
    if not tables:
        raise SystemExit(f"no tables in {options.data}: run kith bench topk --smoke --data {options.data}")
    for table in tables:
        files = f"{table}/*.parquet"
        for columns, where, key in QUERIES[table.name.split("-")[0]]:
            sql = f"SELECT {columns} FROM t {where} ORDER BY {key} DESC LIMIT 100"
            _, theirs = run_duckdb(connection, files, sql)
            for workers in (0, options.workers):
                compare(sql, run_kith(options, files, sql, workers)[1], theirs)
            timing = measure(options, connection, files, sql) if options.time > 0 else ""
            print(f"{table.name}: {sql}{timing}", flush=True)


if __name__ == "__main__":
    sys.exit(main())

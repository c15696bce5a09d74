#!/usr/bin/env python3
"""The answers of every case and every arm of `kith bench topk`, held against DuckDB's for the same SQL over the same files,
value by value, in order.

    usage: bench/topk_against_duckdb.py [--kith build/kith] [--data data/bench] [--time PAIRS] [OPTION...]

The benchmark itself checks each query's values against the rule that made the tables; this checks both against an engine
that knows nothing of it. Other options are the benchmark's, such as --smoke, --case overlap/8, --codec zstd. With --time
each query is timed, too, in pairs whose order alternates: Kith as a process of its own from start to end with no workers,
DuckDB warm. Exits 77 (skipped) when duckdb is missing.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

try:
    import duckdb
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)


def kith_answers(options, others):
    """A query of each case with each arm, whose rows the benchmark writes down."""
    with tempfile.NamedTemporaryFile("r", suffix=".json") as file:
        command = [options.kith, "bench", "topk", "--data", options.data, "--ideas", "--pairs", "1", "--queries", "1"]
        subprocess.run([*command, "--answers", file.name, *others], check=True, stdout=subprocess.DEVNULL)
        return [json.loads(line) for line in file]


def run_duckdb(connection, answer):
    begin = time.perf_counter()
    sql = answer["sql"].replace(" FROM t ", f" FROM read_parquet('{answer['files']}') ")
    rows = connection.execute(sql).fetchall()
    return time.perf_counter() - begin, [list(row) for row in rows]


def run_kith(options, answer):
    command = [options.kith, "sql", "--format", "csv", "-t", f"t={answer['files']}", "--threads", "2", answer["sql"]]
    begin = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - begin


def measure(options, connection, answer):
    pairs = []
    for i in range(options.time):
        if i % 2 == 0:
            ours, theirs = run_kith(options, answer), run_duckdb(connection, answer)[0]
        else:
            theirs, ours = run_duckdb(connection, answer)[0], run_kith(options, answer)
        pairs.append((1e3 * ours, 1e3 * theirs))
    ratios = [ours / theirs for ours, theirs in pairs]
    ours, theirs = (statistics.median(side) for side in zip(*pairs))
    return f"; {ours:.1f} / {theirs:.1f} ms, ratio {statistics.median(ratios):.2f} [{min(ratios):.2f}-{max(ratios):.2f}]"


def compare(answer, expected):
    where = f"{answer['case']} with the arm {answer['arm']}: {answer['sql']}"
    if len(answer["rows"]) != len(expected):
        raise SystemExit(f"{len(answer['rows'])} rows instead of {len(expected)} of {where}")
    for number, (ours, theirs) in enumerate(zip(answer["rows"], expected)):
        if ours != theirs:
            raise SystemExit(f"row {number} is {ours} instead of {theirs} of {where}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=pathlib.Path, default=pathlib.Path("data/bench"))
    parser.add_argument("--kith", default="build/kith")
    parser.add_argument("--time", type=int, default=0, metavar="PAIRS")
    options, others = parser.parse_known_args()
    connection = duckdb.connect()
    connection.execute("SET threads = 2")
    by_case = {}
    for answer in kith_answers(options, others):
        by_case.setdefault(answer["case"], []).append(answer)
    for case, answers in by_case.items():
        expected = run_duckdb(connection, answers[0])[1]
        for answer in answers:
            compare(answer, expected)
        timing = measure(options, connection, answers[0]) if options.time > 0 else ""
        arms = " ".join(answer["arm"] for answer in answers)
        print(f"{case}: {len(expected)} rows are DuckDB's with {arms}{timing}", flush=True)


if __name__ == "__main__":
    sys.exit(main())

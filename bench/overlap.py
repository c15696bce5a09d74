"""How much a sibling's bound spares: two workers, one file each of 32 row groups of 65,536 rows. One row group of the
first file has the best scores; those of all others are spread alike, so that neither statistics nor a task's own bound
tell them apart, and a filter that keeps nine rows in ten forbids proving anything from statistics at planning.

usage: overlap.py BUILD_FOLDER [QUERIES]

Prints what was read with sharing off and on; fails unless every query gives the same rows in the same order and reads
at most 0.15 of the bytes.
"""
import os
import re
import subprocess
import sys
import tempfile

BUILD = os.path.abspath(sys.argv[1])
QUERIES = int(sys.argv[2]) if len(sys.argv) > 2 else 100
SQL = "SELECT id, score, label FROM scores WHERE keep <> 0 ORDER BY score DESC, id LIMIT 100"
MOST = 0.15


def start_worker():
    worker = subprocess.Popen([f"{BUILD}/kith", "worker", "--listen", "127.0.0.1:0"], stdout=subprocess.PIPE, text=True)
    return worker, worker.stdout.readline().split()[-1]


def run(addresses, sharing, sql):
    command = [f"{BUILD}/kith", "sql", "--workers", ",".join(addresses), "-t", "scores=scores", "--format", "csv",
               "-s", f"distributed.sibling_topk={sharing}", sql]
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, timeout=60).stdout


def analyze(addresses, sharing):
    text = run(addresses, sharing, "EXPLAIN ANALYZE " + SQL)
    tasks = [int(read) for read in re.findall(r"t\d+ worker=.*?bytes_scanned=(\d+)", text)]
    delay = re.findall(r"applied=\d+ after ([\d.]+)ms", text)
    return sum(tasks), float(re.search(r"Total time: ([\d.]+) ms", text)[1]), [float(ms) for ms in delay]


def median(values):
    return sorted(values)[len(values) // 2]


def measure(addresses):
    rows = run(addresses, "off", SQL)
    off = [analyze(addresses, "off") for _ in range(max(QUERIES // 10, 3))]
    base = min(read for read, _, _ in off)
    on, good = [], 0
    for _ in range(QUERIES):
        on.append(analyze(addresses, "on"))
        good += on[-1][0] <= MOST * base and run(addresses, "on", SQL) == rows
    ratios = [read / base for read, _, _ in on]
    delays = [ms for _, _, delay in on for ms in delay]
    print(f"sharing off: {base} bytes scanned at least, {median([ms for _, ms, _ in off]):.1f} ms (median)")
    print(f"sharing on:  {median([read for read, _, _ in on])} bytes scanned, {median([ms for _, ms, _ in on]):.1f} ms"
          f" (medians); ratio {median(ratios):.3f}, at most {max(ratios):.3f}")
    if delays:
        print(f"a bound was applied {median(delays):.2f} ms after it was found (median of means)")
    print(f"{good} of {QUERIES} queries gave the same rows in the same order and read at most {MOST} of the bytes")
    return good == QUERIES


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for i, best in enumerate((17, -1)):
            subprocess.run([f"{BUILD}/tests/cluster/cluster_make_scores", f"scores/part{i}.parquet", str(i + 1), "32",
                            "65536", str(best)], check=True)
        workers = [start_worker() for _ in range(2)]
        try:
            passed = measure([address for _, address in workers])
        finally:
            for worker, _ in workers:
                worker.terminate()
                worker.wait(timeout=10)
            os.chdir("/")
    sys.exit(0 if passed else 1)


main()

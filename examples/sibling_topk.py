#!/usr/bin/env python3
"""Two workers, a file each, and a query for the dearest orders: once with the workers keeping what they learn to themselves,
once with each told what the other has found. The rows are the same; the bytes read are not.

    usage: examples/sibling_topk.py [KITH]     (default build/kith)

Needs pyarrow to make the files; exits 77 without it. docs/sibling-topk.md explains what is seen here.
"""

import decimal
import json
import pathlib
import random
import subprocess
import sys
import tempfile

try:
    import pyarrow
    import pyarrow.parquet as parquet
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

KITH = str(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "build/kith").resolve())
ROW_GROUPS, ROWS = 16, 8192
QUERY = "SELECT id, price, customer FROM orders WHERE paid ORDER BY price DESC, id LIMIT 20"


def write_orders(path, first_id, jewellery_in):
    """One shop's orders, of which one in ten is not paid. Prices lie below 1,000.00, but for one row group of jewellery.
    Since each row group of ordinary orders has prices up to nearly 1,000, statistics tell them apart from jewellery and
    not from each other."""
    draw = random.Random(first_id)
    schema = pyarrow.schema([("id", pyarrow.int64()), ("price", pyarrow.decimal128(9, 2)), ("paid", pyarrow.bool_()),
                             ("customer", pyarrow.string())])
    with parquet.ParquetWriter(path, schema, use_dictionary=False, write_page_index=True) as writer:
        for group in range(ROW_GROUPS):
            low, high = (500000, 900000) if group == jewellery_in else (1, 99999)  # cents
            columns = [
                range(first_id + group * ROWS, first_id + (group + 1) * ROWS),
                [decimal.Decimal(draw.randint(low, high)).scaleb(-2) for _ in range(ROWS)],
                [draw.random() < 0.9 for _ in range(ROWS)],
                [f"customer {draw.randrange(10**9)}" for _ in range(ROWS)],
            ]
            writer.write_table(pyarrow.table(columns, schema=schema), row_group_size=ROWS)


def start_worker():
    """It listens on a port that the system chooses, and says which: "kith worker listening on 127.0.0.1:40001"."""
    worker = subprocess.Popen([KITH, "worker", "--listen", "127.0.0.1:0"], stdout=subprocess.PIPE, text=True)
    return worker, worker.stdout.readline().split()[-1]


def run(addresses, sharing, sql, folder):
    options = {
        "distributed.sibling_topk": sharing,
        # Files as small as these would be read by one worker: the other would not be worth its while.
        "distributed.file_scan_config_bytes_per_partition": "0",
        # A worker whose file promises nothing waits for the other's news, for a quarter of a second unless told
        # otherwise. More than enough, but this example should show the same on a machine that is very busy.
        "distributed.sibling_topk_head_start": "10s",
    }
    settings = [word for name, value in options.items() for word in ("-s", f"{name}={value}")]
    command = [KITH, "sql", "--workers", ",".join(addresses), "-t", f"orders={folder}/*.parquet", *settings]
    return subprocess.run([*command, "--format", "csv", sql], check=True, stdout=subprocess.PIPE, text=True).stdout


def bytes_scanned(plan):
    """By each worker. Stage 0 is the coordinator's, which only merges."""
    return [task["metrics"]["bytes_scanned"] for task in json.loads(plan)["stages"][1]["tasks"]]


def compare(addresses, folder):
    rows, scanned = {}, {}
    print(f"{QUERY};\n")
    for sharing in ("off", "auto"):
        rows[sharing] = run(addresses, sharing, QUERY, folder)
        scanned[sharing] = bytes_scanned(run(addresses, sharing, f"EXPLAIN (ANALYZE, FORMAT JSON) {QUERY}", folder))
        tasks = ", ".join(f"{count:,}" for count in scanned[sharing])
        print(f"distributed.sibling_topk = {sharing:<4}  bytes scanned by each worker: {tasks}")
    if rows["off"] != rows["auto"] or len(rows["auto"].splitlines()) != 1 + 20:
        sys.exit("the answers differ")
    if len(scanned["auto"]) != 2 or not 0 < sum(scanned["auto"]) < sum(scanned["off"]) / 4:
        sys.exit("sharing has spared less than three quarters of the bytes")
    print("\nThe same 20 rows both times; the first three:")
    print("\n".join(rows["auto"].splitlines()[:4]))


def main():
    workers = []
    with tempfile.TemporaryDirectory() as folder:
        write_orders(f"{folder}/north.parquet", 1, jewellery_in=None)
        write_orders(f"{folder}/south.parquet", 1 + ROW_GROUPS * ROWS, jewellery_in=11)
        try:
            workers = [start_worker() for _ in range(2)]
            compare([address for _, address in workers], folder)
        finally:
            for worker, _ in workers:
                worker.terminate()
                worker.wait(timeout=10)


if __name__ == "__main__":
    main()

"""`kith worker` as whoever runs one meets it.

usage: worker_test.py KITH [unittest's arguments]
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

KITH = os.path.abspath(sys.argv.pop(1))


class Worker(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="kith-worker-")
        self.addCleanup(shutil.rmtree, self.folder)

    def start(self, *options):
        """A worker that ends with the test, and its address."""
        worker = subprocess.Popen([KITH, "worker", "--listen", "127.0.0.1:0", "--threads", "1", *options],
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(self.stop, worker)
        return worker, worker.stdout.readline().split()[-1]

    def stop(self, worker):
        """Ends the worker as a user would; gives what it wrote to standard error."""
        if worker.poll() is None:
            worker.send_signal(signal.SIGTERM)
        errors = worker.communicate(timeout=60)[1] if not worker.stderr.closed else ""
        self.assertEqual(worker.returncode, 0)
        return errors

    def kith(self, *arguments, code=0):
        result = subprocess.run([KITH, *arguments], cwd=self.folder, capture_output=True, text=True, timeout=60)
        self.assertEqual(result.returncode, code, result.stderr)
        return result

    def write_table(self):
        os.mkdir(os.path.join(self.folder, "people"))
        for i in range(3):
            self.kith("sql", f"COPY (SELECT {i} AS id, 'name {i}' AS name) TO 'people/{i}.parquet'")

    def analyze(self, addresses, query="SELECT id, name FROM p WHERE id > 0 ORDER BY id LIMIT 2"):
        """What EXPLAIN ANALYZE says of a query on these workers that may share, one file a task."""
        result = self.kith("sql", "--workers", ",".join(addresses), "-t", "p=people", "-s",
                           "distributed.file_scan_config_bytes_per_partition=1", "-s", "distributed.sibling_topk=on",
                           f"EXPLAIN (ANALYZE, FORMAT JSON) {query}")
        return json.loads(result.stdout)


class Telemetry(Worker):
    def test_each_operator_of_a_task_has_its_own_metrics(self):
        """Columns that a Top-K does without are read by an operator that the plan sent to workers does not have."""
        self.write_table()
        tasks = self.analyze([self.start()[1], self.start()[1]])["stages"][1]["tasks"]
        files = 0
        for task in tasks:
            operator = task["plan"]
            self.assertEqual(operator["operator"], "FetchColumnsExec")
            while operator["inputs"]:
                self.assertNotIn("files_total", operator["metrics"])
                [operator] = operator["inputs"]
            self.assertEqual(operator["operator"], "DataSourceExec")
            self.assertIn(f"files={operator['metrics']['files_total']} [", operator["description"])
            files += operator["metrics"]["files_total"]
        self.assertEqual(files, 3)

    def status(self, address):
        return json.loads(self.kith("worker", "--status", address, "--format", "json").stdout)

    def test_a_worker_counts_what_its_tasks_did(self):
        self.write_table()
        addresses = [self.start()[1], self.start()[1]]
        expected = [{}, {}]
        self.assertEqual(self.status(addresses[0])["counters"]["tasks_started"], 0)
        for _ in range(3):
            for i, task in enumerate(self.analyze(addresses)["stages"][1]["tasks"]):
                for name, value in task["metrics"].items():
                    merge = max if name in ("peak_mem_used", "bounds_delay_max_ns", "longest_turn_ns") else int.__add__
                    expected[i][name] = merge(expected[i].get(name, 0), value)
        for address, metrics in zip(addresses, expected):
            status = self.status(address)
            counters = status["counters"]
            self.assertEqual(status["worker"], address)
            self.assertEqual(status["metrics"], metrics)
            self.assertEqual((counters["tasks_started"], counters["tasks_sharing"]), (3, 3))
            self.assertEqual(counters["tasks_ended"] + counters["tasks_running"], 3)
            self.assertGreater(counters["uptime_ns"], 0)

    def test_a_workers_counters_are_printed_one_a_line(self):
        lines = self.kith("worker", "--status", self.start()[1]).stdout.splitlines()
        self.assertRegex(lines[0], r"^uptime=\d+(\.\d+)?(ns|us|ms|s)$")

    def test_a_worker_logs_what_it_did_unless_told_not_to(self):
        self.write_table()
        workers = [self.start(), self.start("--quiet")]
        self.analyze([address for _, address in workers])
        loud, quiet = (self.stop(worker) for worker, _ in workers)
        self.assertRegex(loud, r"^\S+ INFO worker ends: uptime=.*tasks_started=1, .*\n$")
        self.assertEqual(quiet, "")

    def test_a_status_needs_a_worker(self):
        result = self.kith("worker", "--status", "127.0.0.1:9", code=1)
        self.assertIn("127.0.0.1:9", result.stderr)
        self.kith("worker", "--status", "127.0.0.1:9", "--format", "xml", code=2)
        self.kith("worker", "--status", "127.0.0.1:9", "--listen", "127.0.0.1:0", code=2)


class MixedVersions(Worker):
    def test_a_worker_without_bounds_takes_no_part_in_sharing(self):
        self.write_table()
        addresses = [self.start(*options)[1] for options in ([], ["--without", "topk-bounds"], [])]
        analyzed = self.analyze(addresses)
        self.assertEqual([task["shares_bounds"] for task in analyzed["stages"][1]["tasks"]], [True, False, True])
        self.assertIn("sharing", analyzed)
        self.assertNotIn("sharing", self.analyze(addresses[:2]))

    def test_what_a_worker_may_do_without_has_a_name(self):
        result = self.kith("worker", "--listen", "127.0.0.1:0", "--without", "bonds", code=2)
        self.assertIn("bonds", result.stderr)


if __name__ == "__main__":
    unittest.main()

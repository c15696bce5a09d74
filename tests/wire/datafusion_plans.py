#!/usr/bin/env python3
"""Kith's plans in DataFusion and DataFusion's in Kith: the vocabulary is one.

    usage: datafusion_plans.py PLAN_TOOL

Kith plans a query; DataFusion decodes the plan, runs it, and must find the rows that it finds for the query itself.
DataFusion plans a query; Kith decodes the plan and must print the predicates, keys and expressions that DataFusion
prints. What Kith does not have must be refused by name. Exit status 77, skipped, without datafusion and pyarrow.
"""

import decimal
import os
import pathlib
import re
import subprocess
import sys
import tempfile

SKIPPED = 77
NOT_IMPLEMENTED = 3

# The rows of an answer without ORDER BY are compared as a set.
QUERIES = [
    "SELECT id, score FROM t WHERE id > 10 AND comment LIKE '%1%' ORDER BY score DESC NULLS LAST, id LIMIT 7",
    "SELECT id + 1 AS x, comment FROM t ORDER BY id, score LIMIT 5 OFFSET 3",
    "SELECT id, comment FROM t ORDER BY comment NULLS FIRST, id LIMIT 20",
    "SELECT id FROM t WHERE comment IS NULL OR NOT (price > 1.5)",
    "SELECT id, CASE WHEN score > 0.5 THEN 'high' ELSE comment END FROM t WHERE id % 7 IN (1, 2) OR day = DATE '2020-01-09'",
    "SELECT CAST(id AS VARCHAR), greatest(id, 25), -score FROM t WHERE id BETWEEN 20 AND 30",
    "SELECT 1 AS a, 'text' AS b, NULL AS c",
    "SELECT id FROM t WHERE id < 5 AND score IS DISTINCT FROM price",
    "SELECT id, score FROM t UNION ALL SELECT id + 1000, price FROM t WHERE price > 1.5 ORDER BY score DESC, id LIMIT 9",
    "SELECT x FROM (SELECT id AS x FROM t WHERE id < 9 UNION ALL SELECT id FROM t WHERE id > 990) AS u WHERE x <> 4",
]

# query -> text that DataFusion's plan and Kith's both print, and only once
SHARED = {
    "SELECT id, score FROM t WHERE id > 10 AND comment LIKE '%1%' ORDER BY score DESC, id LIMIT 7": [
        "SortPreservingMergeExec: [score@1 DESC, id@0 ASC NULLS LAST], fetch=7",
        "SortExec: TopK(fetch=7), expr=[score@1 DESC, id@0 ASC NULLS LAST], preserve_partitioning=[true]",
        "FilterExec: id@0 > 10 AND comment@1 LIKE %1%",
        "predicate=id@0 > 10 AND comment@1 LIKE %1%",
    ],
    "SELECT id + 1, price FROM t WHERE day = DATE '2020-01-02' OR score IS NULL": [
        "FilterExec: day@3 = 2020-01-02 OR score@1 IS NULL",
        "predicate=day@4 = 2020-01-02 OR score@2 IS NULL",
    ],
    "SELECT CASE WHEN id > 1 THEN 'x' ELSE comment END FROM t": ["CASE WHEN id@0 > 1 THEN x ELSE comment@1 END as"],
    "SELECT comment FROM t LIMIT 5": ["limit=5"],
}

REFUSED = {
    "SELECT id, count(*) FROM t GROUP BY id": "operator ",
    "SELECT id FROM t WHERE comment ~ 'a.*b'": "operator RegexMatch is not implemented",
    "SELECT md5(comment) FROM t": "function md5 is not implemented",
}

# test plans (plans.h) -> why DataFusion cannot have them
FOREIGN = {4: "Missing required field value", 6: "PhysicalExtensionCodec is not provided"}
TEST_PLANS = 10


def find_modules():
    """datafusion and pyarrow, out of the environment that tools/venv makes when this Python has none."""
    try:
        import datafusion
        import pyarrow.parquet

        return datafusion, pyarrow
    except ImportError:
        pass
    python = pathlib.Path(__file__).resolve().parents[2] / ".venv" / "bin" / "python"
    if python.exists() and pathlib.Path(sys.prefix).resolve() != python.parents[1].resolve():
        os.execv(python, [str(python), *sys.argv])
    return None


def write_files(pyarrow, folder):
    """Two files; the name of one has characters that URLs encode."""
    for start, name in ((0, "a %#.parquet"), (500, "b.parquet")):
        ids = range(start, start + 500)
        table = pyarrow.table(
            {
                "id": pyarrow.array(ids, pyarrow.int64()),
                "comment": pyarrow.array([None if i % 11 == 0 else f"a{i}" for i in ids], pyarrow.string()),
                "score": pyarrow.array([None if i % 13 == 0 else i * 7919 % 1000 / 1000 for i in ids], pyarrow.float64()),
                "price": pyarrow.array([decimal.Decimal(i % 300) / 100 for i in ids], pyarrow.decimal128(15, 2)),
                "day": pyarrow.array([18262 + i % 31 for i in ids], pyarrow.int32()).cast(pyarrow.date32()),
            }
        )
        pyarrow.parquet.write_table(table, folder / name, row_group_size=100)


class Check:
    def __init__(self, tool, datafusion, folder):
        self.tool = tool
        self.datafusion = datafusion
        self.folder = folder
        self.failures = []
        # Kith reads text as the files have it, which are neither views nor coerced.
        config = datafusion.SessionConfig().with_target_partitions(2)
        config = config.set("datafusion.execution.parquet.schema_force_view_types", "false")
        self.context = datafusion.SessionContext(config)
        self.context.register_parquet("t", str(folder))

    def run(self, *arguments, stdin=b""):
        return subprocess.run([self.tool, *arguments], input=stdin, capture_output=True, check=False)

    def expect(self, condition, what, detail):
        if not condition:
            self.failures.append(what)
            print(f"FAILED {what}\n{detail}")

    def decoded(self, plan_bytes):
        return self.datafusion.ExecutionPlan.from_bytes(self.context, plan_bytes)

    def rows(self, plan):
        batches = [batch.to_pyarrow() for i in range(plan.partition_count) for batch in self.context.execute(plan, i)]
        return [tuple(row.values()) for batch in batches for row in batch.to_pylist()]

    def kith_to_datafusion(self, query):
        sent = self.run("sql", str(self.folder / "*.parquet"), query)
        if sent.returncode != 0:
            self.expect(False, query, sent.stderr.decode())
            return
        rows = self.rows(self.decoded(sent.stdout))
        expected = [tuple(row.values()) for row in self.context.sql(query).to_pylist()]
        if "ORDER BY" not in query:
            rows, expected = sorted(rows, key=repr), sorted(expected, key=repr)
        self.expect(rows == expected and len(rows) > 0, query, f"{rows[:3]}… for {expected[:3]}…")

    def datafusion_to_kith(self, query, texts):
        plan = self.context.sql(query).execution_plan()
        theirs = plan.display_indent()
        shown = self.run("show", stdin=plan.to_bytes())
        ours = shown.stdout.decode()
        for text in texts:
            self.expect(theirs.count(text) == 1 and ours.count(text) == 1, f"{query}: {text}",
                        f"{theirs}\n{ours}\n{shown.stderr.decode()}")
        files = re.findall(re.escape(str(self.folder)) + r"/([^,\]]*\.parquet)", ours)
        self.expect(set(files) <= {"a %#.parquet", "b.parquet"} and len(files) > 0, f"{query}: files", ours)
        if "DynamicFilter" in theirs:
            ids = re.findall(r"dynamic_filter=(\d+)", ours)
            self.expect(len(ids) == 2 and ids[0] == ids[1], f"{query}: the filter of sort and scan", ours)

    def refused(self, query, text):
        plan = self.context.sql(query).execution_plan()
        shown = self.run("show", stdin=plan.to_bytes())
        message = shown.stderr.decode()
        self.expect(shown.returncode == NOT_IMPLEMENTED and text in message, query, message)

    def test_plan(self, number):
        try:
            self.decoded(self.run("test", str(number)).stdout)
            error = ""
        except Exception as exception:  # datafusion raises plain ones
            error = str(exception)
        reason = FOREIGN.get(number, "")
        self.expect(reason in error if reason else error == "", f"test plan {number}", error)


def main():
    modules = find_modules()
    if modules is None:
        print("datafusion or pyarrow is missing")
        return SKIPPED
    datafusion, pyarrow = modules
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder).resolve() / "t"
        folder.mkdir()
        write_files(pyarrow, folder)
        check = Check(sys.argv[1], datafusion, folder)
        for query in QUERIES:
            check.kith_to_datafusion(query)
        for query, texts in SHARED.items():
            check.datafusion_to_kith(query, texts)
        for query, text in REFUSED.items():
            check.refused(query, text)
        for number in range(TEST_PLANS):
            check.test_plan(number)
    return 1 if check.failures else 0


if __name__ == "__main__":
    sys.exit(main())

"""`kith sql` as a user meets it: what it prints, where it points, how it ends.

usage: cli_test.py KITH [unittest's arguments]
"""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

KITH = os.path.abspath(sys.argv.pop(1))


class Cli(unittest.TestCase):
    """Each test has a folder of its own, which is the working directory of what it runs."""

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="kith-cli-")
        self.addCleanup(shutil.rmtree, self.folder)

    def path(self, name):
        return os.path.join(self.folder, name)

    def kith(self, *arguments, stdin="", **options):
        result = subprocess.run([KITH, *arguments], cwd=self.folder, input=stdin.encode(), timeout=120,
                                stdout=options.pop("stdout", subprocess.PIPE), stderr=subprocess.PIPE, **options)
        self.assertNotIn(b"Sanitizer", result.stderr)
        result.err = result.stderr.decode()
        result.out = (result.stdout or b"").decode()
        return result

    def sql(self, *arguments, **options):
        """Standard output of a run that must succeed and warn of nothing."""
        result = self.kith("sql", *arguments, **options)
        self.assertEqual((result.err, result.returncode), ("", 0))
        return result.out

    def fails(self, expected, *arguments, code=1, **options):
        """A run that must print exactly `expected` to standard error."""
        result = self.kith("sql", *arguments, **options)
        self.assertEqual(result.err, expected)
        self.assertEqual(result.returncode, code)
        return result

    def people(self):
        """A table of three rows, one a file."""
        rows = ["1 AS id, 'it''s \"x\", y' AS name, CAST(1.5 AS decimal(5,2)) AS price, DATE '2020-01-31' AS day",
                "2 AS id, CAST(NULL AS text) AS name, CAST(NULL AS decimal(5,2)) AS price, CAST(NULL AS date) AS day",
                "30 AS id, 'ä€' AS name, CAST(-7.25 AS decimal(5,2)) AS price, DATE '1999-12-31' AS day"]
        os.mkdir(self.path("people"))
        for i, row in enumerate(rows):
            self.sql(f"COPY (SELECT {row}) TO 'people/{i}.parquet'")

    def many_rows(self, steps=4, copies=12):
        """A folder whose files have copies ** steps rows each, and whose table is `copies` times that."""
        source = self.path("0.parquet")
        self.sql("COPY (SELECT 1 AS id, 'some text that repeats' AS note, 0.5e0 AS score) TO '0.parquet'")
        for step in range(steps + 1):
            folder = self.path(f"many{step}")
            os.mkdir(folder)
            for i in range(copies):
                os.link(source, os.path.join(folder, f"{i}.parquet"))
            if step == steps:
                return folder
            source = self.path(f"{step + 1}.parquet")
            self.sql(f"COPY (SELECT id + 1 AS id, note, score * 1.1 AS score FROM read_parquet('{folder}')) "
                     f"TO '{source}'")


class Output(Cli):
    def test_a_table_is_aligned_by_type_and_width(self):
        self.people()
        self.assertEqual(self.sql("-t", "people=people", "SELECT * FROM people ORDER BY id"),
                         ' id | name        | price | day\n'
                         '----+-------------+-------+------------\n'
                         '  1 | it\'s "x", y |  1.50 | 2020-01-31\n'
                         '  2 | NULL        |  NULL | NULL\n'
                         ' 30 | ä€          | -7.25 | 1999-12-31\n'
                         '(3 rows)\n\n')

    def test_no_rows_still_have_a_header(self):
        self.assertEqual(self.sql("SELECT 1 AS one, 'x' AS b WHERE false"),
                         " one | b\n-----+---\n(0 rows)\n\n")

    def test_control_characters_do_not_reach_the_terminal(self):
        self.assertEqual(self.sql("SELECT E'a\\nb\\tc\\x1b[31m' AS x"),
                         " x\n-----------------\n a\\nb\\tc\\x1b[31m\n(1 row)\n\n")

    def test_csv_quotes_what_needs_it_and_tells_null_from_an_empty_text(self):
        self.assertEqual(self.sql("--format", "csv", "SELECT 'a,b' AS \"x,y\", 'say \"hi\"' AS b, '' AS c, "
                                  "CAST(NULL AS text) AS d, E'two\\nlines' AS e, 1.50 AS f, true AS g"),
                         '"x,y",b,c,d,e,f,g\n"a,b","say ""hi""","",,"two\nlines",1.50,true\n')

    def test_each_statement_of_a_script_is_answered_in_turn(self):
        self.people()
        out = self.sql("-t", "p=people", "--format", "csv", "SELECT id FROM p WHERE id = 30; SET execution.batch_size = 7;"
                       "SHOW execution.batch_size; RESET execution.batch_size; SHOW execution.batch_size; DROP TABLE p")
        self.assertEqual(out, "id\n30\nexecution.batch_size\n7\nexecution.batch_size\n8192\n")

    def test_sql_comes_from_arguments_files_and_standard_input(self):
        with open(self.path("a.sql"), "w", encoding="utf-8") as script:
            script.write("SELECT 1 AS a;\n-- a comment; with 'a quote\nSELECT 2 AS b")
        self.assertEqual(self.sql("--format", "csv", "-f", "a.sql"), "a\n1\nb\n2\n")
        self.assertEqual(self.sql("--format", "csv", stdin="SELECT 3 AS c;"), "c\n3\n")
        self.assertEqual(self.sql("--format", "csv", "SELECT 4 AS d", "SELECT 5 AS e"), "d\n4\ne\n5\n")
        self.assertEqual(self.sql(stdin=""), "")

    def test_settings_are_set_before_the_first_statement(self):
        self.assertIn("17", self.sql("--set", "execution.batch_size=17", "SHOW execution.batch_size"))
        self.assertIn("18", self.sql("-s", "datafusion.execution.batch_size=18", "SHOW execution.batch_size"))

    def test_tables_are_created_shown_replaced_and_dropped(self):
        self.people()
        create = "CREATE EXTERNAL TABLE p STORED AS PARQUET LOCATION 'people'"
        self.assertEqual(self.sql(create), "CREATE EXTERNAL TABLE\n")
        self.assertIn("people", self.sql(create, "SHOW TABLES"))
        self.fails('ERROR: there is a table "p" already\n', create, create)
        self.sql(create, create.replace("CREATE", "CREATE OR REPLACE"), create.replace("TABLE", "TABLE IF NOT EXISTS"))
        self.fails('ERROR: there is no table "p"\n', create, "DROP TABLE p", "DROP TABLE p")
        self.sql("DROP TABLE IF EXISTS p")

    def test_copy_writes_a_file_that_reads_back(self):
        self.people()
        self.assertEqual(self.sql("-t", "p=people", "COPY (SELECT id, name FROM p ORDER BY id DESC) TO 'out.parquet' "
                                  "(COMPRESSION snappy, ROW_GROUP_SIZE 2)"), "COPY 3\n")
        self.assertEqual(self.sql("--format", "csv", "SELECT * FROM read_parquet('out.parquet')"),
                         'id,name\n30,ä€\n2,\n1,"it\'s ""x"", y"\n')

    def test_a_copy_that_fails_leaves_no_file(self):
        self.people()
        before = sorted(os.listdir(self.folder))
        self.kith("sql", "-t", "p=people", "COPY (SELECT 1 / (id - id) FROM p) TO 'out.parquet'")
        self.assertEqual(sorted(os.listdir(self.folder)), before)

    def test_explain_shows_the_plan_and_analyze_its_metrics(self):
        self.people()
        plan = self.sql("-t", "p=people", "EXPLAIN SELECT name FROM p ORDER BY id LIMIT 2")
        self.assertIn("SortExec: TopK(fetch=2)", plan)
        self.assertNotIn("output_rows", plan)
        analyzed = self.sql("-t", "p=people", "EXPLAIN ANALYZE SELECT name FROM p ORDER BY id LIMIT 2")
        self.assertIn("output_rows=2", analyzed)
        self.assertIn("files_total=3", analyzed)

    def explain_json(self, options, *arguments):
        query = "SELECT id FROM p WHERE id > 0 ORDER BY id LIMIT 2"
        return json.loads(self.sql("-t", "p=people", *arguments, f"EXPLAIN ({options}FORMAT JSON) {query}"))

    def operators(self, plan):
        return [plan["operator"]] + [name for child in plan["inputs"] for name in self.operators(child)]

    def test_explain_in_json_has_the_plan_of_one_process(self):
        self.people()
        planned = self.explain_json("")
        [stage] = planned["stages"]
        [task] = stage["tasks"]
        self.assertEqual((stage["stage"], task["task"]), (0, 0))
        self.assertEqual(self.operators(task["plan"])[-1], "DataSourceExec")
        self.assertNotIn("metrics", task)
        self.assertNotIn("metrics", task["plan"])
        self.assertNotIn("elapsed_ns", planned)
        self.assertIn("logical_plan", self.explain_json("VERBOSE, "))
        analyzed = self.explain_json("ANALYZE, ")
        self.assertGreater(analyzed["elapsed_ns"], 0)
        self.assertEqual(analyzed["stages"][0]["tasks"][0]["plan"]["metrics"]["output_rows"], 2)

    def test_explain_in_json_has_every_stage_and_task_and_what_was_shared(self):
        self.people()
        analyzed = self.explain_json("ANALYZE, ", "--local-workers", "2", "-s",
                                     "distributed.file_scan_config_bytes_per_partition=1", "-s",
                                     "distributed.sibling_topk=on")
        head, stage = analyzed["stages"]
        self.assertIn("NetworkCoalesceExec", self.operators(head["tasks"][0]["plan"]))
        self.assertEqual([task["task"] for task in stage["tasks"]], [0, 1])
        self.assertEqual(sum(task["metrics"]["files_total"] for task in stage["tasks"]), 3)
        for task in stage["tasks"]:
            self.assertRegex(task["worker"], r"^\S+:\d+$")
            self.assertTrue(task["complete"] and task["shares_bounds"])
            self.assertLessEqual(task["started_unix_ns"], task["finished_unix_ns"])
        self.assertEqual(sum(task["metrics"]["bounds_sent"] for task in stage["tasks"]),
                         analyzed["sharing"]["reported"])

    def test_metrics_in_json_have_the_names_of_the_reference_page(self):
        self.people()
        page = (pathlib.Path(__file__).parents[2] / "docs" / "reference.md").read_text()
        rows = re.findall(r"^\| `(\w+)` \| (count|bytes|time) \|", page.partition("## Metrics")[2], re.MULTILINE)
        names = {name + ("_ns" if unit == "time" else "") for name, unit in rows}
        [stage] = self.explain_json("ANALYZE, ")["stages"]
        self.assertGreater(len(stage["tasks"][0]["metrics"]), 20)
        self.assertLessEqual(set(stage["tasks"][0]["metrics"]), names)

    def test_help_and_version_are_asked_for(self):
        self.assertIn("--table", self.sql("--help"))
        version = self.kith("version")
        self.assertRegex(version.out, r"^kith \d+\.\d+")
        self.assertEqual(version.returncode, 0)
        self.assertEqual(self.kith("--help").returncode, 0)


class Mistakes(Cli):
    def test_a_syntax_error_has_a_caret_below_its_place(self):
        self.fails('ERROR: syntax error at or near "WHERE"\n'
                   "LINE 1: SELECT 1 FROM WHERE t\n"
                   "                      ^\n", "SELECT 1 FROM WHERE t")

    def test_the_caret_counts_characters_and_lines(self):
        self.fails('ERROR: there is no column "x": the query has no FROM\n'
                   "LINE 3:   'ä€😀', x,\n"
                   "                 ^\n", "SELECT 1;\nSELECT\n  'ä€😀', x,\n 2")

    def test_a_long_line_is_cut_around_the_place(self):
        result = self.kith("sql", "SELECT " + "1, " * 1000 + "nam" + ", 1" * 1000)
        lines = result.err.splitlines()
        self.assertLess(len(lines[1]), 160)
        caret = lines[2].index("^")
        self.assertEqual(lines[1][caret:caret + 3], "nam")

    def test_an_unknown_column_comes_with_the_nearest_name(self):
        self.people()
        self.fails('ERROR: there is no column "nmae" in table "p"\n'
                   "LINE 1: SELECT nmae FROM p\n"
                   "               ^\n"
                   'HINT: Did you mean "name"?\n', "-t", "p=people", "SELECT nmae FROM p")

    def test_types_that_do_not_fit_are_named(self):
        self.people()
        self.fails("ERROR: cannot compare Utf8 and Int64\n"
                   "LINE 1: SELECT * FROM p WHERE name > 5\n"
                   "                              ^\n"
                   "HINT: Write a cast, such as CAST(… AS date).\n", "-t", "p=people", "SELECT * FROM p WHERE name > 5")

    def test_an_error_while_running_points_at_its_expression(self):
        self.people()
        self.fails("ERROR: evaluating 7 / (id@0 - 2): division by zero: 7 / 0\n"
                   "LINE 1: SELECT id, 7 / (id - 2) FROM p\n"
                   "                   ^\n", "-t", "p=people", "SELECT id, 7 / (id - 2) FROM p", "--format", "csv",
                   "-s", "execution.target_partitions=1")

    def test_a_missing_file_is_named(self):
        self.fails("ERROR: no file matches nothing/*.parquet\n"
                   "LINE 1: SELECT * FROM read_parquet('nothing/*.parquet')\n"
                   "                      ^\n", "SELECT * FROM read_parquet('nothing/*.parquet')")
        result = self.kith("sql", "-t", "x=nothing.parquet", "SELECT 1")
        self.assertIn("nothing.parquet", result.err)
        self.assertEqual(result.returncode, 1)

    def test_what_is_not_a_parquet_file_or_cut_short_is_named(self):
        self.people()
        with open(self.path("people/0.parquet"), "rb") as whole, open(self.path("cut.parquet"), "wb") as cut:
            cut.write(whole.read()[:100])
        with open(self.path("text.parquet"), "w", encoding="utf-8") as text:
            text.write("not a Parquet file at all")
        for name in ("cut.parquet", "text.parquet"):
            result = self.kith("sql", f"SELECT * FROM read_parquet('{name}')")
            self.assertTrue(result.err.startswith("ERROR: " + name), result.err)
            self.assertEqual(result.returncode, 1)

    def test_wrong_options_end_with_code_2(self):
        for arguments in (["--format", "xml", "SELECT 1"], ["--nothing"], ["-f", "missing.sql"], ["--threads", "x"]):
            result = self.kith("sql", *arguments)
            self.assertEqual(result.returncode, 2, arguments)
            self.assertIn("ERROR: ", result.err)
        self.assertEqual(self.kith().returncode, 2)
        self.assertEqual(self.kith("nothing").returncode, 2)

    def test_wrong_assignments_are_told(self):
        self.fails('ERROR: --table takes NAME=VALUE, not "t"\n', "-t", "t", "SELECT 1")
        self.fails('ERROR: --set takes NAME=VALUE, not "=5"\n', "-s", "=5", "SELECT 1")
        self.assertIn("execution.batch_size", self.kith("sql", "-s", "execution.bach_size=5", "SELECT 1").err)

    def test_the_first_error_ends_a_script(self):
        result = self.fails('ERROR: there is no table "nothing"\n'
                            "LINE 1: SELECT 1 AS a; SELECT * FROM nothing; SELECT 2 AS b\n"
                            "                                     ^\n"
                            "HINT: Name files with -t nothing='folder/*.parquet', read_parquet('…') or CREATE EXTERNAL "
                            "TABLE.\n",
                            "--format", "csv", "SELECT 1 AS a; SELECT * FROM nothing; SELECT 2 AS b")
        self.assertEqual(result.out, "a\n1\n")


class Endings(Cli):
    def interrupt(self, number, *arguments):
        """Signals a long query once its header tells that it runs; gives its error text, exit code and the seconds it took to
        end."""
        process = subprocess.Popen([KITH, "sql", "--format", "csv", *arguments], cwd=self.folder, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
        try:
            self.assertNotEqual(process.stdout.readline(), b"")
            start = time.monotonic()
            process.send_signal(number)
            _, error = process.communicate(timeout=60)
        finally:
            process.kill()
        self.assertNotIn(b"Sanitizer", error)
        return error.decode(), process.returncode, time.monotonic() - start

    def test_an_interrupted_query_says_cancelled_and_ends_at_once(self):
        folder = self.many_rows()
        folder = self.many_times(folder, 60)
        for query in ("SELECT id FROM t WHERE note || score || note LIKE '%nothing%like%it%'",
                      "SELECT note, id FROM t ORDER BY note || 'x' LIMIT 5",
                      "SELECT id FROM t ORDER BY score, note"):
            for partitions in ("1", "3"):
                slow = ["-t", "t=" + folder, "-s", "execution.target_partitions=" + partitions, query]
                error, code, seconds = self.interrupt(signal.SIGINT, *slow)
                self.assertEqual((error, code), ("ERROR: the query was cancelled\n", 1), query)
                self.assertLess(seconds, 5)
        error, code, _ = self.interrupt(signal.SIGTERM, *slow)
        self.assertEqual((error, code), ("ERROR: the query was cancelled\n", 1))

    def test_the_deadline_of_a_statement_counts_its_planning(self):
        folder = self.many_times(self.many_rows(steps=3), 200)
        explain = f"EXPLAIN SELECT * FROM read_parquet('{folder}') ORDER BY id LIMIT 5"
        self.assertIn("TopK", self.sql(explain))
        for workers in ((), ("--local-workers", "2")):
            result = self.kith("sql", "-s", "statement_timeout=1ms", *workers, explain)
            self.assertTrue(result.err.startswith("ERROR: the query took longer than the statement_timeout of 1 ms"), result.err)
            self.assertEqual(result.returncode, 1)

    def many_times(self, folder, times):
        """The same files again under other names."""
        for name in os.listdir(folder):
            for i in range(times):
                os.link(os.path.join(folder, name), os.path.join(folder, f"{i}-{name}"))
        return folder

    def test_a_reader_that_goes_away_is_an_error_and_no_crash(self):
        folder = self.many_rows(steps=3)
        process = subprocess.Popen([KITH, "sql", "--format", "csv", f"SELECT * FROM read_parquet('{folder}')"],
                                   cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual(process.stdout.readline(), b"id,note,score\n")
        process.stdout.close()
        error = process.stderr.read().decode()
        process.stderr.close()
        self.assertEqual(process.wait(60), 1)
        self.assertEqual(error, "ERROR: cannot write to standard output: Broken pipe\n")

    def test_a_full_disk_is_an_error(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            for form in ("table", "csv"):
                result = self.kith("sql", "--format", form, "SELECT 1", stdout=full)
                self.assertEqual(result.err, "ERROR: cannot write to standard output: No space left on device\n")
                self.assertEqual(result.returncode, 1)

    def test_too_little_memory_is_told_with_who_wanted_it(self):
        folder = self.many_rows(steps=3)
        result = self.kith("sql", "-s", "runtime.memory_limit=100k", f"SELECT * FROM read_parquet('{folder}') ORDER BY id")
        self.assertIn("sort", result.err)
        self.assertIn("ERROR: ", result.err)
        self.assertEqual(result.returncode, 1)


if __name__ == "__main__":
    unittest.main()

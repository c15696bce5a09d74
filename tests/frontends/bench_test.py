"""`kith bench topk` over small tables: every mode runs, its JSON says what it should, and sharing is seen to act where
the layout makes it.

usage: bench_test.py KITH FOLDER    (the tables are kept in FOLDER)
"""
import json
import os
import subprocess
import sys
import tempfile

KITH, FOLDER = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])


def bench(*arguments, **environment):
    command = [KITH, "bench", "topk", "--smoke", "--data", FOLDER, *arguments]
    done = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    return done.stdout


def bench_json(*arguments):
    with tempfile.NamedTemporaryFile("r", suffix=".json") as file:
        bench("--json", file.name, *arguments)
        return json.load(file)


def every_case_runs_in_turns_and_gives_the_right_rows():
    run = bench_json()
    cases = {comparison["case"] for comparison in run["comparisons"]}
    assert {"pruning/2", "control/8", "overlap/8", "split/8", "staggered/2", "loop/8"} <= cases, cases
    for comparison in run["comparisons"]:
        pair = comparison["pairs"][0]
        assert pair["candidate"]["queries"] == pair["baseline"]["queries"] == 2, comparison["case"]
        assert comparison["ratios"]["cpu"]["median"] > 0


def sharing_has_an_effect_where_only_a_sibling_can_know():
    cases = ("overlap/2", "overlap/8", "split/2", "split/8", "staggered/2", "staggered/8")
    patient = ("--pairs", "15", "--set", "distributed.sibling_topk_head_start=60s",
               "--set", "optimizer.enable_topk_planned_bounds=off")  # statistics alone would settle split
    for comparison in bench_json(*patient, *(word for case in cases for word in ("--case", case)))["comparisons"]:
        candidate, baseline = comparison["candidate_sum"], comparison["baseline_sum"]
        assert candidate["effective"] == candidate["queries"] > 0, comparison["case"]
        assert candidate["metrics"]["bytes_scanned"] < baseline["metrics"]["bytes_scanned"]
        assert baseline["effective"] == 0, "nobody tells anybody anything in this arm"


def tasks_that_read_only_what_the_answer_needs_have_nothing_to_gain():
    (comparison,) = bench_json("--case", "pruning/8")["comparisons"]
    for side in ("candidate_sum", "baseline_sum"):
        assert comparison[side]["least"] == comparison[side]["queries"]
        assert comparison[side]["effective"] == 0
        assert comparison[side]["metrics"]["row_groups_read"] == 8 * comparison[side]["queries"]


def fresh_processes_are_charged_one_by_one():
    run = bench_json("--fresh", "--case", "overlap/2", "--pairs", "2", "--queries", "3")
    (comparison,) = run["comparisons"]
    assert run["fresh_processes"] and len(comparison["pairs"]) == 2
    for side in ("candidate_sum", "baseline_sum"):
        total = comparison[side]
        processes = [total["coordinator"], *total["workers"]]
        assert len(processes) == 3 and total["queries"] == 6
        assert all(process["cpu_ms"] > 0 and process["peak_rss_bytes"] > 1 << 20 for process in processes)
        assert abs(sum(process["cpu_ms"] for process in processes) - total["cpu_ms"]) < 0.001
    assert "rss_mib" in comparison["differences"]


def the_environment_asks_for_fixed_work_in_a_marked_window():
    lines = bench(TOPK_RESOURCE_CASE="overlap/2", TOPK_RESOURCE_QUERIES="4", TOPK_RESOURCE_ARM="no-sharing").splitlines()
    assert [line.split()[0] for line in lines[:3]] == ["resource_processes", "resource_begin", "resource_end"], lines
    assert len(lines[0].split()) == 4, "a coordinator and two workers"
    resources = json.loads(lines[3])
    assert resources["arm"] == "no-sharing" and resources["block"]["queries"] == 4


def an_improvement_is_told_to_each_other_task_once_at_most():
    for line in bench_json("--sweep", "4")["sweep"]:
        bounds = line["block"]["bounds"]
        assert bounds["sent"] <= bounds["unique"] * (line["tasks"] - 1), line


def every_arm_gives_the_same_rows():
    with tempfile.NamedTemporaryFile("r") as file:
        bench("--ideas", "--case", "wide/2", "--answers", file.name)
        answers = [json.loads(line) for line in file]
    assert len(answers) > 8 and len({answer["arm"] for answer in answers}) == len(answers)
    assert all(answer["rows"] == answers[0]["rows"] and len(answer["rows"]) == 100 for answer in answers)


TESTS = [
    every_case_runs_in_turns_and_gives_the_right_rows,
    sharing_has_an_effect_where_only_a_sibling_can_know,
    tasks_that_read_only_what_the_answer_needs_have_nothing_to_gain,
    fresh_processes_are_charged_one_by_one,
    the_environment_asks_for_fixed_work_in_a_marked_window,
    an_improvement_is_told_to_each_other_task_once_at_most,
    every_arm_gives_the_same_rows,
]

for test in TESTS:
    test()
    print("ok", test.__name__)

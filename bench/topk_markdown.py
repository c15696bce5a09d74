#!/usr/bin/env python3
"""The JSON of `kith bench topk --json FILE` as the tables of docs/benchmark-topk.md: each FILE gives one.

    usage: bench/topk_markdown.py [--into PAGE] FILE...

With --into the tables take the places of those in the page, each between the lines <!-- NAME --> and <!-- end -->, where
NAME is the file's name without its ending.
"""

import argparse
import json
import pathlib
import re
import statistics
import sys


def spread(values, signed=False):
    form = "{:+.2f}" if signed else "{:.3f}"
    median, least, most = (form.format(values[name]) for name in ("median", "least", "most"))
    known = " ({:.3f}–{:.3f})".format(values["low"], values["high"]) if "low" in values and not signed else ""
    return f"{median} [{least}{' to ' if signed else '–'}{most}]{known}"


def milliseconds(comparison, measure):
    sides = ([pair[side][measure] for pair in comparison["pairs"]] for side in ("candidate", "baseline"))
    return " / ".join(f"{statistics.median(side):.1f}" for side in sides)


def comparison_cells(run, comparison):
    candidate, baseline = comparison["candidate_sum"], comparison["baseline_sum"]
    queries, bounds = candidate["queries"], candidate["bounds"]
    scanned = [
        side["metrics"].get("bytes_scanned", 0) / side["queries"] / comparison["bytes_there"]
        for side in (candidate, baseline)
    ]
    read = candidate["metrics"].get("row_groups_read", 0) / queries
    known = comparison["local_floor_rows"] > 0
    return {
        "case": comparison["case"],
        "arms": f"{comparison['candidate']} / {comparison['baseline']}",
        "time": spread(comparison["ratios"]["time"]),
        "CPU": spread(comparison["ratios"]["cpu"]),
        "bytes": f"{comparison['ratios']['bytes']['median']:.3f}",
        "RSS, MiB": spread(comparison["differences"]["rss_mib"], True) if run["fresh_processes"] else None,
        "effective": f"{candidate['effective']}/{queries}" if known else "–",
        "ms": milliseconds(comparison, "collect_ms"),
        "CPU ms": milliseconds(comparison, "cpu_ms"),
        "scanned": " / ".join(f"{part:.4f}" for part in scanned),
        "row groups": f"{read:.1f} of {comparison['row_groups_there']}, {comparison['row_groups_needed']} needed",
        "messages": f"{(bounds['reported'] + bounds['sent']) / queries:.0f}",
    }


def sweep_cells(line):
    block, bounds = line["block"], line["block"]["bounds"]
    queries, unique = block["queries"], max(bounds["unique"], 1)
    return {
        "tasks": line["tasks"],
        "reported": f"{bounds['reported'] / queries:.1f}",
        "improvements": f"{bounds['unique'] / queries:.1f}",
        "sent": f"{bounds['sent'] / queries:.1f}",
        "sent an improvement": f"{bounds['sent'] / unique:.2f}",
        "at most": line["tasks"] - 1,
        "bytes an improvement": f"{(bounds['bytes_sent'] + bounds['bytes_received']) / unique:.0f}",
    }


def table(run):
    if "sweep" in run:
        rows = [sweep_cells(line) for line in run["sweep"]]
    else:
        rows = [comparison_cells(run, comparison) for comparison in run["comparisons"]]
    names = [name for name in rows[0] if rows[0][name] is not None]
    lines = [names, ["---"] * len(names), *([str(row[name]) for name in names] for row in rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def place(page, name, text):
    pattern = re.compile(rf"(<!-- {re.escape(name)} -->\n).*?(<!-- end -->)", re.S)
    page, count = pattern.subn(lambda match: f"{match[1]}\n{text}\n\n{match[2]}", page)
    if count != 1:
        sys.exit(f"the page has {count} places for {name}")
    return page


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--into", type=pathlib.Path, metavar="PAGE")
    parser.add_argument("files", type=pathlib.Path, nargs="+", metavar="FILE")
    options = parser.parse_args()
    for path in options.files:
        text = table(json.loads(path.read_text(encoding="utf-8")))
        if options.into is None:
            print(text)
        else:
            options.into.write_text(place(options.into.read_text(encoding="utf-8"), path.stem, text), encoding="utf-8")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Values of files that others wrote (parquet-testing) as Kith reads them, compared with pyarrow's and with the expected
values that come with them; and files that are damaged, each of which must be refused.

    usage: outside_values.py PARQUET_DUMP

Exit status 77, skipped, without KITH_OUTSIDE or pyarrow.
"""

import csv
import os
import pathlib
import subprocess
import sys
import tempfile

SKIPPED = 77

# pyarrow reads these otherwise, or not at all: file -> why.
NOT_COMPARED = {
    "incorrect_map_schema.parquet": "pyarrow refuses the schema; all columns are nested",
    "large_string_map.brotli.parquet": "a map, which would become 2 GiB",
}

# Files of bad_data that only look bad, with the rows they have: a dictionary index of zero bits is allowed where the
# dictionary has one value.
GOOD_AFTER_ALL = {"ARROW-GH-43605.parquet": 21186}

# Words that the error about a damaged file must have.
BAD = {
    "ARROW-GH-41317.parquet": "nested columns are not supported",
    "ARROW-GH-41321.parquet": "nested columns are not supported",
    "ARROW-GH-45185.parquet": "nested columns are not supported",
    "ARROW-GH-47662.parquet": 'column "flba_field", row group 0, page at byte 4',
    "ARROW-RS-GH-6229-DICTHEADER.parquet": "its pages lie outside the file",
    "ARROW-RS-GH-6229-LEVELS.parquet": "nested columns are not supported",
    "PARQUET-1481.parquet": "-7 is no physical type",
}

BAD_CHECKSUMS = ["datapage_v1-corrupt-checksum.parquet", "rle-dict-uncompressed-corrupt-checksum.parquet"]
GOOD_CHECKSUMS = [
    "datapage_v1-snappy-compressed-checksum.parquet",
    "datapage_v1-uncompressed-checksum.parquet",
    "plain-dict-uncompressed-checksum.parquet",
    "rle-dict-snappy-checksum.parquet",
]


def find_pyarrow():
    """pyarrow, out of the environment that tools/venv makes when this Python has none."""
    try:
        import pyarrow.parquet

        return pyarrow
    except ImportError:
        pass
    python = pathlib.Path(__file__).resolve().parents[2] / ".venv" / "bin" / "python"
    if python.exists() and pathlib.Path(sys.prefix).resolve() != python.parents[1].resolve():
        os.execv(python, [str(python), *sys.argv])
    return None


class Kith:
    def __init__(self, pyarrow, program, folder):
        self.pyarrow, self.program, self.out = pyarrow, program, pathlib.Path(folder) / "out.arrows"

    def read(self, path, *options):
        """The table, or the message of the error."""
        done = subprocess.run([self.program, *options, path, self.out], stderr=subprocess.PIPE, text=True, timeout=60)
        if done.returncode == 0:
            return self.pyarrow.ipc.open_stream(self.out.read_bytes()).read_all()
        assert done.returncode == 1, f"{path.name}: exit status {done.returncode}: {done.stderr}"
        return done.stderr.strip()


def flat_columns(pyarrow, table):
    """The columns that are not nested, by name."""
    pairs = zip(table.schema.names, table.columns)
    return {name: column for name, column in pairs if not pyarrow.types.is_nested(column.type)}


def same_type(pyarrow, ours, theirs):
    if pyarrow.types.is_decimal(ours) and pyarrow.types.is_decimal(theirs):
        return (ours.precision, ours.scale) == (theirs.precision, theirs.scale)
    return ours == theirs


def bits(pyarrow, column):
    """Values that compare as they are in memory, so that NaN equals itself and -0.0 does not equal 0.0."""
    array = column.combine_chunks()
    if pyarrow.types.is_floating(array.type):
        integers = getattr(pyarrow, f"int{array.type.bit_width}")()
        return pyarrow.Array.from_buffers(integers, len(array), array.buffers(), offset=array.offset).to_pylist()
    if pyarrow.types.is_temporal(array.type):
        return array.cast(pyarrow.int64() if array.type.bit_width == 64 else pyarrow.int32()).to_pylist()
    return array.to_pylist()


def compare_with_pyarrow(pyarrow, kith, path):
    ours = kith.read(path)
    if isinstance(ours, str):
        return [ours]
    theirs = pyarrow.parquet.read_table(path, use_threads=False)
    faults = []
    our_columns, their_columns = flat_columns(pyarrow, ours), flat_columns(pyarrow, theirs)
    if sorted(our_columns) != sorted(their_columns):
        faults.append(f"columns {sorted(our_columns)}; pyarrow has {sorted(their_columns)}")
    for name in our_columns.keys() & their_columns.keys():
        a, b = our_columns[name], their_columns[name]
        if hasattr(b.type, "storage_type"):
            b = b.cast(b.type.storage_type)
        if not same_type(pyarrow, a.type, b.type):
            faults.append(f"column {name} is {a.type}; pyarrow says {b.type}")
        elif bits(pyarrow, a) != bits(pyarrow, b):
            faults.append(f"column {name} has other values than pyarrow reads")
    return faults


def spelled(value):
    return "" if value is None else str(value)


def compare_with_expected(pyarrow, kith, path, expected):
    ours = kith.read(path)
    if isinstance(ours, str):
        return [ours]
    with expected.open(newline="") as file:
        rows = list(csv.reader(file))
    # Headers differ from the names in the file in quotes and blanks only, so columns are taken by position.
    body = rows[1:]
    faults = []
    if len(body) != ours.num_rows or len(rows[0]) != ours.num_columns:
        return [f"{ours.num_rows} rows of {ours.num_columns}; {expected.name} has {len(body)} of {len(rows[0])}"]
    for i, column in enumerate(ours.columns):
        values = [spelled(value) for value in column.to_pylist()]
        if values != [row[i] for row in body]:
            faults.append(f"column {ours.schema.names[i]} has other values than {expected.name}")
    return faults


def check_bad(kith, path, options=()):
    result = kith.read(path, *options)
    if path.name in GOOD_AFTER_ALL:
        rows = GOOD_AFTER_ALL[path.name]
        return [] if not isinstance(result, str) and result.num_rows == rows else [f"not {rows} rows: {result}"]
    if not isinstance(result, str):
        return ["it was read without an error"]
    return [] if BAD.get(path.name, "") in result else [f"the error is: {result}"]


def main():
    folder, pyarrow = os.environ.get("KITH_OUTSIDE"), find_pyarrow()
    if folder is None or pyarrow is None:
        print("skipped: " + ("KITH_OUTSIDE is not set" if folder is None else "no pyarrow"))
        return SKIPPED
    import pyarrow.ipc
    import pyarrow.parquet

    data, bad = pathlib.Path(folder) / "parquet-testing" / "data", pathlib.Path(folder) / "parquet-testing" / "bad_data"
    failed = compared = 0
    with tempfile.TemporaryDirectory() as scratch:
        kith = Kith(pyarrow, sys.argv[1], scratch)
        checks = []
        for path in sorted(data.glob("**/*.parquet")):
            if path.name not in NOT_COMPARED:
                checks.append((path, compare_with_pyarrow(pyarrow, kith, path)))
        for path in sorted(data.glob("*_expect.csv")):
            parquet = data / path.name.replace("_expect.csv", ".parquet")
            checks.append((path, compare_with_expected(pyarrow, kith, parquet, path)))
        for path in sorted(bad.glob("*.parquet")):
            checks.append((path, check_bad(kith, path, ["--all"])))
        for name in BAD_CHECKSUMS:
            result = kith.read(data / name, "--verify")
            checks.append((data / name, [] if isinstance(result, str) and "checksum" in result else ["checksums were not checked"]))
        for name in GOOD_CHECKSUMS:
            result = kith.read(data / name, "--verify")
            checks.append((data / name, [result] if isinstance(result, str) else []))
        for path, faults in checks:
            compared += 1
            failed += bool(faults)
            for fault in faults:
                print(f"{path.name}: {fault}")
    print(f"{compared} checks, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

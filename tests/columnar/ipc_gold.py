#!/usr/bin/env python3
"""Arrow's gold files (arrow-testing, data/arrow-ipc-stream/integration) and streams of pyarrow through Kith's decoder and
encoder.

    usage: ipc_gold.py IPC_ROUNDTRIP

Each stream and file is read by Kith and written again, with each compression; pyarrow must find the rows, schema and
metadata of the original in what was written. Those that hold what Kith does not have must be refused by name, as
listed below. Exit status 77, skipped, without KITH_OUTSIDE or pyarrow.
"""

import os
import pathlib
import subprocess
import sys
import tempfile

SKIPPED = 77
NOT_IMPLEMENTED = 3
COMPRESSIONS = ["none", "lz4", "zstd"]
FOLDERS = ["0.14.1", "0.17.1", "1.0.0-bigendian", "1.0.0-littleendian", "2.0.0-compression", "4.0.0-shareddict", "cpp-21.0.0"]

# case -> words of the error that refuses it
REFUSED = {
    "custom_metadata": "\"list_with_odd_values\": columns of nested types (List)",
    "decimal256": "Decimal of 256 bits",
    "decimal32": "Decimal of 32 bits",
    "duplicate_fieldnames": "\"struct\": columns of nested types (Struct)",
    "list_view": "type ListView",
    "map": "nested types (Map",
    "map_non_canonical": "nested types (Map",
    "nested": "type FixedSizeList",
    "nested_dictionary": "nested types (Dictionary(Int8, List))",
    "nested_large_offsets": "type LargeList",
    "recursive_nested": "nested types (List",
    "run_end_encoded": "type RunEndEncoded",
    "union": "type Union",
}
BIG_ENDIAN = "big-endian"


def find_pyarrow():
    """pyarrow, out of the environment that tools/venv makes when this Python has none."""
    try:
        import pyarrow.ipc

        return pyarrow
    except ImportError:
        pass
    python = pathlib.Path(__file__).resolve().parents[2] / ".venv" / "bin" / "python"
    if python.exists() and pathlib.Path(sys.prefix).resolve() != python.parents[1].resolve():
        os.execv(python, [str(python), *sys.argv])
    return None


def read(pyarrow, path):
    """The batches of a stream or file, under its schema."""
    if path.suffix == ".arrow_file":
        reader = pyarrow.ipc.open_file(path)
        batches = [reader.get_batch(i) for i in range(reader.num_record_batches)]
    else:
        reader = pyarrow.ipc.open_stream(path.read_bytes())
        batches = list(reader)
    return reader.schema, batches


def fault(pyarrow, batch):
    """What pyarrow's full check says, or ""; some gold files have dates that are not whole days."""
    try:
        batch.validate(full=True)
        return ""
    except pyarrow.ArrowInvalid as invalid:
        return str(invalid)


def difference(pyarrow, original, written):
    """What differs between the two, or ""."""
    schema, batches = read(pyarrow, original)
    schema_again, batches_again = read(pyarrow, written)
    if not schema.equals(schema_again, check_metadata=True):
        return f"schemas differ: {schema} / {schema_again}"
    if len(batches) != len(batches_again):
        return f"{len(batches)} batches / {len(batches_again)}"
    for i, (batch, again) in enumerate(zip(batches, batches_again)):
        if fault(pyarrow, again) != fault(pyarrow, batch):
            return f"batch {i} is not valid: {fault(pyarrow, again)}"
        if not batch.equals(again):
            return f"batch {i} differs: {batch.to_pydict()} / {again.to_pydict()}"
    return ""


def check_case(pyarrow, program, path, refusal, compression, scratch):
    written = scratch / "again.stream"
    run = subprocess.run([program, path, written, compression], capture_output=True, text=True)
    if refusal is not None:
        if run.returncode == NOT_IMPLEMENTED and refusal in run.stderr:
            return ""
        return f"expected to be refused with '{refusal}': status {run.returncode}, {run.stderr.strip()}"
    if run.returncode != 0:
        return f"status {run.returncode}, {run.stderr.strip()}"
    return difference(pyarrow, path, written)


def gold_files(folder):
    """Each file with the words of the error that is to refuse it, or None."""
    paths = sorted(folder.glob("*.stream")) + sorted(folder.glob("*.arrow_file"))
    for path in paths:
        case = path.stem.removeprefix("generated_")
        yield path, BIG_ENDIAN if folder.name.endswith("bigendian") else REFUSED.get(case)


def write_stream(pyarrow, path, batches, **options):
    with pyarrow.ipc.new_stream(path, batches[0].schema, options=pyarrow.ipc.IpcWriteOptions(**options)) as writer:
        for batch in batches:
            writer.write_batch(batch)
    return path, None


def made_files(pyarrow, folder):
    """Streams of pyarrow with what no gold file of flat columns has."""
    fields = [
        pyarrow.field("zoned", pyarrow.timestamp("us", "America/New_York"), metadata={"unit": "µs", "empty": ""}),
        pyarrow.field("required", pyarrow.int16(), nullable=False),
    ]
    schema = pyarrow.schema(fields, metadata={"writer": "pyarrow", "pandas": "{}"})
    batch = pyarrow.record_batch([pyarrow.array([1, None, 3], fields[0].type), pyarrow.array([1, 2, 3], pyarrow.int16())], schema=schema)
    yield write_stream(pyarrow, folder / "metadata.stream", [batch])

    values = [["a", "b"], ["a", "b", "c"], ["x"], ["x", None, "y"]]
    indices = [[0, 1, None], [2, 1, 0], [0, 0, 0], [1, 2, None]]
    growing = [
        pyarrow.record_batch({"d": pyarrow.DictionaryArray.from_arrays(pyarrow.array(i, pyarrow.int8()), pyarrow.array(v, pyarrow.string()))})
        for i, v in zip(indices, values)
    ]
    yield write_stream(pyarrow, folder / "dictionary_replaced.stream", growing)
    yield write_stream(pyarrow, folder / "dictionary_deltas.stream", growing, emit_dictionary_deltas=True)
    ordered = pyarrow.DictionaryArray.from_arrays(pyarrow.array([1, 0], pyarrow.uint16()), pyarrow.array(["lo", "hi"]), ordered=True)
    yield write_stream(pyarrow, folder / "dictionary_ordered.stream", [pyarrow.record_batch({"d": ordered})])

    many = pyarrow.record_batch({
        "n": pyarrow.array(range(10000), pyarrow.int64()),
        "view": pyarrow.array([f"{'long ' * (i % 7)}{i}" if i % 5 else None for i in range(10000)], pyarrow.string_view()),
        "bool": pyarrow.array([i % 3 == 0 if i % 7 else None for i in range(10000)]),
    })
    yield write_stream(pyarrow, folder / "sliced.stream", [many.slice(13, 77), many.slice(5001, 4000), many.slice(9999, 0)])
    yield write_stream(pyarrow, folder / "v4.stream", [many.select(["n", "bool"])], metadata_version=pyarrow.ipc.MetadataVersion.V4)


def main(arguments):
    outside = os.environ.get("KITH_OUTSIDE")
    if not outside:
        print("skipped: KITH_OUTSIDE is not set")
        return SKIPPED
    pyarrow = find_pyarrow()
    if pyarrow is None:
        print("skipped: no pyarrow; tools/venv makes an environment that has it")
        return SKIPPED
    gold = pathlib.Path(outside) / "arrow-testing" / "data" / "arrow-ipc-stream" / "integration"
    checked = failed = 0
    with tempfile.TemporaryDirectory() as temporary:
        scratch = pathlib.Path(temporary)
        groups = [(name, list(gold_files(gold / name))) for name in FOLDERS]
        groups.append(("pyarrow", list(made_files(pyarrow, scratch))))
        for name, files in groups:
            if not files:
                print(f"FAILED {name}: no files")
                failed += 1
            for path, refusal in files:
                for compression in COMPRESSIONS:
                    problem = check_case(pyarrow, arguments[0], path, refusal, compression, scratch)
                    checked += 1
                    if problem:
                        failed += 1
                        print(f"FAILED {name}/{path.name} ({compression}): {problem}")
    print(f"{checked} checked, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

#!/usr/bin/env python3
"""Kith's gRPC against grpcio, both ways round: grpcio's client calls our server, ours calls grpcio's server.

usage: grpc_interop.py PATH_OF_grpc_echo        exit code 77: grpcio is not installed
"""
import concurrent.futures
import struct
import subprocess
import sys
import threading

try:
    import grpc
except ImportError:
    print("skipped: grpcio is not installed")
    sys.exit(77)

SERVICE = "kith.test.Echo"
LARGE = [("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1)]


def expect(condition, what):
    if not condition:
        raise AssertionError(what)


def expect_failure(call, code, part):
    try:
        call()
    except grpc.RpcError as error:
        expect(error.code() == code, f"{error.code()} instead of {code}: {error.details()}")
        expect(part in (error.details() or ""), f"{part!r} is not in {error.details()!r}")
        return error
    raise AssertionError(f"succeeded, expected {code}")


class Client:
    """Calls our server."""

    def __init__(self, address):
        self.channel = grpc.insecure_channel(address, options=LARGE)

    def path(self, method):
        return f"/{SERVICE}/{method}"

    def unary(self, method="Unary"):
        return self.channel.unary_unary(self.path(method))

    def check_unary(self):
        for size in (0, 1, 1000, 65536, 5_000_000):
            message = bytes(range(256)) * (size // 256) + bytes(size % 256)
            expect(self.unary()(message, timeout=20) == message, f"unary of {size} bytes")

    def check_stream(self):
        call = self.channel.unary_stream(self.path("Stream"))
        sizes = [len(m) for m in call(struct.pack("<QQ", 50, 1_000_000), timeout=60)]
        expect(sizes == [1_000_000] * 50, f"stream gave {sizes}")

    def check_collect(self):
        call = self.channel.stream_unary(self.path("Collect"))
        answer = call((bytes(300_000) for _ in range(50)), timeout=60)
        expect(struct.unpack("<QQ", answer) == (50, 15_000_000), f"collect gave {answer}")

    def check_bidi(self):
        call = self.channel.stream_stream(self.path("Bidi"))
        messages = [b"message %d" % i for i in range(1000)]
        expect(list(call(iter(messages), timeout=60)) == messages, "bidi")

    def check_parallel(self):
        with concurrent.futures.ThreadPoolExecutor(20) as pool:
            answers = list(pool.map(lambda i: self.unary()(b"%d" % i, timeout=60), range(500)))
        expect(answers == [b"%d" % i for i in range(500)], "parallel calls")

    def check_metadata(self):
        metadata = (("x-ask", "a question"), ("x-ask-bin", b"\x00\x01\xfe\xff"))
        answer, call = self.unary("Metadata").with_call(b"", metadata=metadata, timeout=20)
        initial = dict(call.initial_metadata())
        expect(initial.get("x-answer") == "a question", f"metadata {initial}")
        expect(initial.get("x-answer-bin") == b"\x00\x01\xfe\xff", f"metadata {initial}")

    def check_failures(self):
        expect_failure(lambda: self.unary("Fail")(b"", timeout=20), grpc.StatusCode.INVALID_ARGUMENT,
                       'no column "a\u00e4%"')
        expect_failure(lambda: self.unary("Nothing")(b"", timeout=20), grpc.StatusCode.UNIMPLEMENTED,
                       f"/{SERVICE}/Nothing")
        expect_failure(lambda: self.unary("Hang")(b"", timeout=0.3), grpc.StatusCode.DEADLINE_EXCEEDED, "")
        expect_failure(lambda: self.unary()(b"x" * 1000, timeout=20, compression=grpc.Compression.Gzip),
                       grpc.StatusCode.UNIMPLEMENTED, "identity")

    def check_cancel(self):
        call = self.channel.unary_stream(self.path("Stream"))(struct.pack("<QQ", 1_000_000, 100_000), timeout=60)
        next(call)
        call.cancel()
        expect_failure(lambda: list(call), grpc.StatusCode.CANCELLED, "")

    def check_all(self):
        self.check_unary()
        self.check_stream()
        self.check_collect()
        self.check_bidi()
        self.check_parallel()
        self.check_metadata()
        self.check_failures()
        self.check_cancel()
        self.check_unary()


def serve_grpcio():
    """The same service by grpcio; gives the server and its address."""

    def stream(request, context):
        count, size = struct.unpack("<QQ", request)
        for _ in range(count):
            yield bytes(size)

    def collect(messages, context):
        sizes = [len(m) for m in messages]
        return struct.pack("<QQ", len(sizes), sum(sizes))

    def bidi(messages, context):
        yield from messages

    def fail(request, context):
        context.abort(grpc.StatusCode.NOT_FOUND, 'no file "\u00e4%.parquet"')

    def hang(request, context):
        ended = threading.Event()
        context.add_callback(ended.set)
        ended.wait(20)
        return b""

    def metadata(request, context):
        asked = dict(context.invocation_metadata())
        context.send_initial_metadata((("x-answer", asked["x-ask"]), ("x-answer-bin", asked["x-ask-bin"])))
        return request

    handlers = {
        "Unary": grpc.unary_unary_rpc_method_handler(lambda request, context: request),
        "Stream": grpc.unary_stream_rpc_method_handler(stream),
        "Collect": grpc.stream_unary_rpc_method_handler(collect),
        "Bidi": grpc.stream_stream_rpc_method_handler(bidi),
        "Fail": grpc.unary_unary_rpc_method_handler(fail),
        "Hang": grpc.unary_unary_rpc_method_handler(hang),
        "Metadata": grpc.unary_unary_rpc_method_handler(metadata),
    }
    server = grpc.server(concurrent.futures.ThreadPoolExecutor(8), options=LARGE)
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(SERVICE, handlers),))
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    return server, f"127.0.0.1:{port}"


def main():
    program = sys.argv[1]
    ours = subprocess.Popen([program, "serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        client = Client(ours.stdout.readline().strip())
        client.check_all()
        client.channel.close()
        ours.stdin.close()
        expect(ours.wait(20) == 0, "our server failed")
    finally:
        ours.kill()
    server, address = serve_grpcio()
    called = subprocess.run([program, "call", address], timeout=120)
    server.stop(0)
    expect(called.returncode == 0, "our client failed")
    print("grpcio and Kith understand each other")


if __name__ == "__main__":
    main()

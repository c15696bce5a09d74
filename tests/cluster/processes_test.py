"""Worker processes that are killed, stopped or told to end while a query runs, and coordinators that are.

usage: processes_test.py KITH MAKE_SCORES

Every process is started and ended here, by its number; each wait has a limit. A query is known to run because nobody
reads its rows: they are more than its pipe and the windows of its connections hold.
"""
import os
import signal
import subprocess
import sys
import tempfile
import time

KITH, MAKE_SCORES = (os.path.abspath(path) for path in sys.argv[1:3])
SQL = "SELECT * FROM scores"


class Worker:
    def __init__(self):
        self.process = subprocess.Popen([KITH, "worker", "--listen", "127.0.0.1:0", "--threads", "2"],
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.address = self.process.stdout.readline().split()[-1]
        self.sockets = self.count_sockets()

    def count_sockets(self):
        """Files may stay open: a worker caches their footers."""
        folder = f"/proc/{self.process.pid}/fd"
        count = 0
        for descriptor in os.listdir(folder):
            try:
                count += os.readlink(f"{folder}/{descriptor}").startswith("socket:")
            except FileNotFoundError:
                pass
        return count

    def ticks(self):
        fields = open(f"/proc/{self.process.pid}/stat").read().rsplit(")", 1)[1].split()
        return int(fields[11]) + int(fields[12])

    def becomes_idle(self):
        """No connection left, and no time used."""
        limit = time.monotonic() + 10
        while time.monotonic() < limit:
            before = self.ticks()
            time.sleep(0.2)
            if self.count_sockets() == self.sockets and self.ticks() - before <= 1:
                return True
        return False

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
            self.process.terminate()
        try:
            self.process.communicate(timeout=30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.communicate()
            raise AssertionError("a worker did not end when told to")
        return self.process.returncode


class Query:
    def __init__(self, *options):
        self.process = subprocess.Popen([KITH, "sql", "-t", "scores=scores", "--format", "csv", *options, SQL],
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert os.read(self.process.stdout.fileno(), 1), "no rows came: " + self.process.stderr.read().decode()

    def outcome(self, limit):
        """Return code, standard error, and the seconds it took to end."""
        start = time.monotonic()
        try:
            _, errors = self.process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.communicate()
            raise AssertionError(f"the query did not end within {limit} s")
        return self.process.returncode, errors.decode().strip(), time.monotonic() - start


def with_workers(test):
    workers = [Worker(), Worker()]
    try:
        test(workers, ",".join(worker.address for worker in workers))
    finally:
        codes = [worker.stop() for worker in workers]
    return codes


def a_killed_worker_ends_the_query_within_two_seconds(workers, addresses):
    query = Query("--workers", addresses)
    workers[1].process.kill()
    code, errors, seconds = query.outcome(30)
    assert code == 1 and seconds < 2, (code, seconds)
    assert workers[1].address in errors and len(errors.splitlines()) <= 2, errors
    assert workers[0].becomes_idle()


def a_worker_told_to_end_is_named(workers, addresses):
    query = Query("--workers", addresses)
    workers[1].process.terminate()
    code, errors, seconds = query.outcome(30)
    assert code == 1 and seconds < 2, (code, seconds)
    assert workers[1].address in errors, errors
    assert workers[1].stop() == 0
    assert workers[0].becomes_idle()


def a_stopped_worker_is_given_up_after_the_keepalive(workers, addresses):
    query = Query("--workers", addresses, "-s", "distributed.keepalive=1s")
    workers[1].process.send_signal(signal.SIGSTOP)
    code, errors, seconds = query.outcome(30)
    assert code == 1 and seconds < 3, (code, seconds)
    assert workers[1].address in errors and "has not answered" in errors, errors
    assert workers[0].becomes_idle()
    workers[1].process.send_signal(signal.SIGCONT)
    assert workers[1].becomes_idle()


def an_interrupted_query_leaves_no_task(workers, addresses):
    query = Query("--workers", addresses)
    query.process.send_signal(signal.SIGINT)
    code, errors, seconds = query.outcome(30)
    assert code == 1 and seconds < 2, (code, seconds)
    assert "cancelled" in errors, errors
    assert all(worker.becomes_idle() for worker in workers)


def a_killed_coordinator_leaves_no_task(workers, addresses):
    query = Query("--workers", addresses)
    query.process.kill()
    query.outcome(30)
    assert all(worker.becomes_idle() for worker in workers)
    query = Query("--workers", addresses)
    code, errors, _ = query.outcome(60)
    assert code == 0, errors


def exists(process):
    try:
        state = open(f"/proc/{process}/stat").read().rsplit(")", 1)[1].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def local_workers_end_with_their_query():
    for end in (None, signal.SIGTERM, signal.SIGKILL):
        query = Query("--local-workers", "2")
        children = []
        for thread in os.listdir(f"/proc/{query.process.pid}/task"):
            children += open(f"/proc/{query.process.pid}/task/{thread}/children").read().split()
        assert len(children) == 2, children
        if end is not None:
            query.process.send_signal(end)
        query.outcome(60)
        limit = time.monotonic() + 5
        while any(exists(child) for child in children) and time.monotonic() < limit:
            time.sleep(0.05)
        assert not any(exists(child) for child in children), end


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for i, best in enumerate((7, -1)):
            subprocess.run([MAKE_SCORES, f"scores/part{i}.parquet", str(i + 1), "16", "20000", str(best)], check=True)
        os.environ.setdefault("LC_ALL", "C.UTF-8")
        for test in (a_killed_worker_ends_the_query_within_two_seconds, a_worker_told_to_end_is_named,
                     a_stopped_worker_is_given_up_after_the_keepalive, an_interrupted_query_leaves_no_task,
                     a_killed_coordinator_leaves_no_task):
            print(test.__name__, flush=True)
            with_workers(test)
        print(local_workers_end_with_their_query.__name__, flush=True)
        local_workers_end_with_their_query()
        os.chdir("/")


main()

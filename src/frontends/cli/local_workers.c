#include "frontends/cli/local_workers.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/strbuf.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { START_TIMEOUT_MS = 10000, STOP_TIMEOUT_MS = 2000 };

static const char ready_line[] = "listening on ";

/* In the child, between fork and exec: only what is safe there. */
static void run_worker(int output, pid_t parent, const char *threads)
{
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    /* Ends with the parent; if that has gone already, at once. The terminal's Ctrl-C is the parent's to handle. */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
    setpgid(0, 0);
    int input = open("/dev/null", O_RDONLY);
    if (input >= 0)
        dup2(input, STDIN_FILENO);
    dup2(output, STDOUT_FILENO);
    execl("/proc/self/exe", "kith", "worker", "--listen", "127.0.0.1:0", "--threads", threads, "--quiet", (char *)NULL);
    _exit(127);
}

/* "kith worker listening on 127.0.0.1:40001\n" from the worker's standard output. */
static kith_error *read_address(int output, struct local_worker *worker)
{
    char line[256];
    size_t length = 0;
    int64_t deadline = clock_monotonic_ns(&system_clock) + START_TIMEOUT_MS * NANOSECONDS_PER_MILLISECOND;
    while (length + 1 < sizeof line && memchr(line, '\n', length) == NULL) {
        int64_t left = (deadline - clock_monotonic_ns(&system_clock)) / NANOSECONDS_PER_MILLISECOND;
        struct pollfd poll_output = {.fd = output, .events = POLLIN};
        if (left <= 0 || poll(&poll_output, 1, (int)left) == 0)
            return error_new(KITH_ERROR_TIMEOUT, "a local worker did not start within %d s", START_TIMEOUT_MS / 1000);
        ssize_t n = read(output, line + length, sizeof line - 1 - length);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return error_new(KITH_ERROR_UNAVAILABLE, "a local worker ended while starting");
        length += (size_t)n;
    }
    line[length] = '\0';
    char *address = strstr(line, ready_line);
    if (address == NULL)
        return error_new(KITH_ERROR_PROTOCOL, "a local worker said \"%s\" when it should have told its address", line);
    address += sizeof ready_line - 1;
    address[strcspn(address, "\n")] = '\0';
    snprintf(worker->address, sizeof worker->address, "%.63s", address);
    return NULL;
}

static kith_error *start_worker(const char *threads, struct local_worker *worker)
{
    int output[2];
    pid_t parent = getpid();
    if (pipe2(output, O_CLOEXEC) != 0)
        return error_from_errno(errno, "cannot start a local worker");
    worker->pid = fork();
    if (worker->pid == 0)
        run_worker(output[1], parent, threads);
    int fork_errno = errno;
    close(output[1]);
    kith_error *error =
        worker->pid < 0 ? error_from_errno(fork_errno, "cannot start a local worker") : read_address(output[0], worker);
    close(output[0]);
    return error;
}

/* That this process, and so its workers together, may use. */
static size_t processor_count(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? (size_t)CPU_COUNT(&set) : 1;
}

kith_error *local_workers_start(size_t count, size_t threads, struct local_workers *out)
{
    _cleanup_(local_workers_stop) struct local_workers workers = {0};
    char thread_text[32];
    if (threads == 0)
        threads = MAX(processor_count() / MAX(count, (size_t)1), (size_t)1);
    snprintf(thread_text, sizeof thread_text, "%zu", threads);
    TRY(NEW_ARRAY(&workers.workers, count));
    while (workers.count < count) {
        struct local_worker *worker = &workers.workers[workers.count];
        kith_error *error = start_worker(thread_text, worker);
        workers.count += worker->pid > 0;
        TRY(error);
    }
    *out = workers;
    workers = (struct local_workers){0};
    return NULL;
}

static bool reap(struct local_worker *worker, int64_t deadline_ns)
{
    for (;;) {
        pid_t reaped = waitpid(worker->pid, NULL, WNOHANG);
        if (reaped == worker->pid || (reaped < 0 && errno == ECHILD))
            return true;
        if (clock_monotonic_ns(&system_clock) >= deadline_ns)
            return false;
        poll(NULL, 0, 5);
    }
}

void local_workers_stop(struct local_workers *workers)
{
    for (size_t i = 0; i < workers->count; i++)
        kill(workers->workers[i].pid, SIGTERM);
    int64_t deadline = clock_monotonic_ns(&system_clock) + STOP_TIMEOUT_MS * NANOSECONDS_PER_MILLISECOND;
    for (size_t i = 0; i < workers->count; i++) {
        if (reap(&workers->workers[i], deadline))
            continue;
        kill(workers->workers[i].pid, SIGKILL);
        waitpid(workers->workers[i].pid, NULL, 0);
    }
    free(workers->workers);
    *workers = (struct local_workers){0};
}

#include "frontends/cli/attendant.h"

#include "base/alloc.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

enum { TICK_MS = 100, TICKS_BEFORE_PROGRESS = 10 };

struct attendant {
    struct session *session;
    bool show_progress;
    bool line_shown;
    unsigned ticks; /* that the query at hand has run */
    unsigned interrupts;
    atomic_bool stopping;
    pthread_t thread;
};

static sigset_t ending_signals(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    return set;
}

void attendant_block_signals(void)
{
    sigset_t set = ending_signals();
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    signal(SIGPIPE, SIG_IGN); /* a write to a closed pipe is an error value */
}

void attendant_wait_for_signal(void)
{
    sigset_t set = ending_signals();
    int received;
    sigwait(&set, &received);
}

static void clear_line(struct attendant *attendant)
{
    if (attendant->line_shown)
        fputs("\r\033[K", stderr);
    attendant->line_shown = false;
}

static void show_progress(struct attendant *attendant)
{
    struct query_progress progress;
    if (!session_progress(attendant->session, &progress)) {
        attendant->ticks = 0;
        clear_line(attendant);
        return;
    }
    if (++attendant->ticks <= TICKS_BEFORE_PROGRESS)
        return;
    double percent = progress.row_groups_total == 0
                         ? 0
                         : 100.0 * (double)progress.row_groups_done / (double)progress.row_groups_total;
    fprintf(stderr, "\r\033[K%5.1f s  %3.0f %%  %" PRIu64 " of %" PRIu64 " row groups, %" PRIu64 " rows, %.1f MiB",
            attendant->ticks * TICK_MS / 1000.0, percent, progress.row_groups_done, progress.row_groups_total,
            progress.rows_scanned, (double)progress.bytes_scanned / (1 << 20));
    attendant->line_shown = true;
}

static void interrupt(struct attendant *attendant)
{
    if (attendant->interrupts++ > 0)
        _exit(130);
    session_cancel(attendant->session);
}

static void *attend(void *argument)
{
    struct attendant *attendant = argument;
    sigset_t set = ending_signals();
    const struct timespec tick = {.tv_nsec = TICK_MS * 1000000};
    while (!atomic_load_explicit(&attendant->stopping, memory_order_acquire)) {
        int received = sigtimedwait(&set, NULL, &tick);
        if (received > 0 && !atomic_load_explicit(&attendant->stopping, memory_order_acquire))
            interrupt(attendant);
        if (attendant->show_progress)
            show_progress(attendant);
    }
    clear_line(attendant);
    return NULL;
}

kith_error *attendant_start(struct session *session, bool progress, struct attendant **out)
{
    _cleanup_free_ struct attendant *attendant = NULL;
    TRY(NEW(&attendant));
    attendant->session = session;
    attendant->show_progress = progress;
    int failed = pthread_create(&attendant->thread, NULL, attend, attendant);
    if (failed != 0)
        return error_from_errno(failed, "cannot start a thread for signals and progress");
    *out = TAKE(attendant);
    return NULL;
}

void attendant_stop(struct attendant *attendant)
{
    if (attendant == NULL)
        return;
    atomic_store_explicit(&attendant->stopping, true, memory_order_release);
    pthread_kill(attendant->thread, SIGINT); /* it waits for one */
    pthread_join(attendant->thread, NULL);
    free(attendant);
}

/*
 * Worker processes of this program's own: started on loopback ports that the system chooses, told to end and reaped
 * when done. They end with this process however it ends.
 */
#ifndef KITH_FRONTENDS_CLI_LOCAL_WORKERS_H
#define KITH_FRONTENDS_CLI_LOCAL_WORKERS_H

#include "base/error.h"

#include <sys/types.h>

struct local_worker {
    pid_t pid;
    char address[64];
};

struct local_workers {
    struct local_worker *workers;
    size_t count;
};

/* Starts `count` workers of `threads` threads each (0 = they share the processors) and waits until each listens. */
kith_error *local_workers_start(size_t count, size_t threads, struct local_workers *out) _must_check_;

/* SIGTERM, then SIGKILL after two seconds; returns when all are reaped. */
void local_workers_stop(struct local_workers *workers);
DEFINE_VALUE_CLEANUP(local_workers_stop, struct local_workers)

#endif

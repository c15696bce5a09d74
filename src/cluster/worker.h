/*
 * A worker: runs the tasks that coordinators send, and streams their rows. Tasks of many queries run side by side on
 * one runtime. A task lives as long as its coordinator's control stream; when that ends, however it ends, everything of
 * the task ends too.
 */
#ifndef KITH_CLUSTER_WORKER_H
#define KITH_CLUSTER_WORKER_H

#include "runtime/runtime.h"
#include "wire/worker_messages.h"
#include "wire/worker_status.h"

struct transport;
struct worker;

struct worker_options {
    int64_t keepalive_ms;  /* a coordinator that answers nothing for so long is given up; 0 = the setting's default */
    uint64_t memory_limit; /* of all tasks together, bytes; 0 = none */
    uint64_t without;      /* capabilities that it is to do without, as an older worker would */
};

kith_error *worker_new(struct runtime *runtime, const struct worker_options *options, struct worker **out) _must_check_;

/* Listens on HOST:PORT (port 0 = any); *out_address is where it really listens and lives as long as the worker. From a
 * fiber. */
kith_error *worker_listen(struct worker *worker, const char *address, const char **out_address) _must_check_;

/* Serves a coordinator that is already connected. The transport is the worker's from now on, also on error. */
kith_error *worker_serve(struct worker *worker, struct transport *take_transport) _must_check_;

/* What it has done so far. Any thread. */
void worker_read_status(struct worker *worker, struct worker_status *out);

/* Tasks that have not ended; for tests that nothing is left behind. */
size_t worker_live_tasks(const struct worker *worker);

/* Cancels all tasks and waits for their end. From a fiber. */
void worker_free(struct worker *worker);
DEFINE_CLEANUP(worker_free, struct worker)

#endif

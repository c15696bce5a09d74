/*
 * What the coordinator's files share. Private to them:
 *
 *   coordinator.c          the query's life: start, failure, end
 *   coordinator_control.c  the two fibers of a task's control stream
 *   coordinator_data.c     rows of a task as a stream of the head plan
 *   coordinator_promise.c  which tasks let others begin
 */
#ifndef KITH_CLUSTER_COORDINATOR_INTERNAL_H
#define KITH_CLUSTER_COORDINATOR_INTERNAL_H

#include "cluster/coordinator.h"
#include "net/grpc.h"
#include "runtime/fiber.h"
#include "runtime/mutex.h"

enum { NOT_SHARING = -1 };

/* One task as its coordinator sees it. */
struct remote_task {
    struct coordinator *coordinator;
    size_t number;
    const struct stage_task *stage_task;
    struct grpc_call *control;
    struct grpc_call *rows; /* asked for early and not opened yet; NULL otherwise */
    struct fiber *sender, *receiver;
    ptrdiff_t recipient; /* its number in the registry, or NOT_SHARING */
    bool shares_ranks;
    bool tells_end; /* on its control stream, after all bounds that it has found */

    /* Guarded by the coordinator's mutex. */
    struct wait_list news; /* the sender */
    bool being_told;       /* a bound is just being sent to it */
    uint64_t bounds_told;  /* that were sent to it */
    bool told;             /* it was sent one that fulfils the stage's promise */
    bool rows_ended;
    struct task_metrics metrics;
    uint64_t (*nodes)[METRIC_COUNT];
};

struct coordinator {
    struct boundary_source boundary;
    struct coordinator_options options;
    uint8_t query_id[16];
    int64_t started_unix_ns;
    struct filter_registry *registry; /* NULL: nothing is shared */
    size_t task_count;
    struct remote_task *tasks;
    size_t node_count; /* of a task's plan */
    bool finished;

    pthread_mutex_t mutex; /* guards what follows, and of the tasks what says so */
    bool closing;          /* the tasks are being ended: their streams' ends are no failures */
    struct wait_list held; /* tasks that let others begin */
    size_t receivers;      /* that have not ended */
    struct wait_list receivers_ended;
};

const char *remote_task_address(const struct remote_task *task);
struct grpc_channel *remote_task_channel(const struct remote_task *task);
struct task_key remote_task_key(const struct remote_task *task);

/* Bounds that rule out no row group are told rarely. */
static inline bool coordinator_shares_sparingly(const struct coordinator *coordinator)
{
    return settings_get(coordinator->options.settings, SETTING_SIBLING_TOPK) == SIBLING_TOPK_AUTO;
}

/* Something of the task has failed: cancels the query with it, unless that has been cancelled before or is ending.
 * Gives what the query has been cancelled with. NULL passes through. */
kith_error *remote_task_failed(struct remote_task *task, kith_error *take_error) _must_check_;

/* The first message of a task's control stream. */
kith_error *remote_task_send_plan(struct remote_task *task) _must_check_;

/* Fibers of a task's control stream, the first only where bounds are shared; their errors have been dealt with when
 * they return. */
kith_error *remote_task_send_bounds(void *remote_task);
kith_error *remote_task_receive(void *remote_task);
void remote_task_receiver_ended(struct remote_task *task);

/* Whether remote_task_wait_for_promise may wait. */
bool remote_task_may_wait(const struct remote_task *task);

/* Lets the tasks begin first whose row groups promise a bound that leaves this one nothing to read: until it has been
 * sent that bound, they turn out to give none, or the time set for it has passed. */
kith_error *remote_task_wait_for_promise(struct remote_task *task) _must_check_;

/* The task has told how far it is, or has given all its rows. The mutex is held. */
void remote_task_advanced_locked(struct remote_task *task);

/* Asks for the task's rows at once, unless it had better wait for others. */
kith_error *remote_task_ask_early(struct remote_task *task) _must_check_;

/* The task's rows. Asks for them, unless that has been done. */
kith_error *remote_task_open_rows(struct remote_task *task, struct schema *schema, struct metric_set *metrics,
                                  struct stream **out) _must_check_;

#endif

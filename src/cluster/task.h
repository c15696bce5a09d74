/*
 * A task on a worker: the operators of one decoded plan, their memory and filters, and who runs them. Made when the
 * plan comes, stopped when its control stream ends, freed by whoever drops the last reference: the control stream's
 * handler or an execution that is still ending. Private to the worker's files:
 *
 *   task.c          making and stopping one, its filters and metrics
 *   task_control.c  the control stream: bounds in and out, metrics out
 *   task_execute.c  running partitions and streaming their rows
 *   task_table.c    tasks by key, and waiting for one whose plan has not come yet
 *
 * Bounds that the task's Top-K finds are not queued: a flag per filter says that there is a newer one than was sent,
 * and the sender takes what is strongest when it comes to it. Received ones go to the filter's remote slot only.
 */
#ifndef KITH_CLUSTER_TASK_H
#define KITH_CLUSTER_TASK_H

#include "cluster/bound_steps.h"
#include "cluster/pace.h"
#include "cluster/run_metrics.h"
#include "net/grpc.h"
#include "runtime/mutex.h"
#include "wire/worker_messages.h"
#include "wire/worker_status.h"

struct task_filter {
    struct dynamic_filter_watcher watcher;
    struct task *task;
    const struct bound_steps *steps; /* NULL: every bound is worth telling */
    struct pace pace, others_pace;   /* of bounds that are worth telling, and of others; the sender's alone */

    /* Guarded by the task's mutex. */
    bool news;       /* a local bound that was not sent */
    bool worthwhile; /* and it passes a step that nothing did before which the coordinator knows */
    size_t passed;   /* steps that bounds pass which the coordinator knows */
};

struct task {
    struct refcount refs;
    struct task_key key;
    struct worker_tasks *tasks; /* the worker's */
    bool ended;                 /* nobody finds it any more; guarded by the mutex of `tasks` */
    struct plan_arena arena;
    struct physical_plan *plan;
    struct memory_pool *pool;
    struct cancel_token *cancel; /* below the control stream's */
    struct task_context context;
    struct operator_tree *tree;
    struct task_filter *filters; /* by the order of context.filters */
    bool share_bounds, share_ranks;
    bool others_wait; /* for what it finds, or its end */
    int64_t plan_received_unix_ns;

    pthread_mutex_t mutex;   /* guards what follows */
    struct wait_list sender; /* the control stream's sending fiber */
    struct wait_list idle;   /* waits for executions to end */
    struct wait_list bounds; /* executions that wait for bounds which were sent before they were asked for */
    uint64_t bounds_applied; /* messages */
    bool *partitions_taken;
    size_t partitions_left; /* that have not been executed to their end */
    size_t executions;
    bool stopping;
    struct bound_traffic *traffic; /* by filter */
    int64_t started_unix_ns, finished_unix_ns;
};

/* Decodes the plan and builds its operators. Ends when the running fiber's token is cancelled. */
struct worker_tasks;
kith_error *task_new(struct worker_tasks *tasks, const struct set_plan *request, struct task **out) _must_check_;
struct task *task_ref(struct task *task);
void task_unref(struct task *task);
DEFINE_CLEANUP(task_unref, struct task)

/* Ends executions that run and refuses new ones. */
void task_stop(struct task *task);
/* Waits until no execution runs. */
kith_error *task_wait_idle(struct task *task) _must_check_;

/* The coordinator knows of the bound. The mutex is held. */
kith_error *task_note_known_locked(struct task *task, size_t filter_index, const struct bound *bound) _must_check_;

/* A bound that a sibling found, and how many bytes it took to say so. */
kith_error *task_apply_bound(struct task *task, const struct bound_message *message, size_t bytes) _must_check_;

/* Adds all that the task has counted so far. */
void task_sum_metrics(struct task *task, uint64_t totals[METRIC_COUNT]);

/* The task's metrics now; `nodes` has room for all of tree->node_count and is borrowed by *out. */
void task_read_metrics(struct task *task, uint64_t (*nodes)[METRIC_COUNT], struct task_metrics *out);

const struct clock *task_clock(const struct task *task);

/* Handlers' bodies; they return when all is over. */
kith_error *task_control_serve(struct worker_tasks *tasks, struct grpc_call *call) _must_check_;
kith_error *task_execute_serve(struct worker_tasks *tasks, struct grpc_call *call) _must_check_;

/* The tasks of one worker. */
struct worker_tasks {
    struct runtime *runtime;
    struct memory_pool *pool; /* for all of them */
    struct file_cache *files; /* that they have read */
    uint64_t capabilities;    /* what coordinators were told that it can do */
    atomic_size_t live;
    int64_t started_ns;

    pthread_mutex_t mutex;    /* guards what follows */
    struct wait_list arrival; /* executions that wait for their task's plan */
    struct task **tasks;      /* that live: they are gone once the last reference is */
    size_t count, capacity;
    struct worker_status past; /* counters, and metrics of the tasks that are gone */
};
kith_error *worker_tasks_add(struct worker_tasks *tasks, struct task *task) _must_check_;
/* From here on nobody finds it. */
void worker_tasks_end(struct worker_tasks *tasks, struct task *task);
/* For the task itself, when its last reference is dropped: keeps what it has counted. */
void worker_tasks_remove(struct worker_tasks *tasks, struct task *task);
/* What all tasks have counted, those that live included. */
void worker_tasks_read_status(struct worker_tasks *tasks, struct worker_status *out);
/* The task of that key, a new reference; suspends until its plan has come, but not for ever. */
kith_error *worker_tasks_wait(struct worker_tasks *tasks, const struct task_key *key, struct task **out) _must_check_;

#endif

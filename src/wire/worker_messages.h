/*
 * What coordinator and worker say to each other (proto/kith_worker.proto), as plain structs. Field numbers of what
 * datafusion-distributed's worker.proto has too are its own; Kith's additions begin at 100 and are presence-tracked, so
 * that a peer without them is told apart from one that says 0.
 *
 * Encoding appends to a strbuf. Decoding checks size and nesting first; strings and arrays of a decoded message live in
 * the given arena.
 */
#ifndef KITH_WIRE_WORKER_MESSAGES_H
#define KITH_WIRE_WORKER_MESSAGES_H

#include "base/arena.h"
#include "base/settings.h"
#include "base/strbuf.h"
#include "expr/dynamic_filter.h"
#include "plan/metrics.h"

#define WORKER_PATH_COORDINATOR_CHANNEL "/kith.v1.WorkerService/CoordinatorChannel"
#define WORKER_PATH_EXECUTE_TASK        "/kith.v1.WorkerService/ExecuteTask"
#define WORKER_PATH_GET_WORKER_INFO     "/kith.v1.WorkerService/GetWorkerInfo"

/* Bumped when a message changes its meaning; both sides must have the same. */
enum { WORKER_PROTOCOL_VERSION = 1 };

/* What a worker can do beyond running plans: X(identifier, bit, name). A peer that lacks one is never asked for it, and
 * bits that are not here are a newer worker's, which nobody here asks for. */
#define KITH_WORKER_CAPABILITIES(X)  \
    X(TOPK_BOUNDS, 1, "topk-bounds") \
    X(TOPK_RANKS, 2, "topk-ranks")

enum worker_capability {
#define CAPABILITY_ENUM(id, bit, name) CAPABILITY_##id = (bit),
    KITH_WORKER_CAPABILITIES(CAPABILITY_ENUM)
#undef CAPABILITY_ENUM
#define CAPABILITY_OR(id, bit, name) | (bit)
        CAPABILITIES_ALL = 0 KITH_WORKER_CAPABILITIES(CAPABILITY_OR)
#undef CAPABILITY_OR
};

struct worker_info {
    const char *version; /* of the program */
    uint32_t protocol_version;
    uint64_t capabilities; /* bits of enum worker_capability */
    uint32_t processors;   /* threads that run its tasks; 0 = not said */
};
kith_error *worker_info_encode(const struct worker_info *info, struct strbuf *out) _must_check_;
kith_error *worker_info_decode(struct str bytes, struct arena *arena, struct worker_info *out) _must_check_;

struct task_key {
    uint8_t query_id[16];
    uint64_t stage;
    uint64_t task;
};
static inline bool task_key_equal(const struct task_key *a, const struct task_key *b)
{
    return memcmp(a->query_id, b->query_id, sizeof a->query_id) == 0 && a->stage == b->stage && a->task == b->task;
}

/* The bound of one dynamic filter, as found by a task or as sent to one. */
struct bound_message {
    uint64_t filter_id;
    size_t value_count;
    struct scalar *values; /* DataFusion's ScalarValue on the wire, typed NULLs included */
    int64_t found_unix_ns; /* when the task found it, by its wall clock; 0 = not said */
};

/* All ranks that a task has to tell of one dynamic filter, best first: `rows` rows of it are no worse than the values.
 */
struct rank_message {
    struct scalar *values;
    uint64_t rows;
};
struct ranks_message {
    uint64_t filter_id;
    size_t value_count; /* of each */
    size_t rank_count;  /* up to BOUND_RANKS */
    struct rank_message *ranks;
    int64_t found_unix_ns; /* when the newest of them was found; 0 = not said */
};

/* Values of a filter's first sort expression, weakest first: a bound is worth telling when it passes one of them. */
struct steps_message {
    uint64_t filter_id;
    size_t value_count;
    const struct scalar *values;
};

struct set_plan {
    struct task_key key;
    uint64_t task_count;
    struct str plan;          /* plan_codec.h */
    struct settings settings; /* sent by name; a name that the worker does not know is ignored */
    int64_t query_start_unix_ns;
    bool share_bounds; /* this task takes part in sharing */
    size_t steps_count;
    struct steps_message *steps; /* of a filter that has none, every bound is worth telling */
    bool share_ranks;            /* it reports ranks, which its bound is one of */
    bool others_wait;            /* it is to report its progress also when it has run, after all bounds */
};

enum coordinator_message_kind { COORDINATOR_SET_PLAN, COORDINATOR_APPLY_BOUND };
struct coordinator_message {
    enum coordinator_message_kind kind;
    struct set_plan set_plan;
    struct bound_message bound;
};
kith_error *coordinator_message_encode(const struct coordinator_message *message, struct strbuf *out) _must_check_;
kith_error *coordinator_message_decode(struct str bytes, struct arena *arena,
                                       struct coordinator_message *out) _must_check_;

/* Metrics of a task's nodes in pre-order; sent now and then while it runs and once at its end. Times are wall-clock. */
struct task_metrics {
    size_t node_count;
    uint64_t (*nodes)[METRIC_COUNT];
    int64_t plan_received_unix_ns, started_unix_ns, finished_unix_ns; /* 0 = not yet */
    bool final;
};

enum worker_message_kind { WORKER_METRICS, WORKER_PRODUCED_BOUND, WORKER_PRODUCED_RANKS };
struct worker_message {
    enum worker_message_kind kind;
    struct task_metrics metrics;
    struct bound_message bound;
    struct ranks_message ranks;
};
kith_error *worker_message_encode(const struct worker_message *message, struct strbuf *out) _must_check_;
kith_error *worker_message_decode(struct str bytes, struct arena *arena, struct worker_message *out) _must_check_;

struct execute_task {
    struct task_key key;
    uint64_t partition_start, partition_end; /* end exclusive */
    uint64_t bounds_before;                  /* that were sent to the task before this; it runs once they are applied */
};
kith_error *execute_task_encode(const struct execute_task *request, struct strbuf *out) _must_check_;
kith_error *execute_task_decode(struct str bytes, struct execute_task *out) _must_check_;

#endif

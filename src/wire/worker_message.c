#include "base/limits.h"
#include "wire/message_parts.h"

static kith_error *encode_metrics(const struct task_metrics *metrics, struct arena *arena, Kith__V1__TaskMetrics **out)
{
    TRY(protobuf_new(arena, &kith__v1__task_metrics__descriptor, out));
    Kith__V1__TaskMetrics *message = *out;
    TRY(ARENA_NEW_ARRAY(arena, &message->pre_order_plan_metrics, metrics->node_count));
    message->n_pre_order_plan_metrics = metrics->node_count;
    for (size_t i = 0; i < metrics->node_count; i++)
        TRY(metrics_set_encode(metrics->nodes[i], arena, &message->pre_order_plan_metrics[i]));
    message->maybe_final_case = KITH__V1__TASK_METRICS__MAYBE_FINAL_FINAL;
    message->final = metrics->final;
    message->maybe_plan_received_unix_ns_case =
        KITH__V1__TASK_METRICS__MAYBE_PLAN_RECEIVED_UNIX_NS_PLAN_RECEIVED_UNIX_NS;
    message->plan_received_unix_ns = metrics->plan_received_unix_ns;
    message->maybe_started_unix_ns_case = KITH__V1__TASK_METRICS__MAYBE_STARTED_UNIX_NS_STARTED_UNIX_NS;
    message->started_unix_ns = metrics->started_unix_ns;
    message->maybe_finished_unix_ns_case = KITH__V1__TASK_METRICS__MAYBE_FINISHED_UNIX_NS_FINISHED_UNIX_NS;
    message->finished_unix_ns = metrics->finished_unix_ns;
    return NULL;
}

kith_error *worker_message_encode(const struct worker_message *message, struct strbuf *out)
{
    Kith__V1__WorkerToCoordinatorMsg envelope;
    _cleanup_(arena_reset) struct arena arena = {0};
    kith__v1__worker_to_coordinator_msg__init(&envelope);
    if (message->kind == WORKER_METRICS) {
        envelope.inner_case = KITH__V1__WORKER_TO_COORDINATOR_MSG__INNER_TASK_METRICS;
        TRY(encode_metrics(&message->metrics, &arena, &envelope.task_metrics));
    } else if (message->kind == WORKER_PRODUCED_RANKS) {
        envelope.inner_case = KITH__V1__WORKER_TO_COORDINATOR_MSG__INNER_PRODUCED_RANKS;
        TRY(ranks_message_encode(&message->ranks, &arena, &envelope.produced_ranks));
    } else {
        envelope.inner_case = KITH__V1__WORKER_TO_COORDINATOR_MSG__INNER_PRODUCED_DYNAMIC_FILTER;
        TRY(bound_message_encode(&message->bound, &arena, &envelope.produced_dynamic_filter));
    }
    return protobuf_write(&envelope.base, out);
}

static kith_error *decode_metrics(const Kith__V1__TaskMetrics *message, struct arena *arena, struct task_metrics *out)
{
    size_t count = message->n_pre_order_plan_metrics;
    if (count > LIMIT_PLAN_OPERATORS)
        return error_new(KITH_ERROR_LIMIT, "metrics of %zu operators exceed PLAN_OPERATORS (%d)", count,
                         LIMIT_PLAN_OPERATORS);
    TRY(ARENA_NEW_ARRAY(arena, &out->nodes, count));
    out->node_count = count;
    for (size_t i = 0; i < count; i++)
        TRY(metrics_set_decode(message->pre_order_plan_metrics[i], out->nodes[i]));
    if (message->maybe_final_case != 0)
        out->final = message->final != 0;
    if (message->maybe_plan_received_unix_ns_case != 0)
        out->plan_received_unix_ns = message->plan_received_unix_ns;
    if (message->maybe_started_unix_ns_case != 0)
        out->started_unix_ns = message->started_unix_ns;
    if (message->maybe_finished_unix_ns_case != 0)
        out->finished_unix_ns = message->finished_unix_ns;
    return NULL;
}

kith_error *worker_message_decode(struct str bytes, struct arena *arena, struct worker_message *out)
{
    _cleanup_(arena_reset) struct arena scratch = {0};
    Kith__V1__WorkerToCoordinatorMsg *envelope;
    TRY(message_read(&kith__v1__worker_to_coordinator_msg__descriptor, bytes, "a message from a worker", &scratch,
                     &envelope));
    switch ((int)envelope->inner_case) {
    case KITH__V1__WORKER_TO_COORDINATOR_MSG__INNER_TASK_METRICS:
        *out = (struct worker_message){.kind = WORKER_METRICS};
        return decode_metrics(envelope->task_metrics, arena, &out->metrics);
    case KITH__V1__WORKER_TO_COORDINATOR_MSG__INNER_PRODUCED_DYNAMIC_FILTER:
        *out = (struct worker_message){.kind = WORKER_PRODUCED_BOUND};
        return bound_message_decode(envelope->produced_dynamic_filter, arena, &out->bound);
    case KITH__V1__WORKER_TO_COORDINATOR_MSG__INNER_PRODUCED_RANKS:
        *out = (struct worker_message){.kind = WORKER_PRODUCED_RANKS};
        return ranks_message_decode(envelope->produced_ranks, arena, &out->ranks);
    default:
        return error_new(KITH_ERROR_PROTOCOL, "an empty message from a worker");
    }
}

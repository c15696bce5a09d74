#include "base/limits.h"
#include "wire/message_parts.h"
#include "wire/scalar_codec.h"

enum { SETTING_TEXT_BYTES = 64 };

static kith_error *encode_setting(const struct settings *settings, size_t i, struct arena *arena,
                                  Kith__V1__Setting **out)
{
    TRY(protobuf_new(arena, &kith__v1__setting__descriptor, out));
    (*out)->name = (char *)(uintptr_t)setting_infos[i].name;
    TRY(arena_alloc(arena, SETTING_TEXT_BYTES, 1, &(*out)->value));
    settings_format(settings, (enum setting)i, (*out)->value, SETTING_TEXT_BYTES);
    return NULL;
}

/* Only those that have been set. */
static kith_error *encode_settings(const struct settings *settings, struct arena *arena, Kith__V1__SetPlanRequest *out)
{
    TRY(ARENA_NEW_ARRAY(arena, &out->settings, SETTING_COUNT));
    for (size_t i = 0; i < SETTING_COUNT; i++)
        if (settings->values[i] != setting_infos[i].default_value)
            TRY(encode_setting(settings, i, arena, &out->settings[out->n_settings++]));
    return NULL;
}

static kith_error *encode_steps(const struct steps_message *steps, struct arena *arena, Kith__V1__BoundSteps **out)
{
    TRY(protobuf_new(arena, &kith__v1__bound_steps__descriptor, out));
    (*out)->expression_id = steps->filter_id;
    TRY(ARENA_NEW_ARRAY(arena, &(*out)->values, steps->value_count));
    for (; (*out)->n_values < steps->value_count; (*out)->n_values++)
        TRY(scalar_encode(&steps->values[(*out)->n_values], arena, &(*out)->values[(*out)->n_values]));
    return NULL;
}

static kith_error *encode_set_plan(const struct set_plan *plan, struct arena *arena, Kith__V1__SetPlanRequest **out)
{
    TRY(protobuf_new(arena, &kith__v1__set_plan_request__descriptor, out));
    Kith__V1__SetPlanRequest *request = *out;
    TRY(task_key_encode(&plan->key, arena, &request->task_key));
    request->task_count = plan->task_count;
    request->plan_proto = (ProtobufCBinaryData){plan->plan.length, (uint8_t *)(uintptr_t)plan->plan.data};
    request->query_start_time_ns = (uint64_t)plan->query_start_unix_ns;
    request->maybe_share_bounds_case = KITH__V1__SET_PLAN_REQUEST__MAYBE_SHARE_BOUNDS_SHARE_BOUNDS;
    request->share_bounds = plan->share_bounds;
    request->maybe_share_ranks_case = KITH__V1__SET_PLAN_REQUEST__MAYBE_SHARE_RANKS_SHARE_RANKS;
    request->share_ranks = plan->share_ranks;
    request->maybe_others_wait_case = KITH__V1__SET_PLAN_REQUEST__MAYBE_OTHERS_WAIT_OTHERS_WAIT;
    request->others_wait = plan->others_wait;
    TRY(ARENA_NEW_ARRAY(arena, &request->bound_steps, plan->steps_count));
    for (; request->n_bound_steps < plan->steps_count; request->n_bound_steps++)
        TRY(encode_steps(&plan->steps[request->n_bound_steps], arena, &request->bound_steps[request->n_bound_steps]));
    return encode_settings(&plan->settings, arena, request);
}

kith_error *coordinator_message_encode(const struct coordinator_message *message, struct strbuf *out)
{
    Kith__V1__CoordinatorToWorkerMsg envelope;
    _cleanup_(arena_reset) struct arena arena = {0};
    kith__v1__coordinator_to_worker_msg__init(&envelope);
    if (message->kind == COORDINATOR_SET_PLAN) {
        envelope.inner_case = KITH__V1__COORDINATOR_TO_WORKER_MSG__INNER_SET_PLAN_REQUEST;
        TRY(encode_set_plan(&message->set_plan, &arena, &envelope.set_plan_request));
    } else {
        envelope.inner_case = KITH__V1__COORDINATOR_TO_WORKER_MSG__INNER_APPLY_DYNAMIC_FILTER;
        TRY(bound_message_encode(&message->bound, &arena, &envelope.apply_dynamic_filter));
    }
    return protobuf_write(&envelope.base, out);
}

static ptrdiff_t find_setting(const char *name)
{
    for (size_t i = 0; i < SETTING_COUNT; i++)
        if (strcmp(setting_infos[i].name, name) == 0)
            return (ptrdiff_t)i;
    return -1;
}

/* One that is not sent keeps its default; one that this program does not have is for newer ones. */
static kith_error *decode_settings(const Kith__V1__SetPlanRequest *request, struct settings *out)
{
    settings_init(out);
    if (request->n_settings > MESSAGE_MOST_NAMES)
        return error_new(KITH_ERROR_PROTOCOL, "a plan with %zu settings; at most %d are taken", request->n_settings,
                         MESSAGE_MOST_NAMES);
    for (size_t i = 0; i < request->n_settings; i++) {
        ptrdiff_t setting = find_setting(request->settings[i]->name);
        if (setting >= 0)
            TRY(settings_set(out, (enum setting)setting, request->settings[i]->value));
    }
    return NULL;
}

static kith_error *decode_steps(const Kith__V1__BoundSteps *message, struct arena *arena, struct steps_message *out)
{
    if (message->n_values > LIMIT_BOUND_STEPS)
        return error_new(KITH_ERROR_PROTOCOL, "%zu steps of a dynamic filter; at most BOUND_STEPS (%d) are taken",
                         message->n_values, LIMIT_BOUND_STEPS);
    struct scalar *values;
    TRY(ARENA_NEW_ARRAY(arena, &values, message->n_values));
    for (size_t i = 0; i < message->n_values; i++)
        TRY(error_wrap(scalar_decode(message->values[i], arena, &values[i]), "step %zu of a dynamic filter", i));
    *out =
        (struct steps_message){.filter_id = message->expression_id, .value_count = message->n_values, .values = values};
    return NULL;
}

static kith_error *decode_all_steps(const Kith__V1__SetPlanRequest *request, struct arena *arena, struct set_plan *out)
{
    if (request->n_bound_steps > LIMIT_DYNAMIC_FILTERS)
        return error_new(KITH_ERROR_PROTOCOL, "steps of %zu dynamic filters; a plan has at most DYNAMIC_FILTERS (%d)",
                         request->n_bound_steps, LIMIT_DYNAMIC_FILTERS);
    TRY(ARENA_NEW_ARRAY(arena, &out->steps, request->n_bound_steps));
    for (; out->steps_count < request->n_bound_steps; out->steps_count++)
        TRY(decode_steps(request->bound_steps[out->steps_count], arena, &out->steps[out->steps_count]));
    return NULL;
}

static kith_error *decode_set_plan(const Kith__V1__SetPlanRequest *request, struct arena *arena, struct set_plan *out)
{
    char *plan;
    TRY(task_key_decode(request->task_key, &out->key));
    if (request->task_count == 0 || request->task_count > LIMIT_TASKS_PER_STAGE || out->key.task >= request->task_count)
        return error_new(KITH_ERROR_PROTOCOL, "task %llu of %llu; a stage has up to TASKS_PER_STAGE (%d) tasks",
                         (unsigned long long)out->key.task, (unsigned long long)request->task_count,
                         LIMIT_TASKS_PER_STAGE);
    out->task_count = request->task_count;
    TRY(arena_string(arena, (const char *)request->plan_proto.data, request->plan_proto.len, &plan));
    out->plan = (struct str){plan, request->plan_proto.len};
    out->query_start_unix_ns = (int64_t)request->query_start_time_ns;
    out->share_bounds = request->maybe_share_bounds_case != 0 && request->share_bounds;
    out->share_ranks = request->maybe_share_ranks_case != 0 && request->share_ranks;
    out->others_wait = request->maybe_others_wait_case != 0 && request->others_wait;
    TRY(decode_all_steps(request, arena, out));
    return decode_settings(request, &out->settings);
}

kith_error *coordinator_message_decode(struct str bytes, struct arena *arena, struct coordinator_message *out)
{
    _cleanup_(arena_reset) struct arena scratch = {0};
    Kith__V1__CoordinatorToWorkerMsg *envelope;
    TRY(message_read(&kith__v1__coordinator_to_worker_msg__descriptor, bytes, "a message from the coordinator",
                     &scratch, &envelope));
    switch ((int)envelope->inner_case) {
    case KITH__V1__COORDINATOR_TO_WORKER_MSG__INNER_SET_PLAN_REQUEST:
        *out = (struct coordinator_message){.kind = COORDINATOR_SET_PLAN};
        return decode_set_plan(envelope->set_plan_request, arena, &out->set_plan);
    case KITH__V1__COORDINATOR_TO_WORKER_MSG__INNER_APPLY_DYNAMIC_FILTER:
        *out = (struct coordinator_message){.kind = COORDINATOR_APPLY_BOUND};
        return bound_message_decode(envelope->apply_dynamic_filter, arena, &out->bound);
    default:
        return error_new(KITH_ERROR_PROTOCOL, "an empty message from the coordinator");
    }
}

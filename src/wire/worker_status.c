#include "wire/worker_status.h"

#include "wire/message_parts.h"

const struct metric_info worker_counter_infos[WORKER_COUNTER_COUNT] = {
#define WORKER_COUNTER_INFO(id, name, unit, meaning) {name, METRIC_##unit, meaning},
    KITH_WORKER_COUNTERS(WORKER_COUNTER_INFO)
#undef WORKER_COUNTER_INFO
};

kith_error *worker_status_encode(const struct worker_status *status, struct strbuf *out)
{
    Kith__V1__GetWorkerStatusResponse message;
    _cleanup_(arena_reset) struct arena arena = {0};
    kith__v1__get_worker_status_response__init(&message);
    TRY(arena_string(&arena, status->version, strlen(status->version), &message.version));
    TRY(ARENA_NEW_ARRAY(&arena, &message.counters, WORKER_COUNTER_COUNT));
    message.n_counters = WORKER_COUNTER_COUNT;
    for (size_t i = 0; i < WORKER_COUNTER_COUNT; i++) {
        TRY(protobuf_new(&arena, &kith__v1__named_count__descriptor, &message.counters[i]));
        message.counters[i]->name = (char *)(uintptr_t)worker_counter_infos[i].name;
        message.counters[i]->value = status->counters[i];
    }
    TRY(metrics_set_encode(status->metrics, &arena, &message.metrics));
    return protobuf_write(&message.base, out);
}

static void decode_counter(const Kith__V1__NamedCount *message, struct worker_status *out)
{
    for (size_t i = 0; i < WORKER_COUNTER_COUNT; i++)
        if (strcmp(worker_counter_infos[i].name, message->name) == 0)
            out->counters[i] = message->value;
}

kith_error *worker_status_decode(struct str bytes, struct arena *arena, struct worker_status *out)
{
    _cleanup_(arena_reset) struct arena scratch = {0};
    Kith__V1__GetWorkerStatusResponse *message;
    char *version;
    TRY(message_read(&kith__v1__get_worker_status_response__descriptor, bytes, "a worker's counters", &scratch,
                     &message));
    if (message->n_counters > MESSAGE_MOST_NAMES)
        return error_new(KITH_ERROR_PROTOCOL, "%zu counters of a worker; at most %d are taken", message->n_counters,
                         MESSAGE_MOST_NAMES);
    TRY(arena_string(arena, message->version, strlen(message->version), &version));
    *out = (struct worker_status){.version = version};
    for (size_t i = 0; i < message->n_counters; i++)
        decode_counter(message->counters[i], out);
    return message->metrics == NULL ? NULL : metrics_set_decode(message->metrics, out->metrics);
}

kith_error *worker_status_format(const struct worker_status *status, const char *separator, struct strbuf *out)
{
    const char *before = "";
    for (size_t i = 0; i < WORKER_COUNTER_COUNT + METRIC_COUNT; i++) {
        bool own = i < WORKER_COUNTER_COUNT;
        const struct metric_info *info = own ? &worker_counter_infos[i] : &metric_infos[i - WORKER_COUNTER_COUNT];
        uint64_t value = own ? status->counters[i] : status->metrics[i - WORKER_COUNTER_COUNT];
        if (value == 0)
            continue;
        TRY(strbuf_printf(out, "%s%s=", before, info->name));
        TRY(metric_value_format(info->unit, value, out));
        before = separator;
    }
    return NULL;
}

kith_error *worker_status_write(const struct worker_status *status, const char *address, struct strbuf *out)
{
    struct json_writer json = json_writer_make(out);
    TRY(json_begin_object(&json, NULL));
    TRY(json_text(&json, "kith", status->version));
    TRY(json_text(&json, "worker", address));
    TRY(json_begin_object(&json, "counters"));
    for (size_t i = 0; i < WORKER_COUNTER_COUNT; i++)
        TRY(metric_write(&worker_counter_infos[i], status->counters[i], &json));
    TRY(json_end_object(&json));
    TRY(json_begin_object(&json, "metrics"));
    TRY(metric_values_write(status->metrics, METRIC_ZEROS_TOO, &json));
    TRY(json_end_object(&json));
    TRY(json_end_object(&json));
    return strbuf_append_text(out, "\n");
}

#include "wire/message_parts.h"

static size_t count_nonzero(const uint64_t *values)
{
    size_t count = 0;
    for (size_t i = 0; i < METRIC_COUNT; i++)
        count += values[i] != 0;
    return count;
}

static kith_error *encode_count(size_t metric, uint64_t value, struct arena *arena, Kith__V1__Metric **out)
{
    TRY(protobuf_new(arena, &kith__v1__metric__descriptor, out));
    (*out)->value_case = KITH__V1__METRIC__VALUE_COUNT;
    TRY(protobuf_new(arena, &kith__v1__named_count__descriptor, &(*out)->count));
    (*out)->count->name = (char *)(uintptr_t)metric_infos[metric].name;
    (*out)->count->value = value;
    return NULL;
}

kith_error *metrics_set_encode(const uint64_t *values, struct arena *arena, Kith__V1__MetricsSet **out)
{
    TRY(protobuf_new(arena, &kith__v1__metrics_set__descriptor, out));
    TRY(ARENA_NEW_ARRAY(arena, &(*out)->metrics, count_nonzero(values)));
    for (size_t i = 0; i < METRIC_COUNT; i++)
        if (values[i] != 0)
            TRY(encode_count(i, values[i], arena, &(*out)->metrics[(*out)->n_metrics++]));
    return NULL;
}

/* The metric of that name, or METRIC_COUNT. They come in the table's order: looked for from `next` on first. */
static size_t find_metric(const char *name, size_t next)
{
    for (size_t i = 0; i < METRIC_COUNT; i++, next++) {
        size_t metric = next % METRIC_COUNT;
        if (strcmp(metric_infos[metric].name, name) == 0)
            return metric;
    }
    return METRIC_COUNT;
}

kith_error *metrics_set_decode(const Kith__V1__MetricsSet *message, uint64_t *values)
{
    if (message->n_metrics > MESSAGE_MOST_NAMES)
        return error_new(KITH_ERROR_PROTOCOL, "%zu metrics of an operator; at most %d are taken", message->n_metrics,
                         MESSAGE_MOST_NAMES);
    size_t next = 0;
    for (size_t i = 0; i < message->n_metrics; i++) {
        const Kith__V1__Metric *metric = message->metrics[i];
        if (metric->value_case != KITH__V1__METRIC__VALUE_COUNT)
            continue;
        size_t found = find_metric(metric->count->name, next);
        if (found == METRIC_COUNT)
            continue; /* a newer worker's: nobody here could show it */
        values[found] = metric->count->value;
        next = found + 1;
    }
    return NULL;
}

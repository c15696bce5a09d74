#include "plan/metrics.h"

#include <inttypes.h>
#include <stdio.h>

const struct metric_info metric_infos[METRIC_COUNT] = {
#define METRIC_INFO(id, name, unit, meaning) {name, METRIC_##unit, meaning},
    KITH_METRICS(METRIC_INFO)
#undef METRIC_INFO
};

kith_error *metric_value_format(enum metric_unit unit, uint64_t value, struct strbuf *out)
{
    static const struct {
        uint64_t from;
        double divisor;
        const char *suffix;
    } scales[][4] = {
        [METRIC_COUNT_UNIT] = {{0, 1, ""}},
        [METRIC_BYTES] = {{UINT64_C(1) << 30, 1 << 30, " GiB"},
                          {1 << 20, 1 << 20, " MiB"},
                          {1 << 10, 1 << 10, " KiB"},
                          {0, 1, " B"}},
        [METRIC_NANOSECONDS] = {{UINT64_C(1000000000), 1e9, "s"},
                                {1000000, 1e6, "ms"},
                                {1000, 1e3, "us"},
                                {0, 1, "ns"}},
    };
    size_t i = 0;
    while (value < scales[unit][i].from)
        i++;
    if (scales[unit][i].divisor <= 1)
        return strbuf_printf(out, "%" PRIu64 "%s", value, scales[unit][i].suffix);
    return strbuf_printf(out, "%.2f%s", (double)value / scales[unit][i].divisor, scales[unit][i].suffix);
}

kith_error *metric_values_format(const uint64_t values[METRIC_COUNT], struct strbuf *out)
{
    const char *separator = "";
    for (int i = 0; i < METRIC_COUNT; i++) {
        if (values[i] == 0)
            continue;
        TRY(strbuf_printf(out, "%s%s=", separator, metric_infos[i].name));
        TRY(metric_value_format(metric_infos[i].unit, values[i], out));
        separator = ", ";
    }
    return NULL;
}

kith_error *metrics_format(const struct metric_set *metrics, struct strbuf *out)
{
    uint64_t values[METRIC_COUNT];
    metric_values_get(metrics, values);
    return metric_values_format(values, out);
}

kith_error *metric_write(const struct metric_info *info, uint64_t value, struct json_writer *json)
{
    char name[64];
    snprintf(name, sizeof name, "%s%s", info->name, info->unit == METRIC_NANOSECONDS ? "_ns" : "");
    return json_count(json, name, value);
}

kith_error *metric_values_write(const uint64_t values[METRIC_COUNT], enum metric_zeros zeros, struct json_writer *json)
{
    for (int i = 0; i < METRIC_COUNT; i++)
        if (zeros == METRIC_ZEROS_TOO || values[i] != 0)
            TRY(metric_write(&metric_infos[i], values[i], json));
    return NULL;
}

static bool is_peak(enum metric metric)
{
    return metric == METRIC_PEAK_MEMORY || metric == METRIC_BOUNDS_DELAY_MAX || metric == METRIC_LONGEST_TURN;
}

void metric_values_add(uint64_t to[METRIC_COUNT], const uint64_t from[METRIC_COUNT])
{
    for (int i = 0; i < METRIC_COUNT; i++)
        to[i] = is_peak((enum metric)i) ? MAX(to[i], from[i]) : to[i] + from[i];
}

#include "plan/metrics.h"

#include <inttypes.h>

const struct metric_info metric_infos[METRIC_COUNT] = {
#define METRIC_INFO(id, name, unit, meaning) {name, METRIC_##unit, meaning},
    KITH_METRICS(METRIC_INFO)
#undef METRIC_INFO
};

static kith_error *format_value(enum metric_unit unit, uint64_t value, struct strbuf *out)
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
        TRY(format_value(metric_infos[i].unit, values[i], out));
        separator = ", ";
    }
    return NULL;
}

kith_error *metrics_format(const struct metric_set *metrics, struct strbuf *out)
{
    uint64_t values[METRIC_COUNT];
    for (int i = 0; i < METRIC_COUNT; i++)
        values[i] = metric_get(metrics, (enum metric)i);
    return metric_values_format(values, out);
}

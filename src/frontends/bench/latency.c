#include "frontends/bench/latency.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

void latencies_reset(struct latencies *latencies)
{
    vec_reset(&latencies->ns);
}

kith_error *latencies_add(struct latencies *latencies, int64_t ns)
{
    return vec_push(&latencies->ns, ns);
}

static int compare(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

static int64_t percentile(const struct latencies *latencies, size_t percent)
{
    size_t rank = (latencies->ns.length * percent + 99) / 100;
    return latencies->ns.items[MAX(rank, (size_t)1) - 1];
}

struct latency_summary latencies_summarise(struct latencies *latencies)
{
    struct latency_summary summary = {.count = latencies->ns.length};
    if (summary.count == 0)
        return summary;
    qsort(latencies->ns.items, summary.count, sizeof *latencies->ns.items, compare);
    summary.median_ns = percentile(latencies, 50);
    summary.p95_ns = percentile(latencies, 95);
    summary.p99_ns = percentile(latencies, 99);
    summary.max_ns = latencies->ns.items[summary.count - 1];
    return summary;
}

void latency_print_head(const char *what)
{
    printf("%-34s %7s %9s %9s %9s %9s\n", what, "samples", "median", "p95", "p99", "max");
    fflush(stdout);
}

void latency_print(const char *name, const struct latency_summary *summary)
{
    printf("%-34s %7zu %9.3f %9.3f %9.3f %9.3f\n", name, summary->count, (double)summary->median_ns / 1e6,
           (double)summary->p95_ns / 1e6, (double)summary->p99_ns / 1e6, (double)summary->max_ns / 1e6);
    fflush(stdout);
}

kith_error *latency_json(const struct latency_summary *summary, struct strbuf *out)
{
    return strbuf_printf(out,
                         "\"samples\": %zu, \"median_ns\": %" PRId64 ", \"p95_ns\": %" PRId64 ", \"p99_ns\": %" PRId64
                         ", \"max_ns\": %" PRId64,
                         summary->count, summary->median_ns, summary->p95_ns, summary->p99_ns, summary->max_ns);
}

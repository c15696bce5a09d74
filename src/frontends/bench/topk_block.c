#include "frontends/bench/topk_block.h"

#include <inttypes.h>

void topk_block_add(struct topk_block *to, const struct topk_block *from)
{
    to->queries += from->queries;
    to->statement_ns += from->statement_ns;
    to->collect_ns += from->collect_ns;
    for (size_t i = 0; i < ARRAY_SIZE(to->processes); i++) {
        to->processes[i].cpu_ns += from->processes[i].cpu_ns;
        to->processes[i].peak_bytes = MAX(to->processes[i].peak_bytes, from->processes[i].peak_bytes);
    }
    metric_values_add(to->metrics, from->metrics);
#define ADD_COUNTER(field, name, unit, meaning) to->sharing.field += from->sharing.field;
    KITH_SHARING_COUNTERS(ADD_COUNTER)
#undef ADD_COUNTER
    to->useful += from->useful;
    to->effective += from->effective;
    to->least += from->least;
}

int64_t topk_block_cpu_ns(const struct topk_block *block)
{
    int64_t total = 0;
    for (size_t i = 0; i < ARRAY_SIZE(block->processes); i++)
        total += block->processes[i].cpu_ns;
    return total;
}

uint64_t topk_block_peak_bytes(const struct topk_block *block)
{
    uint64_t total = 0;
    for (size_t i = 0; i < ARRAY_SIZE(block->processes); i++)
        total += block->processes[i].peak_bytes;
    return total;
}

static kith_error *add_process(const struct topk_process *process, double queries, struct strbuf *out)
{
    TRY(strbuf_printf(out, "{\"cpu_ms\": %.4f", (double)process->cpu_ns / queries / 1e6));
    if (process->peak_bytes > 0)
        TRY(strbuf_printf(out, ", \"peak_rss_bytes\": %" PRIu64, process->peak_bytes));
    return strbuf_append_text(out, "}");
}

static kith_error *add_processes(const struct topk_block *block, size_t workers, struct strbuf *out)
{
    TRY(strbuf_append_text(out, "\"coordinator\": "));
    TRY(add_process(&block->processes[0], (double)block->queries, out));
    TRY(strbuf_append_text(out, ", \"workers\": ["));
    for (size_t i = 1; i <= workers; i++) {
        TRY(strbuf_append_text(out, i == 1 ? "" : ", "));
        TRY(add_process(&block->processes[i], (double)block->queries, out));
    }
    return strbuf_append_text(out, "], ");
}

static kith_error *add_sharing(const struct filter_registry_counters *sharing, struct strbuf *out)
{
    const char *separator = "";
    TRY(strbuf_append_text(out, "\"bounds\": {"));
#define ADD_COUNTER(field, name, unit, meaning)                                     \
    TRY(strbuf_printf(out, "%s\"%s\": %" PRIu64, separator, name, sharing->field)); \
    separator = ", ";
    KITH_SHARING_COUNTERS(ADD_COUNTER)
#undef ADD_COUNTER
    return strbuf_append_text(out, "}, ");
}

kith_error *topk_block_json(const struct topk_block *block, size_t workers, struct strbuf *out)
{
    double queries = (double)block->queries;
    TRY(strbuf_printf(out, "{\"queries\": %zu, \"statement_ms\": %.4f, \"collect_ms\": %.4f, \"cpu_ms\": %.4f, ",
                      block->queries, (double)block->statement_ns / queries / 1e6,
                      (double)block->collect_ns / queries / 1e6, (double)topk_block_cpu_ns(block) / queries / 1e6));
    TRY(add_processes(block, workers, out));
    TRY(strbuf_printf(out, "\"useful\": %zu, \"effective\": %zu, \"least\": %zu, ", block->useful, block->effective,
                      block->least));
    TRY(add_sharing(&block->sharing, out));
    TRY(strbuf_append_text(out, "\"metrics\": {"));
    const char *separator = "";
    for (int i = 0; i < METRIC_COUNT; i++) {
        if (block->metrics[i] == 0)
            continue;
        TRY(strbuf_printf(out, "%s\"%s\": %" PRIu64, separator, metric_infos[i].name, block->metrics[i]));
        separator = ", ";
    }
    return strbuf_append_text(out, "}}");
}

#include "frontends/bench/topk_report.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

struct spread {
    double median, least, most;
};

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static struct spread spread_of(double *values, size_t count)
{
    qsort(values, count, sizeof *values, compare_doubles);
    return (struct spread){
        .median = count % 2 == 1 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2,
        .least = values[0],
        .most = values[count - 1],
    };
}

enum measure { MEASURE_TIME, MEASURE_CPU, MEASURE_BYTES, MEASURES };

static double measure_block(const struct topk_block *block, enum measure measure)
{
    switch (measure) {
    case MEASURE_TIME:
        return (double)block->collect_ns / (double)block->queries;
    case MEASURE_CPU:
        return (double)block->cpu_ns / (double)block->queries;
    case MEASURE_BYTES:
        return (double)block->metrics[METRIC_BYTES_SCANNED] / (double)block->queries;
    case MEASURES:
        break;
    }
    UNREACHABLE();
}

static struct spread spread_of_blocks(const struct topk_block *blocks, size_t count, enum measure measure)
{
    double values[TOPK_MOST_PAIRS];
    for (size_t i = 0; i < count; i++)
        values[i] = measure_block(&blocks[i], measure);
    return spread_of(values, count);
}

/* Of two arms that read nothing neither has the advantage. */
static double ratio_of(double candidate, double baseline)
{
    return candidate == baseline ? 1 : candidate / baseline;
}

static struct spread spread_of_ratios(const struct topk_comparison *comparison, enum measure measure)
{
    double values[TOPK_MOST_PAIRS];
    for (size_t i = 0; i < comparison->pairs; i++)
        values[i] = ratio_of(measure_block(&comparison->candidate_blocks[i], measure),
                             measure_block(&comparison->baseline_blocks[i], measure));
    return spread_of(values, comparison->pairs);
}

static struct topk_block sum_of(const struct topk_block *blocks, size_t count)
{
    struct topk_block sum = {0};
    for (size_t i = 0; i < count; i++) {
        sum.queries += blocks[i].queries;
        sum.useful += blocks[i].useful;
        sum.effective += blocks[i].effective;
        sum.sharing.sent += blocks[i].sharing.sent;
        sum.sharing.produced += blocks[i].sharing.produced;
        sum.sharing.unique += blocks[i].sharing.unique;
        sum.sharing.bytes_received += blocks[i].sharing.bytes_received;
        sum.sharing.bytes_sent += blocks[i].sharing.bytes_sent;
        for (int j = 0; j < METRIC_COUNT; j++)
            sum.metrics[j] += blocks[i].metrics[j];
    }
    return sum;
}

void topk_report_head(const struct topk_setup *setup)
{
    printf("%zu pairs of %zu queries an arm, workers of %zu threads, %s; load before: %.1f\n"
           "Ratios are candidate / baseline: median [range] over the pairs. Times in ms a query, medians.\n\n"
           "%-11s %-23s %17s %-23s %17s %-23s %-11s %9s %13s %9s %9s %8s\n",
           setup->pairs, setup->queries, setup->threads, setup->zstd ? "zstd" : "uncompressed", setup->load, "case",
           "candidate / baseline", "time", "ratio", "CPU", "ratio", "bytes ratio", "scanned", "row groups", "effective",
           "messages", "control");
}

static void format_ratio(struct spread spread, char out[32])
{
    snprintf(out, 32, "%.3f [%.3f-%.3f]", spread.median, spread.least, spread.most);
}

static void format_times(const struct topk_comparison *comparison, enum measure measure, char out[32])
{
    snprintf(out, 32, "%.2f / %.2f",
             spread_of_blocks(comparison->candidate_blocks, comparison->pairs, measure).median / 1e6,
             spread_of_blocks(comparison->baseline_blocks, comparison->pairs, measure).median / 1e6);
}

void topk_report_line(const struct topk_comparison *comparison)
{
    char name[32], arms[64], time[32], time_ratio[32], cpu[32], cpu_ratio[32], row_groups[32], effective[32];
    const struct topk_block candidate = sum_of(comparison->candidate_blocks, comparison->pairs);
    double queries = (double)candidate.queries;
    double bytes = (double)candidate.metrics[METRIC_BYTES_SCANNED] / queries;
    double control = (double)(candidate.sharing.bytes_sent + candidate.sharing.bytes_received) / queries;
    snprintf(name, sizeof name, "%s/%zu", comparison->topk_case->query->name, comparison->topk_case->tasks);
    snprintf(arms, sizeof arms, "%s / %s", comparison->candidate->name, comparison->baseline->name);
    snprintf(row_groups, sizeof row_groups, "%.1f of %zu", (double)candidate.metrics[METRIC_ROW_GROUPS_READ] / queries,
             comparison->row_groups_there);
    snprintf(effective, sizeof effective, "%zu/%zu", candidate.effective, candidate.queries);
    format_times(comparison, MEASURE_TIME, time);
    format_times(comparison, MEASURE_CPU, cpu);
    format_ratio(spread_of_ratios(comparison, MEASURE_TIME), time_ratio);
    format_ratio(spread_of_ratios(comparison, MEASURE_CPU), cpu_ratio);
    printf("%-11s %-23s %17s %-23s %17s %-23s %11.3f %9.4f %13s %9s %9.1f %8.0f\n", name, arms, time, time_ratio, cpu,
           cpu_ratio, spread_of_ratios(comparison, MEASURE_BYTES).median, bytes / (double)comparison->bytes_there,
           row_groups, effective, (double)(candidate.sharing.sent + candidate.sharing.produced) / queries, control);
    fflush(stdout);
}

kith_error *topk_json_begin(const struct topk_setup *setup, struct strbuf *out)
{
    return strbuf_printf(out,
                         "{\"version\": \"%s\", \"unix_time\": %lld, \"processors\": %ld, \"load_before\": %.2f,\n"
                         " \"pairs\": %zu, \"queries\": %zu, \"worker_threads\": %zu, \"codec\": \"%s\",\n"
                         " \"comparisons\": [",
                         KITH_VERSION, (long long)time(NULL), sysconf(_SC_NPROCESSORS_ONLN), setup->load, setup->pairs,
                         setup->queries, setup->threads, setup->zstd ? "zstd" : "uncompressed");
}

kith_error *topk_json_block(const struct topk_block *block, struct strbuf *out)
{
    double queries = (double)block->queries;
    TRY(strbuf_printf(out,
                      "{\"queries\": %zu, \"statement_ms\": %.4f, \"collect_ms\": %.4f, \"cpu_ms\": %.4f, "
                      "\"coordinator_cpu_ms\": %.4f, \"useful\": %zu, \"effective\": %zu, ",
                      block->queries, (double)block->statement_ns / queries / 1e6,
                      (double)block->collect_ns / queries / 1e6, (double)block->cpu_ns / queries / 1e6,
                      (double)block->coordinator_cpu_ns / queries / 1e6, block->useful, block->effective));
    TRY(strbuf_printf(out,
                      "\"bounds\": {\"reported\": %" PRIu64 ", \"unique\": %" PRIu64 ", \"superseded\": %" PRIu64
                      ", \"sent\": %" PRIu64 ", \"bytes_received\": %" PRIu64 ", \"bytes_sent\": %" PRIu64
                      "}, \"metrics\": {",
                      block->sharing.produced, block->sharing.unique, block->sharing.superseded, block->sharing.sent,
                      block->sharing.bytes_received, block->sharing.bytes_sent));
    const char *separator = "";
    for (int i = 0; i < METRIC_COUNT; i++) {
        if (block->metrics[i] == 0)
            continue;
        TRY(strbuf_printf(out, "%s\"%s\": %" PRIu64, separator, metric_infos[i].name, block->metrics[i]));
        separator = ", ";
    }
    return strbuf_append_text(out, "}}");
}

static kith_error *add_blocks(const char *name, const struct topk_block *blocks, size_t count, struct strbuf *out)
{
    TRY(strbuf_printf(out, "   \"%s\": [", name));
    for (size_t i = 0; i < count; i++) {
        TRY(strbuf_append_text(out, i == 0 ? "\n    " : ",\n    "));
        TRY(topk_json_block(&blocks[i], out));
    }
    return strbuf_append_text(out, "]");
}

kith_error *topk_json_add(const struct topk_comparison *comparison, struct strbuf *out)
{
    static const char *const names[MEASURES] = {"time", "cpu", "bytes"};
    bool first = out->length > 0 && out->data[out->length - 1] == '[';
    TRY(strbuf_printf(
        out,
        "%s\n  {\"case\": \"%s/%zu\", \"candidate\": \"%s\", \"baseline\": \"%s\", \"bytes_there\": %" PRIu64
        ", \"row_groups_there\": %zu,\n   \"ratios\": {",
        first ? "" : ",", comparison->topk_case->query->name, comparison->topk_case->tasks, comparison->candidate->name,
        comparison->baseline->name, comparison->bytes_there, comparison->row_groups_there));
    for (int i = 0; i < MEASURES; i++) {
        struct spread ratio = spread_of_ratios(comparison, (enum measure)i);
        TRY(strbuf_printf(out, "%s\"%s\": {\"median\": %.4f, \"least\": %.4f, \"most\": %.4f}", i == 0 ? "" : ", ",
                          names[i], ratio.median, ratio.least, ratio.most));
    }
    TRY(strbuf_append_text(out, "},\n"));
    TRY(add_blocks("candidate_blocks", comparison->candidate_blocks, comparison->pairs, out));
    TRY(strbuf_append_text(out, ",\n"));
    TRY(add_blocks("baseline_blocks", comparison->baseline_blocks, comparison->pairs, out));
    return strbuf_append_text(out, "}");
}

kith_error *topk_json_end(struct strbuf *out)
{
    return strbuf_append_text(out, "\n]}\n");
}

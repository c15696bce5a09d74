#include "frontends/bench/topk_report.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static const char *codec_of(const struct topk_setup *setup)
{
    return setup->zstd ? "zstd" : "uncompressed";
}

void topk_report_head(const struct topk_setup *setup)
{
    const struct topk_pairing *pairing = &setup->pairing;
    printf("%zu pairs%s, each %s, of %zu queries a turn%s; workers of %zu threads, %s; load before: %.1f\n"
           "Of candidate / baseline: median [least-most] (95 %% confidence range of the median) over the pairs.\n\n"
           "%-12s %-24s %-37s %-37s %-11s ",
           pairing->pairs, pairing->precision > 0 ? " or more" : "",
           pairing->both_orders ? "A B B A or B A A B" : "A B or B A", pairing->queries,
           setup->fresh ? " in fresh processes" : "", setup->threads, codec_of(setup), setup->load, "case",
           "candidate / baseline", "time", "CPU", "bytes");
    if (setup->fresh)
        printf("%-24s ", "peak RSS, change in MiB");
    puts("effective");
}

static void format_spread(const struct spread *spread, const char *format, char out[64])
{
    int length = snprintf(out, 64, format, spread->median, spread->least, spread->most);
    if (spread->is_known)
        snprintf(out + length, 64 - (size_t)length, " (%.3f-%.3f)", spread->low, spread->high);
}

kith_error *topk_report_line(const struct topk_setup *setup, const struct topk_comparison *comparison)
{
    char name[32], arms[64], texts[TOPK_MEASURES][64], effective[32];
    struct topk_block candidate;
    topk_comparison_sum(comparison, TOPK_CANDIDATE, &candidate);
    for (int i = 0; i < TOPK_MEASURES; i++) {
        struct spread spread;
        TRY(topk_comparison_spread(comparison, (enum topk_measure)i, &spread));
        spread.is_known = spread.is_known && i <= TOPK_CPU;
        format_spread(&spread, i == TOPK_RSS ? "%+.2f [%+.2f to %+.2f]" : "%.3f [%.3f-%.3f]", texts[i]);
    }
    texts[TOPK_BYTES][strcspn(texts[TOPK_BYTES], " ")] = '\0';
    snprintf(name, sizeof name, "%s/%zu", comparison->topk_case.query->name, comparison->topk_case.tasks);
    snprintf(arms, sizeof arms, "%s / %s", comparison->arms[TOPK_CANDIDATE]->name,
             comparison->arms[TOPK_BASELINE]->name);
    snprintf(effective, sizeof effective, "%zu/%zu", candidate.effective, candidate.queries);
    printf("%-12s %-24s %-37s %-37s %-11s ", name, arms, texts[TOPK_TIME], texts[TOPK_CPU], texts[TOPK_BYTES]);
    if (setup->fresh)
        printf("%-24s ", texts[TOPK_RSS]);
    puts(comparison->facts.local_floor > 0 ? effective : "-");
    fflush(stdout);
    return NULL;
}

static kith_error *report_detail(const struct topk_comparison *comparison)
{
    static const char *const roles[] = {"coordinator", "workers"};
    char name[32], read[48];
    struct topk_block block;
    for (int side = 0; side < TOPK_SIDES; side++) {
        double ms, cpu_ms, mebibytes[ARRAY_SIZE(roles)] = {0};
        topk_comparison_sum(comparison, side, &block);
        double queries = (double)block.queries;
        TRY(topk_comparison_ms(comparison, side, TOPK_TIME, &ms));
        TRY(topk_comparison_ms(comparison, side, TOPK_CPU, &cpu_ms));
        mebibytes[0] = (double)block.processes[0].peak_bytes / (1 << 20);
        mebibytes[1] = (double)topk_block_peak_bytes(&block) / (1 << 20) - mebibytes[0];
        snprintf(name, sizeof name, "%s/%zu", comparison->topk_case.query->name, comparison->topk_case.tasks);
        snprintf(read, sizeof read, "%.1f of %zu", (double)block.metrics[METRIC_ROW_GROUPS_READ] / queries,
                 comparison->facts.row_groups_there);
        printf("%-12s %-15s %8.2f %8.2f %11.2f %9.4f %13s %7zu %9.1f %8.1f %9.0f", side == 0 ? name : "",
               comparison->arms[side]->name, ms, cpu_ms, (double)block.processes[0].cpu_ns / queries / 1e6,
               (double)block.metrics[METRIC_BYTES_SCANNED] / queries / (double)comparison->facts.bytes_there, read,
               comparison->facts.row_groups_needed, (double)block.sharing.produced / queries,
               (double)block.sharing.sent / queries,
               (double)(block.sharing.bytes_received + block.sharing.bytes_sent) / queries);
        if (mebibytes[0] > 0)
            printf(" %17.2f %8.2f", mebibytes[0], mebibytes[1]);
        putchar('\n');
    }
    return NULL;
}

kith_error *topk_report_details(const struct topk_setup *setup, struct topk_comparison *const *comparisons,
                                size_t count)
{
    bool fresh = setup->fresh;
    printf("\nA query of each arm. \"needed\": row groups that hold a row of the answer.\n\n"
           "%-12s %-15s %8s %8s %11s %9s %13s %7s %9s %8s %9s%s\n",
           "case", "arm", "ms", "CPU ms", "coordinator", "scanned", "row groups", "needed", "reported", "sent",
           "control B", fresh ? "  MiB: coordinator  workers" : "");
    for (size_t i = 0; i < count; i++)
        TRY(report_detail(comparisons[i]));
    return NULL;
}

static kith_error *add_spread(const struct topk_comparison *comparison, enum topk_measure measure, struct strbuf *out)
{
    struct spread spread;
    TRY(topk_comparison_spread(comparison, measure, &spread));
    TRY(strbuf_printf(out, "\"%s\": {\"median\": %.4f, \"least\": %.4f, \"most\": %.4f", topk_measure_names[measure],
                      spread.median, spread.least, spread.most));
    if (spread.is_known)
        TRY(strbuf_printf(out, ", \"low\": %.4f, \"high\": %.4f", spread.low, spread.high));
    return strbuf_append_text(out, "}");
}

static kith_error *add_pair_side(const char *name, const struct topk_block *block, struct strbuf *out)
{
    double queries = (double)block->queries;
    TRY(strbuf_printf(out, "\"%s\": {\"queries\": %zu, \"collect_ms\": %.4f, \"cpu_ms\": %.4f, \"bytes_scanned\": %.0f",
                      name, block->queries, (double)block->collect_ns / queries / 1e6,
                      (double)topk_block_cpu_ns(block) / queries / 1e6,
                      (double)block->metrics[METRIC_BYTES_SCANNED] / queries));
    uint64_t peak = topk_block_peak_bytes(block);
    if (peak > 0)
        TRY(strbuf_printf(out, ", \"peak_rss_bytes\": %" PRIu64, peak));
    return strbuf_append_text(out, "}");
}

static kith_error *add_comparison(const struct topk_setup *setup, const struct topk_comparison *comparison,
                                  struct strbuf *out)
{
    static const char *const names[TOPK_SIDES] = {"candidate", "baseline"};
    const struct topk_facts *facts = &comparison->facts;
    TRY(strbuf_printf(out, "\n  {\"case\": \"%s/%zu\", \"candidate\": \"%s\", \"baseline\": \"%s\",\n",
                      comparison->topk_case.query->name, comparison->topk_case.tasks,
                      comparison->arms[TOPK_CANDIDATE]->name, comparison->arms[TOPK_BASELINE]->name));
    TRY(strbuf_printf(out,
                      "   \"bytes_there\": %" PRIu64 ", \"row_groups_there\": %zu, \"row_groups_needed\": %zu, "
                      "\"local_floor_rows\": %" PRIu64 ",\n   \"ratios\": {",
                      facts->bytes_there, facts->row_groups_there, facts->row_groups_needed, facts->local_floor));
    for (int i = TOPK_TIME; i <= TOPK_BYTES; i++) {
        TRY(strbuf_append_text(out, i == TOPK_TIME ? "" : ", "));
        TRY(add_spread(comparison, (enum topk_measure)i, out));
    }
    TRY(strbuf_append_text(out, "},\n"));
    if (setup->fresh) {
        TRY(strbuf_append_text(out, "   \"differences\": {"));
        TRY(add_spread(comparison, TOPK_RSS, out));
        TRY(strbuf_append_text(out, "},\n"));
    }
    for (int side = 0; side < TOPK_SIDES; side++) {
        struct topk_block sum;
        topk_comparison_sum(comparison, side, &sum);
        TRY(strbuf_printf(out, "   \"%s_sum\": ", names[side]));
        TRY(topk_block_json(&sum, topk_case_workers(&comparison->topk_case), out));
        TRY(strbuf_append_text(out, ",\n"));
    }
    TRY(strbuf_append_text(out, "   \"pairs\": ["));
    for (size_t i = 0; i < comparison->pairs.length; i++) {
        TRY(strbuf_append_text(out, i == 0 ? "\n    {" : ",\n    {"));
        TRY(add_pair_side(names[0], &comparison->pairs.items[i].sides[0], out));
        TRY(strbuf_append_text(out, ", "));
        TRY(add_pair_side(names[1], &comparison->pairs.items[i].sides[1], out));
        TRY(strbuf_append_text(out, "}"));
    }
    return strbuf_append_text(out, "]}");
}

kith_error *topk_report_json(const struct topk_setup *setup, struct topk_comparison *const *comparisons, size_t count,
                             struct strbuf *out)
{
    TRY(strbuf_printf(out,
                      "{\"version\": \"%s\", \"unix_time\": %lld, \"processors\": %ld, \"load_before\": %.2f,\n"
                      " \"fresh_processes\": %s, \"queries_a_turn\": %zu, \"turns_a_pair\": %d, "
                      "\"worker_threads\": %zu, \"codec\": \"%s\",\n \"comparisons\": [",
                      KITH_VERSION, (long long)time(NULL), sysconf(_SC_NPROCESSORS_ONLN), setup->load,
                      setup->fresh ? "true" : "false", setup->pairing.queries, setup->pairing.both_orders ? 4 : 2,
                      setup->threads, codec_of(setup)));
    for (size_t i = 0; i < count; i++) {
        TRY(strbuf_append_text(out, i == 0 ? "" : ","));
        TRY(add_comparison(setup, comparisons[i], out));
    }
    return strbuf_append_text(out, "\n]}\n");
}

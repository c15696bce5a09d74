/*
 * What pairs of blocks say: medians and ranges of their ratios, as a table for people and as JSON for programs.
 */
#ifndef KITH_FRONTENDS_BENCH_TOPK_REPORT_H
#define KITH_FRONTENDS_BENCH_TOPK_REPORT_H

#include "frontends/bench/topk_run.h"

enum { TOPK_MOST_PAIRS = 101 };

/* An arm and the one it is compared with, run in pairs whose order alternates. */
struct topk_comparison {
    const struct topk_case *topk_case;
    const struct topk_arm *candidate, *baseline;
    uint64_t bytes_there;
    size_t row_groups_there;
    size_t pairs;
    struct topk_block candidate_blocks[TOPK_MOST_PAIRS], baseline_blocks[TOPK_MOST_PAIRS];
};

struct topk_setup {
    size_t pairs, queries, threads;
    bool zstd;
    double load; /* of the machine before the run */
};

void topk_report_head(const struct topk_setup *setup);
/* A line of the table; each is printed as soon as its pairs have run. */
void topk_report_line(const struct topk_comparison *comparison);

/* Appends. A file is begun, then gets each comparison, then is ended. */
kith_error *topk_json_begin(const struct topk_setup *setup, struct strbuf *out) _must_check_;
kith_error *topk_json_add(const struct topk_comparison *comparison, struct strbuf *out) _must_check_;
kith_error *topk_json_end(struct strbuf *out) _must_check_;
/* One block as a JSON object. */
kith_error *topk_json_block(const struct topk_block *block, struct strbuf *out) _must_check_;

#endif

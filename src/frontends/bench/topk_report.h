/*
 * What comparisons say: a line of a table for each as soon as it has run, a second table at the end, and JSON for
 * programs.
 */
#ifndef KITH_FRONTENDS_BENCH_TOPK_REPORT_H
#define KITH_FRONTENDS_BENCH_TOPK_REPORT_H

#include "frontends/bench/topk_compare.h"

struct topk_setup {
    struct topk_pairing pairing;
    size_t threads; /* of each worker */
    bool zstd, fresh;
    double load; /* of the machine before the run; -1 = not known */
};

void topk_report_head(const struct topk_setup *setup);
/* Time, CPU and memory, as ratios: what the arms cost. */
kith_error *topk_report_line(const struct topk_setup *setup, const struct topk_comparison *comparison) _must_check_;
/* How they came about: what was read and what the candidate's tasks told each other. */
kith_error *topk_report_details(const struct topk_setup *setup, struct topk_comparison *const *comparisons,
                                size_t count) _must_check_;

kith_error *topk_report_json(const struct topk_setup *setup, struct topk_comparison *const *comparisons, size_t count,
                             struct strbuf *out) _must_check_;

#endif

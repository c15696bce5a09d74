/*
 * One case of `kith bench topk`, ready to be run again and again: a session over the case's files, connected to as many
 * workers as the case has tasks, and the answer that each query must give. Every query's values are compared with it,
 * in order; a wrong one is an error. Used from one fiber.
 */
#ifndef KITH_FRONTENDS_BENCH_TOPK_RUN_H
#define KITH_FRONTENDS_BENCH_TOPK_RUN_H

#include "frontends/bench/topk_case.h"
#include "frontends/cli/local_workers.h"

struct topk_run;

struct topk_run_options {
    struct topk_case topk_case;
    struct fixture fixture; /* but for the layout, which is the case's */
    const struct local_workers *workers;
    const struct topk_setting *settings; /* of all arms, on top of their own */
    size_t setting_count;
};

/* What the options point at is borrowed and outlives the run. Writes the fixture's files if they are not there. */
kith_error *topk_run_new(const struct topk_run_options *options, struct topk_run **out) _must_check_;
void topk_run_free(struct topk_run *run);
DEFINE_CLEANUP(topk_run_free, struct topk_run)

/* What there is to read: the columns that the query names. */
uint64_t topk_run_bytes_there(const struct topk_run *run);
size_t topk_run_row_groups(const struct topk_run *run);

/* Queries one after the other, in sum. */
struct topk_block {
    size_t queries;
    int64_t statement_ns; /* from the SQL to the workers' last metrics */
    int64_t collect_ns;   /* without parsing, binding and planning */
    int64_t cpu_ns;       /* of this process and the workers */
    int64_t coordinator_cpu_ns;
    uint64_t metrics[METRIC_COUNT]; /* of all tasks */
    struct filter_registry_counters sharing;
    size_t useful;    /* queries in which a task applied a sibling's bound */
    size_t effective; /* and it ruled out row groups or pages, and the tasks looked at fewer rows than the fewest that
                         each could with its own bound alone */
};
kith_error *topk_run_block(struct topk_run *run, const struct topk_arm *arm, size_t queries,
                           struct topk_block *out) _must_check_;

/* This process and the case's workers. */
void topk_run_reset_peaks(const struct topk_run *run);
uint64_t topk_run_peak_bytes(const struct topk_run *run);

#endif

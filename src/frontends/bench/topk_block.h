/*
 * What queries of one arm took and did, in sum: plain numbers without pointers, so that a process can hand them to
 * another as they lie in memory.
 */
#ifndef KITH_FRONTENDS_BENCH_TOPK_BLOCK_H
#define KITH_FRONTENDS_BENCH_TOPK_BLOCK_H

#include "base/strbuf.h"
#include "cluster/filter_registry.h"
#include "frontends/bench/topk_case.h"
#include "plan/metrics.h"

struct topk_process {
    int64_t cpu_ns;
    uint64_t peak_bytes; /* most resident bytes; 0 unless it was asked for */
};

struct topk_block {
    size_t queries;
    int64_t statement_ns;                               /* from the SQL to the workers' last metrics */
    int64_t collect_ns;                                 /* without parsing, binding and planning */
    struct topk_process processes[1 + TOPK_MOST_TASKS]; /* the coordinator, which is this program, and each worker */
    uint64_t metrics[METRIC_COUNT];                     /* of all tasks */
    struct filter_registry_counters sharing;
    size_t useful;    /* queries in which a task applied a sibling's bound */
    size_t effective; /* and it ruled out row groups or pages, and the tasks looked at fewer rows than the fewest that
                         each could with its own bound alone */
    size_t least;     /* queries that read no row group without a row of the answer */
};

/* Peaks do not add up: the larger one stays. */
void topk_block_add(struct topk_block *to, const struct topk_block *from);

int64_t topk_block_cpu_ns(const struct topk_block *block);
uint64_t topk_block_peak_bytes(const struct topk_block *block);

/* Appends the block as a JSON object: times are a query's, counts those of all queries together. */
kith_error *topk_block_json(const struct topk_block *block, size_t workers, struct strbuf *out) _must_check_;

#endif

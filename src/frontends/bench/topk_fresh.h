/*
 * Fixed work in fresh processes. The program starts itself again with the environment variables TOPK_RESOURCE_CASE,
 * TOPK_RESOURCE_ARM and TOPK_RESOURCE_QUERIES, which have it run that one case with that one arm over new workers
 * (command_bench.c) and hand back what the queries took between resource_begin and resource_end.
 *
 * Each process, coordinator and workers, is charged with its own processor time, by its CPU clock, and its own peak
 * memory, by the system's high-water mark, which is reset where the window begins: nothing is sampled, so that no peak
 * is missed.
 */
#ifndef KITH_FRONTENDS_BENCH_TOPK_FRESH_H
#define KITH_FRONTENDS_BENCH_TOPK_FRESH_H

#include "frontends/bench/topk_compare.h"

/* What the other process hands back, as it lies in memory. */
struct topk_resources {
    struct topk_facts facts;
    struct topk_block block;
};

struct topk_fresh {
    struct topk_runner runner;
    const struct topk_case *topk_case;
    char *const *arguments; /* this program's own, ending with NULL: the other one gets the same; borrowed */
};

void topk_fresh_init(struct topk_fresh *fresh, const struct topk_case *topk_case, char *const *arguments);

/* Runs it once; blocks the thread meanwhile. What went wrong in the other process is on its standard error. */
kith_error *topk_fresh_run(const struct topk_fresh *fresh, const struct topk_arm *arm, size_t queries,
                           struct topk_resources *out) _must_check_;

/* In the other process, at its start: whether somebody waits for resources. From then on it ends with who started it.
 */
bool topk_fresh_is_awaited(void);
kith_error *topk_fresh_hand_back(const struct topk_resources *resources) _must_check_;

#endif

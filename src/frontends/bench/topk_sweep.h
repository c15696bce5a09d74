/*
 * What more tasks for the same work tell each other: the case "constant" with 1, 2, 4 … tasks, and of each the messages
 * and bytes on control streams for each improvement of the strongest bound. An improvement is told to each task that
 * did not report it once at most; a run in which that is not so is an error.
 */
#ifndef KITH_FRONTENDS_BENCH_TOPK_SWEEP_H
#define KITH_FRONTENDS_BENCH_TOPK_SWEEP_H

#include "frontends/bench/topk_run.h"

/* Runs `queries` queries with each number of tasks, prints a line for each, and appends JSON. From a fiber; `options`
 * but for the case. */
kith_error *topk_sweep(const struct topk_run_options *options, size_t most_tasks, size_t queries,
                       struct strbuf *json) _must_check_;

#endif

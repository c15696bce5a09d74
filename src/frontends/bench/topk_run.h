/*
 * One case of `kith bench topk`, ready to be run again and again: a session over the case's files, connected to as many
 * workers as the case has tasks, and the answer that each query must give. Every query's values are compared with it,
 * in order; a wrong one is an error. Used from one fiber.
 */
#ifndef KITH_FRONTENDS_BENCH_TOPK_RUN_H
#define KITH_FRONTENDS_BENCH_TOPK_RUN_H

#include "frontends/bench/topk_block.h"
#include "frontends/cli/local_workers.h"

#include <stdio.h>

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

/* What the case's tables have, and what any engine would have to read of them. */
struct topk_facts {
    uint64_t bytes_there; /* of the columns that the query names */
    size_t row_groups_there;
    size_t row_groups_needed; /* that hold a row of the answer */
    uint64_t local_floor;     /* fixture_local_floor; 0 = not known: which row groups a task has depends on sizes */
};
const struct topk_facts *topk_run_facts(const struct topk_run *run);

/* Queries one after the other, in sum. Begins and ends with all processes at rest, so that each arm is charged with
 * what its own queries leave to be done. */
kith_error *topk_run_block(struct topk_run *run, const struct topk_arm *arm, size_t queries,
                           struct topk_block *out) _must_check_;

/* Runs the query once and writes a line of JSON: case, arm, SQL, files and the rows that came, which are checked, too.
 */
kith_error *topk_run_answer(struct topk_run *run, const struct topk_arm *arm, FILE *out) _must_check_;

/* The processes, this one first; as many as there are in *count. */
void topk_run_pids(const struct topk_run *run, pid_t pids[1 + TOPK_MOST_TASKS], size_t *count);

/* Peak memory counts from here on; false where the system does not allow that. */
bool topk_run_reset_peaks(const struct topk_run *run);
void topk_run_read_peaks(const struct topk_run *run, struct topk_block *out);

#endif

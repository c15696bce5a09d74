/*
 * What `kith bench topk` runs: cases (a layout, a query, a number of tasks) and arms (settings that turn the engine's
 * ideas off, one at a time or together).
 */
#ifndef KITH_FRONTENDS_BENCH_TOPK_CASE_H
#define KITH_FRONTENDS_BENCH_TOPK_CASE_H

#include "base/strbuf.h"
#include "frontends/bench/fixture.h"
#include "frontends/session.h"

enum { TOPK_MOST_OUTPUTS = 4, TOPK_LIMIT = 100, TOPK_MOST_TASKS = 64 };

struct topk_query {
    const char *name;
    enum fixture_layout layout;
    enum fixture_column outputs[TOPK_MOST_OUTPUTS];
    size_t output_count;
    enum fixture_column key; /* the query orders by it, falling */
    bool filtered;           /* WHERE NOT excluded */
    bool shared_files;       /* a file for two tasks */
    bool all_files;          /* all of the table's files however many tasks there are: the work does not grow */
    bool embedded;           /* in this process on one thread, beside a plain C loop; "tasks" are files then */
};

struct topk_case {
    const struct topk_query *query;
    size_t tasks;
};

/* The cases of a run without --case. */
extern const struct topk_case topk_default_cases[];
extern const size_t topk_default_case_count;
const struct topk_query *topk_queries(size_t *count);

/* "pruning/2". */
kith_error *topk_case_find(const char *name, struct topk_case *out) _must_check_;

/* Files that the case reads: one a task unless they are shared or the work is constant. */
size_t topk_case_files(const struct topk_case *topk_case, const struct fixture *fixture);

/* Workers that it needs. */
size_t topk_case_workers(const struct topk_case *topk_case);

kith_error *topk_query_sql(const struct topk_query *query, struct strbuf *out) _must_check_;

struct topk_setting {
    const char *name, *value;
};

struct topk_arm {
    const char *name;
    const char *what; /* for --help and the report */
    struct topk_setting settings[8];
};

extern const struct topk_arm topk_arms[];
extern const size_t topk_arm_count;
enum { TOPK_ARM_ALL, TOPK_ARM_NO_SHARING };
/* What embedded cases are compared with: no settings but plain_loop.h. */
extern const struct topk_arm topk_loop_arm;
/* What a sweep runs: the settings under which there is most to tell. */
extern const struct topk_arm topk_sweep_arm;
kith_error *topk_arm_find(const char *name, const struct topk_arm **out) _must_check_;

/* Sets what all arms share, then what the arm changes. */
kith_error *topk_arm_apply(const struct topk_arm *arm, struct session *session) _must_check_;

#endif

/*
 * What `kith bench cancel` and `kith bench fair` run their queries in: made-up tables (fixture.h), a session for each
 * query, and workers in this very process where they are wanted. From fibers.
 */
#ifndef KITH_FRONTENDS_BENCH_BENCH_TABLES_H
#define KITH_FRONTENDS_BENCH_BENCH_TABLES_H

#include "frontends/session.h"

enum { BENCH_MOST_WORKERS = 8, BENCH_MOST_SETTINGS = 6 };

struct bench_setting {
    const char *name, *value;
};

struct bench_place {
    const char *folder; /* for the tables */
    size_t rows;        /* of the large tables */
    size_t workers;     /* 0: everything runs embedded */
    struct cluster *cluster;
    struct worker *started[BENCH_MOST_WORKERS];
    char large[512], one_row_group[512], small[512]; /* patterns of the tables' files */
};

/* Writes the tables, unless they are there: `t` of eight files with four row groups each, `one_row_group` of as many
 * rows, and `small` of a few thousand. Starts the workers. */
kith_error *bench_place_open(struct bench_place *place) _must_check_;
void bench_place_close(struct bench_place *place);
DEFINE_VALUE_CLEANUP(bench_place_close, struct bench_place)

/* Tasks that run on the workers. */
size_t bench_place_live_tasks(const struct bench_place *place);

/* A session that knows the tables and sends work to the workers, if any. */
kith_error *bench_session_new(const struct bench_place *place, const struct bench_setting *settings,
                              struct session **out) _must_check_;

/* Runs a statement and drops its rows. */
kith_error *bench_run(struct session *session, const char *sql) _must_check_;

#endif

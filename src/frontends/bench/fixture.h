/*
 * The made-up tables of the benchmarks: files whose every value follows from its place, so that what a query must give
 * can be computed without reading them. A layout says how scores lie over files and row groups:
 *
 *   pruning   each file begins with a group of high scores, then groups of rising lower ones
 *   staggered the same, but the high scores of each file are above those of the file before
 *   control   pruning with an excluded row of the highest score in every page: statistics prove nothing
 *   overlap   one group of the first file has the winners; all other groups of all files share one lower range
 *   shuffled  every group has the whole range
 *   sorted    rising from file to file and group to group
 *   skewed    the first file's groups share a range above that of all other files' groups
 *   rising    in every file the same rising groups, none of them high
 *
 * Scores are unique within a table. `val` and `payload` order rows as `score` does. Files are written once and reused.
 */
#ifndef KITH_FRONTENDS_BENCH_FIXTURE_H
#define KITH_FRONTENDS_BENCH_FIXTURE_H

#include "base/error.h"

#include <stdint.h>

enum fixture_layout {
    FIXTURE_PRUNING,
    FIXTURE_STAGGERED,
    FIXTURE_CONTROL,
    FIXTURE_OVERLAP,
    FIXTURE_SHUFFLED,
    FIXTURE_SORTED,
    FIXTURE_SKEWED,
    FIXTURE_RISING,
    FIXTURE_LAYOUTS
};

enum fixture_column {
    FIXTURE_SCORE,    /* BIGINT */
    FIXTURE_ID,       /* BIGINT: the row's number in the table */
    FIXTURE_EXCLUDED, /* BOOLEAN */
    FIXTURE_TAG,      /* INT */
    FIXTURE_VAL,      /* DOUBLE */
    FIXTURE_PAYLOAD,  /* 40 bytes of text; in the layouts overlap and shuffled only */
    FIXTURE_COLUMNS
};

enum { FIXTURE_PAYLOAD_BYTES = 40, FIXTURE_PAGE_ROWS = 20000, FIXTURE_MOST_FILES = 8 };

struct fixture {
    enum fixture_layout layout;
    size_t files, groups, group_rows; /* at most 2^24 rows in all */
    bool zstd;
    const char *folder; /* that the tables' folders lie in; borrowed */
};

struct fixture_row {
    int64_t score, id;
    double val;
    int32_t tag;
    bool excluded;
    char payload[FIXTURE_PAYLOAD_BYTES];
};

extern const char *const fixture_layout_names[FIXTURE_LAYOUTS];
extern const char *const fixture_column_names[FIXTURE_COLUMNS];

bool fixture_has_column(enum fixture_layout layout, enum fixture_column column);

/* All of it but the payload, which takes longer than the rest. */
struct fixture_row fixture_row(const struct fixture *fixture, size_t file, size_t group, size_t row);
void fixture_fill_payload(struct fixture_row *row);

/* The path of one file, or with `file` = SIZE_MAX a pattern for the first `files` ones. `out` holds 512 bytes. */
kith_error *fixture_path(const struct fixture *fixture, size_t file, size_t files, char out[512]) _must_check_;

/* Writes the files that are not there. From a fiber. */
kith_error *fixture_write(const struct fixture *fixture) _must_check_;

/* The first `files` files' best rows by falling score, without the excluded ones if `filtered`; as many as there are,
 * at most `limit`. Payloads are filled in. `out` has room for `limit`. */
size_t fixture_best_rows(const struct fixture *fixture, size_t files, bool filtered, size_t limit,
                         struct fixture_row *out);

/* The fewest rows that tasks have to look at for their own best `limit` rows, if each knew its own bound from the start
 * and only that: those of pages whose highest score is above that bound. The row groups of all files are dealt to the
 * tasks in even runs: `tasks` divides their number. */
kith_error *fixture_local_floor(const struct fixture *fixture, size_t files, size_t tasks, bool filtered, size_t limit,
                                uint64_t *out) _must_check_;

#endif

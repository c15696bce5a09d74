/*
 * The Parquet scan's parts, private to this folder:
 *   scan.c            the operator, and the stream that one partition pulls
 *   scan_plan.c       which columns are read when: keys, then filter columns, then the rest
 *   scan_morsels.c    the task's queue of row groups, in the order that tightens a bound fastest
 *   scan_row_group.c  one row group: pages ruled out, columns read for surviving rows only
 *   scan_column.c     one column of a row group
 *   scan_nan.c        learning from what is read that a float column has no NaN
 */
#ifndef KITH_EXEC_SCAN_H
#define KITH_EXEC_SCAN_H

#include "exec/operators.h"
#include "expr/eval.h"
#include "expr/pruning.h"
#include "parquet/column_reader.h"
#include "runtime/sync.h"

#include <pthread.h>

/* Columns in the order they are read. A stage's columns are read for the rows that the stages before left; then its
 * filter narrows them. Expressions are over the columns read so far, by their position in that order. */
enum scan_stage { STAGE_KEYS, STAGE_PREDICATE, STAGE_REST, STAGE_COUNT };

struct scan_plan {
    struct arena arena;
    const struct parquet_scan *scan;
    size_t column_count;
    size_t *columns;                           /* table columns, in reading order */
    bool *in_output;                           /* of each: is it in the output? */
    size_t stage_end[STAGE_COUNT];             /* columns read once the stage is done */
    struct schema *stage_schemas[STAGE_COUNT]; /* of those columns */
    const struct expr *predicate;              /* NULL = none */
    struct scan_dynamic_filter *filters;       /* the scan's, over the reading order */
    enum scan_stage *filter_stages;            /* of each: when its bounds are compared with rows */
    size_t *output;                            /* of each output column: its place in the reading order */
};

/* `output_count` is the number of scan->columns. */
kith_error *scan_plan_init(struct scan_plan *plan, const struct parquet_scan *scan, size_t output_count) _must_check_;
void scan_plan_reset(struct scan_plan *plan);

/* A row group to be read. */
struct morsel {
    uint32_t file;
    uint32_t row_group;
    bool predicate_proven; /* statistics show that every row satisfies the predicate */
    bool leads;            /* others may be waiting for its reader, who must call morsel_queue_end_lead */
    bool has_best;
    bool best_is_proven; /* not a guess, as where NaN may be */
    struct scalar best;  /* the best value of the first sort key that it can have */
};

/* How far a file has got; guarded by the queue's mutex. */
struct morsel_file {
    uint32_t left; /* row groups not taken yet */
    bool read;     /* some row group was handed out */
};

/* The partition that gets the first row group leads while it reads it. */
enum lead { LEAD_NOT_TAKEN, LEAD_TAKEN, LEAD_OVER };

/* Tells the queue of bounds: they may end what partitions wait for. */
struct bound_watcher {
    struct dynamic_filter_watcher watcher;
    struct morsel_queue *queue;
};

struct morsel_queue {
    const struct parquet_scan *scan;
    bool trust_floats; /* the setting of that name */
    struct table *table;
    struct metric_set *metrics;
    struct dynamic_filter **filters; /* scan->dynamic_filter_count of them, borrowed */
    struct bound_watcher *watchers;  /* one a filter */
    struct morsel *morsels;
    size_t count;
    size_t ordered_from;   /* from here on each is proven to be no better than the one before */
    pthread_mutex_t mutex; /* guards what follows */
    size_t next;           /* to be taken; `count` once none is left or none that is left can matter */
    struct morsel_file *files;
    enum lead lead;
    int64_t lead_until_ns;
    struct scalar lead_worst; /* the worst value of the first sort key that the leader's row group can have */
    struct wait_list followers;
};

/* Lists the row groups that are left after planning-time pruning, best first. */
kith_error *morsel_queue_init(struct morsel_queue *queue, const struct parquet_scan *scan, struct table *table,
                              struct dynamic_filter **filters, const struct settings *settings,
                              struct metric_set *metrics) _must_check_;
void morsel_queue_reset(struct morsel_queue *queue);
/* The next row group that no bound excludes now; *found is false when there is none. Suspends, for a short time at
 * most, while the leader reads a row group all of which is better than anything in the others: it is likely to give a
 * bound that makes reading them unnecessary. When a bound excludes all that is left, wherever it came from, the queue
 * ends at once for everybody. */
kith_error *morsel_queue_take(struct morsel_queue *queue, int64_t now_ns, struct morsel *out, bool *found) _must_check_;
/* The leader is through with its row group. A bound of the task ends its lead as well. */
void morsel_queue_end_lead(struct morsel_queue *queue);

/* Few writers count NaN, which lies outside of min and max and sorts as the largest value. Who knows that there is none
 * can say so. */
static inline void trust_float_statistics(struct column_statistics *statistics)
{
    statistics->may_have_nan = statistics->may_have_nan && !statistics->has_max;
}

/* Whose bound excludes the container: BOUND_ORIGINS when none does. They are asked in the order of the enumeration.
 * `filters` are the scan's, which says what they mean over its table. */
enum bound_origin bounds_exclude(const struct parquet_scan *scan, struct dynamic_filter *const *filters,
                                 const struct statistics_source *statistics);

/* Watches the values of one column chunk as they are read; if all were seen and none was NaN, the file is told at the
 * end. */
struct nan_watch {
    size_t row_group, column; /* of the file */
    bool active;
    uint64_t rows; /* seen without NaN */
};
void nan_watch_start(struct nan_watch *watch, const struct parquet_file *file, size_t row_group, size_t column);
void nan_watch_see(struct nan_watch *watch, const struct array *array);
void nan_watch_end(struct nan_watch *watch, struct parquet_file *file);

/* One column of a row group while it is read. */
struct scan_column {
    struct parquet_column_reader *reader; /* NULL: the file lacks the column */
    struct parquet_page_index *index;     /* NULL: none, or not worth reading */
    const struct data_type *wider;        /* the table's type where the file's is narrower; else NULL */
    struct array *values;                 /* of the window, where read so far */
    struct nan_watch nan_watch;           /* keys only */
};

struct scan_column_options {
    bool keep_dictionary;
    bool may_skip;                /* some rows may not be read: an index of the pages helps */
    const struct data_type *type; /* of the column in the table; borrowed until it is closed */
};

/* `chunk` is the column's index in the file. What reading counts is added to `metrics` until the column is closed. */
kith_error *scan_column_open(struct scan_column *column, struct parquet_file *file, size_t row_group, size_t chunk,
                             struct scan_column_options options, const struct settings *settings,
                             struct parquet_read_metrics *metrics) _must_check_;
/* The next `rows` rows, or those of them that are selected, in the table's type. */
kith_error *scan_column_read(struct scan_column *column, size_t rows, const struct selection *selection,
                             struct array **out) _must_check_;
void scan_column_close(struct scan_column *column);
DEFINE_VALUE_CLEANUP(scan_column_close, struct scan_column)
/* Moves what readers counted into an operator's metrics. */
void scan_flush_metrics(struct metric_set *to, struct parquet_read_metrics *from);

/* Where a row lies in the scan's table: the number of its file, and its number in the file. Places ascend as the rows
 * of the files do. */
#define SCAN_PLACE_ROWS (1ULL << 40)

static inline uint64_t scan_place(size_t file, uint64_t row)
{
    return (uint64_t)file * SCAN_PLACE_ROWS + row;
}

static inline size_t scan_place_file(uint64_t place)
{
    return (size_t)(place / SCAN_PLACE_ROWS);
}

static inline uint64_t scan_place_row(uint64_t place)
{
    return place % SCAN_PLACE_ROWS;
}

/* The scan's files, opened if no partition has done so yet. Borrowed; for operators above the scan. */
kith_error *parquet_scan_table(struct exec_operator *scan, struct table **out) _must_check_;

/* Reads one row group batch by batch. Reused by a stream for one after another. */
struct row_group_scan;
kith_error *row_group_scan_new(const struct scan_plan *plan, struct table *table, struct dynamic_filter **filters,
                               struct exec_operator *node, struct row_group_scan **out) _must_check_;
void row_group_scan_free(struct row_group_scan *scan);
DEFINE_CLEANUP(row_group_scan_free, struct row_group_scan)
kith_error *row_group_scan_open(struct row_group_scan *scan, const struct morsel *morsel) _must_check_;
/* The next batch that has rows; *out = NULL at the row group's end. */
kith_error *row_group_scan_next(struct row_group_scan *scan, struct batch **out) _must_check_;

#endif

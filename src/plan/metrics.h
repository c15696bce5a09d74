/*
 * Metrics of operators, one table: name, unit and meaning, from which EXPLAIN ANALYZE, the wire form and the reference
 * page come. In JSON a time's name ends in _ns. A set belongs to one node of one task and is added to by all its
 * partitions.
 */
#ifndef KITH_PLAN_METRICS_H
#define KITH_PLAN_METRICS_H

#include "base/json.h"
#include "base/macros.h"

#include <stdatomic.h>

enum metric_unit { METRIC_COUNT_UNIT, METRIC_BYTES, METRIC_NANOSECONDS };

/* X(identifier, name, unit, meaning). Names are sent on the wire; DataFusion's where there is one. */
#define KITH_METRICS(X)                                                                                               \
    X(OUTPUT_ROWS, "output_rows", COUNT_UNIT, "rows handed to the consumer")                                          \
    X(OUTPUT_BATCHES, "output_batches", COUNT_UNIT, "batches handed to the consumer")                                 \
    X(BATCHES_SPLIT, "batches_split", COUNT_UNIT, "slices cut from batches of more rows than batch_size")             \
    X(ELAPSED_COMPUTE, "elapsed_compute", NANOSECONDS, "time in the operator itself, its inputs not counted")         \
    X(BYTES_SCANNED, "bytes_scanned", BYTES, "read from files: page indexes, page headers and pages")                 \
    X(ROWS_SCANNED, "rows_scanned", COUNT_UNIT, "rows whose key or filter columns were decoded")                      \
    X(FILES_TOTAL, "files_total", COUNT_UNIT, "files of the scan")                                                    \
    X(FILES_PRUNED_STATISTICS, "files_pruned_statistics", COUNT_UNIT, "files passed over by their statistics")        \
    X(FILES_PRUNED_LOCAL, "files_pruned_local_bound", COUNT_UNIT, "files passed over by this task's bound")           \
    X(FILES_PRUNED_REMOTE, "files_pruned_remote_bound", COUNT_UNIT, "files passed over by a sibling's bound")         \
    X(ROW_GROUPS_TOTAL, "row_groups_total", COUNT_UNIT, "row groups of the scan")                                     \
    X(ROW_GROUPS_PRUNED_STATISTICS, "row_groups_pruned_statistics", COUNT_UNIT,                                       \
      "row groups passed over by their statistics")                                                                   \
    X(ROW_GROUPS_PRUNED_LOCAL, "row_groups_pruned_local_bound", COUNT_UNIT,                                           \
      "row groups passed over by this task's bound")                                                                  \
    X(ROW_GROUPS_PRUNED_REMOTE, "row_groups_pruned_remote_bound", COUNT_UNIT,                                         \
      "row groups that only a sibling's bound passed over")                                                           \
    X(ROW_GROUPS_KEPT_NAN, "row_groups_kept_for_nan", COUNT_UNIT,                                                     \
      "row groups that a bound would have passed over if the file said that they hold no NaN")                        \
    X(ROW_GROUPS_READ, "row_groups_read", COUNT_UNIT, "row groups that were opened and are done")                     \
    X(PAGES_PRUNED_STATISTICS, "pages_pruned_statistics", COUNT_UNIT, "page ranges passed over by the page index")    \
    X(PAGES_PRUNED_LOCAL, "pages_pruned_local_bound", COUNT_UNIT, "page ranges passed over by this task's bound")     \
    X(PAGES_PRUNED_REMOTE, "pages_pruned_remote_bound", COUNT_UNIT,                                                   \
      "page ranges that only a sibling's bound passed over")                                                          \
    X(PAGES_READ, "pages_read", COUNT_UNIT, "data pages decompressed")                                                \
    X(PAGES_SKIPPED, "pages_skipped", COUNT_UNIT, "data pages whose rows were all ruled out")                         \
    X(ROWS_PRUNED_PREDICATE, "rows_pruned_predicate", COUNT_UNIT, "decoded rows that the predicate removed")          \
    X(ROWS_PRUNED_PLANNED, "rows_pruned_planned_bound", COUNT_UNIT,                                                   \
      "decoded rows that a bound proved by statistics removed")                                                       \
    X(ROWS_PRUNED_LOCAL, "rows_pruned_local_bound", COUNT_UNIT, "decoded rows that this task's bound removed")        \
    X(ROWS_PRUNED_REMOTE, "rows_pruned_remote_bound", COUNT_UNIT, "decoded rows that only a sibling's bound removed") \
    X(DECODE_TIME, "decode_time", NANOSECONDS, "decompressing and decoding pages")                                    \
    X(ROW_REPLACEMENTS, "row_replacements", COUNT_UNIT, "rows that entered a Top-K heap")                             \
    X(BOUNDS_PRODUCED, "bounds_produced", COUNT_UNIT, "stronger bounds that this task's Top-K found")                 \
    X(BOUNDS_SENT, "bounds_sent", COUNT_UNIT, "bounds sent to the coordinator")                                       \
    X(BOUNDS_RECEIVED, "bounds_received", COUNT_UNIT, "bounds of siblings received")                                  \
    X(BOUNDS_APPLIED, "bounds_applied", COUNT_UNIT, "received bounds that were stronger than the task's own")         \
    X(BOUNDS_DELAY, "bounds_delay", NANOSECONDS, "from a sibling's finding a bound to its being applied, in sum")     \
    X(BOUNDS_DELAY_MAX, "bounds_delay_max", NANOSECONDS, "the longest of these times")                                \
    X(BOUNDS_BYTES_SENT, "bounds_bytes_sent", BYTES, "of the messages with bounds to the coordinator")                \
    X(BOUNDS_BYTES_RECEIVED, "bounds_bytes_received", BYTES, "of the messages with siblings' bounds")                 \
    X(BYTES_TRANSFERRED, "bytes_transferred", BYTES, "data read over the network")                                    \
    X(WAIT_TIME, "wait_time", NANOSECONDS, "time spent waiting for input")                                            \
    X(PEAK_MEMORY, "peak_mem_used", BYTES, "most memory reserved at once")                                            \
    X(TURNS, "turns", COUNT_UNIT, "times that a thread was given up in the operator")                                 \
    X(FORCED_YIELDS, "forced_yields", COUNT_UNIT, "of these, because the budget or the time of the turn was used up") \
    X(LONGEST_TURN, "longest_turn", NANOSECONDS, "the longest that a thread was kept until then")

enum metric {
#define METRIC_ENUM(id, name, unit, meaning) METRIC_##id,
    KITH_METRICS(METRIC_ENUM)
#undef METRIC_ENUM
        METRIC_COUNT
};

struct metric_info {
    const char *name;
    enum metric_unit unit;
    const char *meaning;
};
extern const struct metric_info metric_infos[METRIC_COUNT];

struct metric_set {
    /* Relaxed: counters that guard no other memory; read when the run is over. */
    _Atomic uint64_t values[METRIC_COUNT];
};

static inline void metric_add(struct metric_set *metrics, enum metric metric, uint64_t amount)
{
    atomic_fetch_add_explicit(&metrics->values[metric], amount, memory_order_relaxed);
}

static inline uint64_t metric_get(const struct metric_set *metrics, enum metric metric)
{
    return atomic_load_explicit(&metrics->values[metric], memory_order_relaxed);
}

static inline void metric_values_get(const struct metric_set *metrics, uint64_t out[METRIC_COUNT])
{
    for (int i = 0; i < METRIC_COUNT; i++)
        out[i] = metric_get(metrics, (enum metric)i);
}

/* "output_rows=5, elapsed_compute=1.2ms": those that are not zero, in the table's order. Appends. */
kith_error *metrics_format(const struct metric_set *metrics, struct strbuf *out) _must_check_;
kith_error *metric_values_format(const uint64_t values[METRIC_COUNT], struct strbuf *out) _must_check_;

/* What is left out of JSON of one operator: it may not even be able to count it. */
enum metric_zeros { METRIC_ZEROS_LEFT_OUT, METRIC_ZEROS_TOO };
/* Members of the object at hand. */
kith_error *metric_values_write(const uint64_t values[METRIC_COUNT], enum metric_zeros zeros,
                                struct json_writer *json) _must_check_;
/* One member: the value under the metric's name, with the unit in it where there is one. */
kith_error *metric_write(const struct metric_info *info, uint64_t value, struct json_writer *json) _must_check_;
kith_error *metric_value_format(enum metric_unit unit, uint64_t value, struct strbuf *out) _must_check_;

/* Adds what others have counted: of peaks the larger one stays. */
void metric_values_add(uint64_t to[METRIC_COUNT], const uint64_t from[METRIC_COUNT]);

#endif

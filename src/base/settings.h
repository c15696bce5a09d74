/*
 * Settings of a session, each declared once in the table below, from which SET, SHOW, the reference page and the
 * worker's handshake come. Names are DataFusion's where the meaning is the same, without its
 * `datafusion.` prefix, which is accepted in front of any name.
 *
 * Every value is an int64: a truth value, a number, a size in bytes, a time in milliseconds, or the index of a
 * word in a list of choices. So a set of settings is plain data that can be copied and sent.
 */
#ifndef KITH_BASE_SETTINGS_H
#define KITH_BASE_SETTINGS_H

#include "base/error.h"

#include <stdint.h>

enum setting_type { SETTING_BOOL, SETTING_NUMBER, SETTING_BYTES, SETTING_MILLISECONDS, SETTING_CHOICE };

enum sibling_topk { SIBLING_TOPK_OFF, SIBLING_TOPK_ON, SIBLING_TOPK_AUTO };

/* X(identifier, name, type, default, least, most, choices or NULL, documentation) */
#define KITH_SETTINGS(X)                                                                                              \
    X(TARGET_PARTITIONS, "execution.target_partitions", NUMBER, 0, 0, 1024, NULL,                                     \
      "parallel streams of an operator in one task; 0 = one a processor")                                             \
    X(BATCH_SIZE, "execution.batch_size", NUMBER, 8192, 1, 1048576, NULL, "rows of a batch at most")                  \
    X(COOPERATION, "execution.cooperation", CHOICE, KITH_COOPERATION, 0, 2, "shared,shared_with_fallback,per_stream", \
      "what batches are counted against before others get their turn: the budget of the fiber; that, or outside "     \
      "of fibers one of the stream; always one of the stream")                                                        \
    X(PARQUET_PRUNING, "execution.parquet.pruning", BOOL, 1, 0, 1, NULL, "skip row groups by their statistics")       \
    X(PARQUET_PAGE_INDEX, "execution.parquet.enable_page_index", BOOL, 1, 0, 1, NULL,                                 \
      "skip pages by the page index where a file has one")                                                            \
    X(PARQUET_PAGE_INDEX_BYTES, "execution.parquet.page_index_min_bytes", BYTES, 65536, 0, INT64_MAX, NULL,           \
      "a column chunk of fewer bytes is read without its page index, which would not pay")                            \
    X(PARQUET_PUSHDOWN_FILTERS, "execution.parquet.pushdown_filters", BOOL, 1, 0, 1, NULL,                            \
      "evaluate filters while decoding, so that other columns are decoded for surviving rows only")                   \
    X(PARQUET_REORDER_ROW_GROUPS, "execution.parquet.reorder_row_groups", BOOL, 1, 0, 1, NULL,                        \
      "read the row groups first that tighten a Top-K bound fastest")                                                 \
    X(PARQUET_VERIFY_CHECKSUMS, "execution.parquet.verify_checksums", BOOL, 0, 0, 1, NULL,                            \
      "check the CRC-32 of pages that carry one")                                                                     \
    X(PARQUET_TRUST_FLOATS, "execution.parquet.trust_float_statistics", BOOL, 0, 0, 1, NULL,                          \
      "believe that a file without counts of NaN has none: NaN sorts as the largest value")                           \
    X(DYNAMIC_FILTERS, "optimizer.enable_dynamic_filter_pushdown", BOOL, 1, 0, 1, NULL,                               \
      "let operators push filters to scans while the query runs")                                                     \
    X(TOPK_DYNAMIC_FILTERS, "optimizer.enable_topk_dynamic_filter_pushdown", BOOL, 1, 0, 1, NULL,                     \
      "let a Top-K push its bound to the scan")                                                                       \
    X(PLANNED_BOUNDS, "optimizer.enable_topk_planned_bounds", BOOL, 1, 0, 1, NULL,                                    \
      "derive a first Top-K bound from statistics before anything is read")                                           \
    X(TOPK_FETCH_ROWS, "optimizer.topk_fetch_rows", NUMBER, 1000, 0, 1000000, NULL,                                   \
      "a Top-K of no more rows reads what does not decide it for the chosen rows only; 0 = never")                    \
    X(DEFAULT_NULL_ORDERING, "sql_parser.default_null_ordering", CHOICE, 0, 0, 3,                                     \
      "nulls_max,nulls_min,nulls_first,nulls_last", "where ORDER BY puts NULL unless the query says")                 \
    X(MEMORY_LIMIT, "runtime.memory_limit", BYTES, 0, 0, INT64_MAX, NULL,                                             \
      "memory that the operators of a query may reserve; 0 = no limit")                                               \
    X(STATEMENT_TIMEOUT, "statement_timeout", MILLISECONDS, 0, 0, 2147483647, NULL,                                   \
      "a query is cancelled when so much time has passed since it was planned; 0 = never")                            \
    X(SIBLING_TOPK, "distributed.sibling_topk", CHOICE, 2, 0, 2, "off,on,auto",                                       \
      "tasks of a stage tell each other the Top-K bounds they reach; auto = those that rule out row groups at "       \
      "once, others rarely")                                                                                          \
    X(SIBLING_TOPK_RANKS, "distributed.sibling_topk_ranks", BOOL, 1, 0, 1, NULL,                                      \
      "derive bounds from what several tasks hold together")                                                          \
    X(SIBLING_TOPK_INTERVAL, "distributed.sibling_topk_interval", MILLISECONDS, 0, 0, 60000, NULL,                    \
      "a task sends and is sent bounds no more often than this; 0 = a few at once, then as many as cost little")      \
    X(SIBLING_TOPK_HEAD_START, "distributed.sibling_topk_head_start", MILLISECONDS, 250, 0, 60000, NULL,              \
      "a task that statistics expect a sibling's bound to rule out waits so long for it")                             \
    X(REMOTE_DYNAMIC_FILTERS, "distributed.remote_dynamic_filters", BOOL, 1, 0, 1, NULL,                              \
      "let dynamic filters cross between tasks; off also turns sibling_topk off")                                     \
    X(BYTES_PER_TASK, "distributed.file_scan_config_bytes_per_partition", BYTES, 16777216, 0, INT64_MAX, NULL,        \
      "a scan is spread over no more tasks than it has multiples of this")                                            \
    X(MAX_TASKS, "distributed.max_tasks_per_stage", NUMBER, 0, 0, 1000, NULL, "0 = as many as there are workers")     \
    X(COMPRESSION, "distributed.compression", CHOICE, 0, 0, 2, "lz4,zstd,none",                                       \
      "how result batches are compressed between processes")                                                          \
    X(KEEPALIVE, "distributed.keepalive", MILLISECONDS, 5000, 100, 3600000, NULL,                                     \
      "a worker that answers nothing for so long is given up")                                                        \
    X(CONNECT_TIMEOUT, "distributed.connect_timeout", MILLISECONDS, 2000, 10, 600000, NULL,                           \
      "how long to wait for a connection to a worker")                                                                \
    X(PARQUET_ROW_GROUP_ROWS, "execution.parquet.max_row_group_size", NUMBER, 1048576, 1, 1073741824, NULL,           \
      "COPY TO: rows of a row group at most")                                                                         \
    X(PARQUET_PAGE_ROWS, "execution.parquet.data_page_row_count_limit", NUMBER, 20000, 1, 1073741824, NULL,           \
      "COPY TO: rows of a page at most")                                                                              \
    X(PARQUET_COMPRESSION, "execution.parquet.compression", CHOICE, 0, 0, 2, "zstd,snappy,uncompressed",              \
      "COPY TO: how pages are compressed")

enum setting {
#define SETTING_ENUM(id, name, type, value, least, most, choices, doc) SETTING_##id,
    KITH_SETTINGS(SETTING_ENUM)
#undef SETTING_ENUM
        SETTING_COUNT
};

struct settings {
    int64_t values[SETTING_COUNT];
};

struct setting_info {
    const char *name;
    enum setting_type type;
    int64_t default_value, least, most;
    const char *choices; /* comma-separated, or NULL */
    const char *doc;
};

extern const struct setting_info setting_infos[SETTING_COUNT];

void settings_init(struct settings *settings);

/* Finds a setting by name, case and a leading `datafusion.` ignored; the error proposes the nearest. */
kith_error *setting_find(const char *name, enum setting *out) _must_check_;

/* Sets from text: true/false/on/off, numbers, sizes ("64M", "1GiB"), times ("250ms", "2s"), or a choice. */
kith_error *settings_set(struct settings *settings, enum setting setting, const char *text) _must_check_;

/* Writes the value as settings_set would accept it. `out` holds at least 64 bytes. */
void settings_format(const struct settings *settings, enum setting setting, char *out, size_t size);

static inline int64_t settings_get(const struct settings *settings, enum setting setting)
{
    return settings->values[setting];
}

#endif

/*
 * Physical plans: the operators of a query or of one stage of it, in the vocabulary of DataFusion's physical plans,
 * which is also their wire form. A tree in a plan arena, immutable once built and shared by all fibers; the state of a
 * run is in exec.
 *
 * A plan says nothing of how far a dynamic filter has got: it names filters by id, and each task makes its own.
 */
#ifndef KITH_PLAN_PHYSICAL_H
#define KITH_PLAN_PHYSICAL_H

#include "base/settings.h"
#include "plan/logical.h"

enum physical_kind {
    PHYSICAL_PARQUET_SCAN,
    PHYSICAL_FILTER,
    PHYSICAL_PROJECTION,
    PHYSICAL_SORT,                  /* with fetch: Top-K; one a partition */
    PHYSICAL_SORT_PRESERVING_MERGE, /* many sorted partitions to one */
    PHYSICAL_COALESCE_PARTITIONS,   /* many partitions to one, any order */
    PHYSICAL_UNION,                 /* the partitions of all inputs, one input's after another's */
    PHYSICAL_GLOBAL_LIMIT,          /* skip and fetch, over one partition */
    PHYSICAL_LOCAL_LIMIT,           /* fetch of each partition */
    PHYSICAL_PLACEHOLDER_ROW,       /* one row without columns */
    PHYSICAL_EMPTY,                 /* no rows */
    PHYSICAL_FETCH_COLUMNS,         /* reads columns that the scan below left out, for the rows that are left */
    PHYSICAL_NETWORK_COALESCE       /* reads a stage: partition i is task i's output */
};

/* An output column of PHYSICAL_FETCH_COLUMNS. */
struct fetched_column {
    bool from_file;
    size_t index; /* of the input's column, or of the table's */
};

/* A file of a scan, or the row groups of it whose first page begins in [range_start, range_end). */
struct scan_file {
    const char *path;
    uint64_t size;
    int64_t modified_ns;
    bool has_range;
    int64_t range_start, range_end;
};

/* A Top-K's bound as the scan sees it: its sort expressions over the table's schema. Scans that a union brings together
 * have the same filter, each with expressions of its own, of the same types and orders. */
struct scan_dynamic_filter {
    uint64_t id;
    const struct sort_expr *exprs;
    size_t count;
    /* What statistics proved at planning: K rows are no worse than this in the first expression. NULL = nothing. */
    const struct scalar *planned;
};

struct parquet_scan {
    struct schema *table_schema;
    struct table *table; /* open files when planned in this process, else NULL: opened by path */
    struct scan_file *files;
    size_t file_count;
    size_t *columns;              /* table columns of the output */
    const struct expr *predicate; /* over table_schema, or NULL; applied in full: output rows satisfy it */
    struct scan_dynamic_filter *dynamic_filters;
    size_t dynamic_filter_count;
    int64_t limit;     /* rows after the predicate that suffice, in all partitions together; -1 = none */
    bool gives_places; /* the last output column, UInt64, says where each row lies, for PHYSICAL_FETCH_COLUMNS */
};

struct physical_plan {
    enum physical_kind kind;
    struct schema *schema;
    size_t partitions; /* of the output */
    size_t input_count;
    struct physical_plan **inputs;
    union {
        struct parquet_scan scan;
        struct {
            const struct expr *predicate;
        } filter;
        struct {
            const struct expr **exprs; /* schema->field_count of them */
        } projection;
        struct {
            const struct sort_expr *exprs;
            size_t count;
            int64_t fetch;      /* -1 = all rows */
            uint64_t filter_id; /* dynamic filter that a Top-K tightens; 0 = none */
        } sort;                 /* SORT and SORT_PRESERVING_MERGE */
        struct {
            int64_t skip;
            int64_t fetch; /* -1 = all */
        } limit;           /* GLOBAL_LIMIT, LOCAL_LIMIT (skip 0), COALESCE_PARTITIONS */
        struct {
            const struct fetched_column *columns; /* schema->field_count of them; the input's last are places */
        } fetch;
        struct {
            uint32_t stage; /* number of the stage that is read */
        } network;
    };
};

/* A node over `input`, or over none where that is NULL. The schema is borrowed, all else in `arena`. */
kith_error *physical_plan_new(struct arena *arena, enum physical_kind kind, struct schema *schema, size_t partitions,
                              struct physical_plan *input, struct physical_plan **out) _must_check_;

/* Plans for one process: every scan over all its files, `target_partitions` partitions where the work is worth it. */
kith_error *physical_plan_create(struct plan_arena *arena, const struct settings *settings, size_t processors,
                                 const struct logical_plan *logical, struct physical_plan **out) _must_check_;

/* Table columns among a scan's output; places, if it gives them, come after these. */
static inline size_t scan_column_count(const struct physical_plan *scan)
{
    return scan->schema->field_count - scan->scan.gives_places;
}

/* Nodes of the tree; pre-order position numbers a node for metrics. */
size_t physical_plan_node_count(const struct physical_plan *plan);

/* One node's line in EXPLAIN, DataFusion's names: "SortExec: TopK(fetch=10), expr=[a@0 DESC], …". */
const char *physical_kind_name(enum physical_kind kind); /* "SortExec" */
kith_error *physical_plan_format_node(const struct physical_plan *node, struct strbuf *out) _must_check_;
kith_error *physical_plan_format(const struct physical_plan *plan, struct strbuf *out) _must_check_;

#endif

/*
 * A query from logical plan to rows: optimised, planned, cut into stages where there are workers and enough bytes to be
 * worth it, run, and explained. The caller pulls batches; everything the query started has ended when query_free
 * returns.
 *
 * Belongs to one fiber, except query_cancel and query_progress, which any thread may call while the query lives.
 */
#ifndef KITH_CLUSTER_QUERY_H
#define KITH_CLUSTER_QUERY_H

#include "base/settings.h"
#include "cluster/filter_registry.h"
#include "columnar/batch.h"
#include "plan/explain_options.h"
#include "plan/logical.h"
#include "plan/metrics.h"
#include "runtime/runtime.h"

struct cluster; /* workers to send stages to */
struct query;

struct query_options {
    struct runtime *runtime;
    struct settings settings; /* copied */
    struct cluster *cluster;  /* NULL: everything runs in this process */
    struct plan_arena *arena; /* the query's; outlives it */
};

/* Plans the query; nothing runs yet. `logical` is changed by the optimizer. Ends when the running fiber's token is
 * cancelled, as does all that the query does later; its statement_timeout is the caller's business (statement_timer.h).
 */
kith_error *query_new(const struct query_options *options, struct logical_plan *logical,
                      struct query **out) _must_check_;

/* Cancels what still runs, waits for its end, frees it. */
void query_free(struct query *query);
DEFINE_CLEANUP(query_free, struct query)

struct schema *query_schema(const struct query *query); /* borrowed */

/* The next batch; *out = NULL at the end. The first call starts the run. */
kith_error *query_next(struct query *query, struct batch **out) _must_check_;

/* After the end: collects the workers' last metrics. Before it: stops the run, as query_free does. Idempotent. */
kith_error *query_finish(struct query *query) _must_check_;

/* Makes query_next and whatever waits for it end with CANCELLED. */
void query_cancel(struct query *query);

/* The plan, stage by stage; with `analyze` (after query_finish) with metrics. Appends. */
kith_error *query_explain(const struct query *query, const struct explain_options *options,
                          struct strbuf *out) _must_check_;

struct query_progress {
    uint64_t row_groups_total;
    uint64_t row_groups_done; /* read or passed over */
    uint64_t rows_scanned;
    uint64_t bytes_scanned;
    uint64_t tasks; /* 1 when nothing is distributed */
};
void query_get_progress(struct query *query, struct query_progress *out);

/* For who measures, after query_finish. Tasks are numbered from 0; a query that was not distributed is one task. Its
 * operators' metrics together; false when a worker's last ones did not come. */
size_t query_task_count(const struct query *query);
bool query_task_metrics(struct query *query, size_t task, uint64_t values[METRIC_COUNT]);
/* What became of the bounds in the coordinator; false when the query shared none. */
bool query_sharing(const struct query *query, struct filter_registry_counters *out);

#endif

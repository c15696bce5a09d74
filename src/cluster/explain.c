#include "cluster/explain.h"

#include "base/alloc.h"
#include "cluster/run_metrics.h"

#include <inttypes.h>

enum { BOX_WIDTH = 50 };

static kith_error *open_box(size_t depth, const char *title, struct strbuf *out)
{
    TRY(strbuf_append_fill(out, ' ', 2 * depth));
    return strbuf_printf(out, "┌───── %s", title);
}

static kith_error *close_box(size_t depth, struct strbuf *out)
{
    TRY(strbuf_append_fill(out, ' ', 2 * depth));
    TRY(strbuf_append_text(out, "└"));
    for (int i = 0; i < BOX_WIDTH; i++)
        TRY(strbuf_append_text(out, "─"));
    return strbuf_append_text(out, "\n");
}

static kith_error *begin_line(size_t depth, struct strbuf *out)
{
    TRY(strbuf_append_fill(out, ' ', 2 * depth));
    return strbuf_append_text(out, "│ ");
}

/* The operators, one a line, as they are in `task` unless that is NULL; `nodes` are their metrics in pre-order, or
 * NULL.
 */
static kith_error *draw_nodes(const struct physical_plan *node, const struct stage_task *task, size_t depth,
                              size_t level, uint64_t (**nodes)[METRIC_COUNT], struct strbuf *out)
{
    const struct physical_plan shown = task == NULL ? *node : stage_node_in_task(node, task);
    TRY(begin_line(depth, out));
    TRY(strbuf_append_fill(out, ' ', 2 * level));
    TRY(physical_plan_format_node(&shown, out));
    if (*nodes != NULL) {
        TRY(strbuf_append_text(out, ", metrics=["));
        TRY(metric_values_format((*nodes)[0], out));
        TRY(strbuf_append_text(out, "]"));
        (*nodes)++;
    }
    TRY(strbuf_append_text(out, "\n"));
    for (size_t i = 0; i < node->input_count; i++)
        TRY(draw_nodes(node->inputs[i], task, depth, level + 1, nodes, out));
    return NULL;
}

/* Streams that scans, or other sources of rows, have together. */
static size_t source_partitions(const struct physical_plan *plan)
{
    size_t partitions = plan->input_count == 0 ? plan->partitions : 0;
    for (size_t i = 0; i < plan->input_count; i++)
        partitions += source_partitions(plan->inputs[i]);
    return partitions;
}

static uint64_t sum(uint64_t (*nodes)[METRIC_COUNT], size_t count, enum metric metric)
{
    uint64_t total = 0;
    for (size_t i = 0; i < count; i++)
        total += nodes[i][metric];
    return total;
}

/* "row groups 32 = 2 read + 0 by statistics + 30 by local bound + 0 by remote bound" */
static kith_error *format_containers(const char *what, uint64_t (*nodes)[METRIC_COUNT], size_t count,
                                     const enum metric metrics[4], struct strbuf *out)
{
    return strbuf_printf(
        out, ", %s: read=%" PRIu64 " pruned by statistics=%" PRIu64 " local bound=%" PRIu64 " remote bound=%" PRIu64,
        what, sum(nodes, count, metrics[0]), sum(nodes, count, metrics[1]), sum(nodes, count, metrics[2]),
        sum(nodes, count, metrics[3]));
}

/* What nothing but a sibling's bound could have skipped. */
static kith_error *format_spared(uint64_t (*nodes)[METRIC_COUNT], size_t count, struct strbuf *out)
{
    return strbuf_printf(
        out,
        ", remote bounds alone passed over: files=%" PRIu64 " row groups=%" PRIu64 " pages=%" PRIu64 " rows=%" PRIu64,
        sum(nodes, count, METRIC_FILES_PRUNED_REMOTE), sum(nodes, count, METRIC_ROW_GROUPS_PRUNED_REMOTE),
        sum(nodes, count, METRIC_PAGES_PRUNED_REMOTE), sum(nodes, count, METRIC_ROWS_PRUNED_REMOTE));
}

static kith_error *format_bounds(uint64_t (*nodes)[METRIC_COUNT], size_t count, struct strbuf *out)
{
    uint64_t applied = sum(nodes, count, METRIC_BOUNDS_APPLIED);
    if (sum(nodes, count, METRIC_BOUNDS_PRODUCED) == 0 && sum(nodes, count, METRIC_BOUNDS_RECEIVED) == 0)
        return NULL;
    TRY(strbuf_printf(out, ", bounds: produced=%" PRIu64 " sent=%" PRIu64 " received=%" PRIu64 " applied=%" PRIu64,
                      sum(nodes, count, METRIC_BOUNDS_PRODUCED), sum(nodes, count, METRIC_BOUNDS_SENT),
                      sum(nodes, count, METRIC_BOUNDS_RECEIVED), applied));
    if (applied > 0)
        TRY(strbuf_printf(out, " after %.3fms (%.3fms at most)",
                          (double)sum(nodes, count, METRIC_BOUNDS_DELAY) / (double)applied / 1e6,
                          (double)sum(nodes, count, METRIC_BOUNDS_DELAY_MAX) / 1e6));
    return format_spared(nodes, count, out);
}

/* What a task has read and what it was spared. */
static kith_error *format_task(uint64_t (*nodes)[METRIC_COUNT], size_t count, struct strbuf *out)
{
    static const enum metric row_groups[] = {METRIC_ROW_GROUPS_READ, METRIC_ROW_GROUPS_PRUNED_STATISTICS,
                                             METRIC_ROW_GROUPS_PRUNED_LOCAL, METRIC_ROW_GROUPS_PRUNED_REMOTE};
    static const enum metric pages[] = {METRIC_PAGES_READ, METRIC_PAGES_PRUNED_STATISTICS, METRIC_PAGES_PRUNED_LOCAL,
                                        METRIC_PAGES_PRUNED_REMOTE};
    TRY(strbuf_printf(out, "output_rows=%" PRIu64 ", rows_scanned=%" PRIu64 ", bytes_scanned=%" PRIu64,
                      nodes[0][METRIC_OUTPUT_ROWS], sum(nodes, count, METRIC_ROWS_SCANNED),
                      sum(nodes, count, METRIC_BYTES_SCANNED)));
    TRY(format_containers("row groups", nodes, count, row_groups, out));
    TRY(format_containers("pages", nodes, count, pages, out));
    return format_bounds(nodes, count, out);
}

static kith_error *format_times(const struct task_report *report, struct strbuf *out)
{
    if (report->started_unix_ns == 0 || report->finished_unix_ns < report->started_unix_ns)
        return NULL;
    return strbuf_printf(out, ", started=+%.3fms, time=%.3fms",
                         (double)(report->started_unix_ns - report->plan_received_unix_ns) / 1e6,
                         (double)(report->finished_unix_ns - report->started_unix_ns) / 1e6);
}

static kith_error *draw_task(const struct explained_run *run, size_t task, const struct task_report *report,
                             uint64_t (*nodes)[METRIC_COUNT], size_t count, bool operators, struct strbuf *out)
{
    TRY(begin_line(1, out));
    TRY(strbuf_printf(out, "t%zu worker=%s: ", task, report->worker));
    TRY(format_task(nodes, count, out));
    TRY(format_times(report, out));
    TRY(strbuf_append_text(out, report->complete ? "\n" : ", the worker's last metrics did not come\n"));
    return operators ? draw_nodes(run->stages->stage, &run->stages->tasks[task], 1, 2, &nodes, out) : NULL;
}

static kith_error *draw_stage(const struct explained_run *run, bool every_task, struct strbuf *out)
{
    const struct stage_plan *stages = run->stages;
    size_t count = physical_plan_node_count(stages->stage), tasks = stages->task_count;
    _cleanup_free_ uint64_t(*totals)[METRIC_COUNT] = NULL;
    _cleanup_free_ uint64_t(*nodes)[METRIC_COUNT] = NULL;
    _cleanup_free_ struct task_report *reports = NULL;
    TRY(NEW_ARRAY(&totals, count));
    TRY(NEW_ARRAY(&nodes, count * tasks));
    TRY(NEW_ARRAY(&reports, tasks));
    for (size_t i = 0; i < tasks; i++) {
        coordinator_read_task(run->coordinator, i, &reports[i], nodes + i * count);
        run_metrics_add(totals, nodes + i * count, count);
    }
    TRY(open_box(1, "Stage 1", out));
    TRY(strbuf_printf(out, " ── tasks=%zu, partitions=%zu\n", tasks, source_partitions(stages->stage)));
    uint64_t(*next)[METRIC_COUNT] = totals;
    TRY(draw_nodes(stages->stage, NULL, 1, 0, &next, out));
    for (size_t i = 0; i < tasks; i++)
        TRY(draw_task(run, i, &reports[i], nodes + i * count, count, every_task, out));
    return close_box(1, out);
}

static kith_error *draw_sharing(const struct explained_run *run, struct strbuf *out)
{
    struct filter_registry_counters counters;
    if (!coordinator_sharing(run->coordinator, &counters))
        return NULL;
    TRY(begin_line(0, out));
    const char *separator = "bounds: ";
#define DRAW_COUNTER(field, name, unit, meaning)                               \
    TRY(strbuf_printf(out, "%s" name "=%" PRIu64, separator, counters.field)); \
    separator = ", ";
    KITH_SHARING_COUNTERS(DRAW_COUNTER)
#undef DRAW_COUNTER
    return strbuf_append_text(out, "\n");
}

static kith_error *draw_own_nodes(const struct explained_run *run, uint64_t (*nodes)[METRIC_COUNT], struct strbuf *out)
{
    run_metrics_read(run->tree, run->context, NULL, nodes);
    return draw_nodes(run->plan, NULL, 0, 0, &nodes, out);
}

static kith_error *draw_single(const struct explained_run *run, uint64_t (*nodes)[METRIC_COUNT], struct strbuf *out)
{
    TRY(open_box(0, "Stage 1", out));
    TRY(strbuf_printf(out, " ── tasks=1, partitions=%zu\n", source_partitions(run->plan)));
    TRY(draw_own_nodes(run, nodes, out));
    TRY(begin_line(0, out));
    TRY(strbuf_append_text(out, "t0 in this process: "));
    TRY(format_task(nodes, run->tree->node_count, out));
    TRY(strbuf_append_text(out, "\n"));
    return close_box(0, out);
}

static kith_error *draw_head(const struct explained_run *run, uint64_t (*nodes)[METRIC_COUNT], struct strbuf *out)
{
    TRY(open_box(0, "Head", out));
    TRY(strbuf_append_text(out, " ── in this process\n"));
    TRY(draw_own_nodes(run, nodes, out));
    TRY(draw_sharing(run, out));
    return close_box(0, out);
}

kith_error *explain_run(const struct explained_run *run, bool every_task, struct strbuf *out)
{
    _cleanup_free_ uint64_t(*nodes)[METRIC_COUNT] = NULL;
    TRY(NEW_ARRAY(&nodes, run->tree->node_count));
    if (run->stages == NULL) {
        TRY(draw_single(run, nodes, out));
    } else {
        TRY(draw_head(run, nodes, out));
        TRY(draw_stage(run, every_task, out));
    }
    return strbuf_printf(out, "Total time: %.3f ms\n", (double)run->elapsed_ns / 1e6);
}

/* A line for each scan in which the task has files; one at least. */
static kith_error *draw_shares(const struct stage_task *task, size_t number, const char *worker, struct strbuf *out)
{
    bool drawn = false;
    for (size_t i = 0; i < task->scan_count; i++) {
        const struct physical_plan *scan = task->scans[i].of_task;
        bool is_last_chance = !drawn && i + 1 == task->scan_count;
        if (scan->scan.file_count == 0 && !is_last_chance)
            continue;
        TRY(begin_line(1, out));
        TRY(strbuf_printf(out, "t%zu worker=%s: ", number, worker));
        TRY(physical_plan_format_node(scan, out));
        TRY(strbuf_append_text(out, "\n"));
        drawn = true;
    }
    return NULL;
}

kith_error *explain_plan(const struct explained_run *run, struct strbuf *out)
{
    const struct stage_plan *stages = run->stages;
    uint64_t(*none)[METRIC_COUNT] = NULL;
    if (stages == NULL)
        return physical_plan_format(run->plan, out);
    TRY(open_box(0, "Head ── in this process\n", out));
    TRY(draw_nodes(run->plan, NULL, 0, 0, &none, out));
    TRY(close_box(0, out));
    TRY(open_box(1, "Stage 1", out));
    TRY(strbuf_printf(out, " ── tasks=%zu, partitions=%zu\n", stages->task_count, source_partitions(stages->stage)));
    TRY(draw_nodes(stages->stage, NULL, 1, 0, &none, out));
    for (size_t i = 0; i < stages->task_count; i++)
        TRY(draw_shares(&stages->tasks[i], i, cluster_worker_address(run->cluster, i), out));
    return close_box(1, out);
}

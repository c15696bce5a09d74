#include "base/alloc.h"
#include "cluster/explain.h"
#include "cluster/run_metrics.h"

struct document {
    const struct explained_run *run;
    bool analyzed;
    struct json_writer json;
};

/* An operator as it is in `task`, unless that is NULL. `nodes` are the operators' metrics in pre-order, moved on past
 * those written; NULL when nothing has run. */
static kith_error *write_operator(struct document *document, const char *key, const struct physical_plan *node,
                                  const struct stage_task *task, uint64_t (**nodes)[METRIC_COUNT])
{
    struct json_writer *json = &document->json;
    const struct physical_plan shown = task == NULL ? *node : stage_node_in_task(node, task);
    _cleanup_(strbuf_reset) struct strbuf description = {0};
    TRY(physical_plan_format_node(&shown, &description));
    TRY(json_begin_object(json, key));
    TRY(json_text(json, "operator", physical_kind_name(node->kind)));
    TRY(json_text(json, "description", strbuf_text(&description)));
    TRY(json_count(json, "partitions", node->partitions));
    if (*nodes != NULL) {
        TRY(json_begin_object(json, "metrics"));
        TRY(metric_values_write((*nodes)[0], METRIC_ZEROS_LEFT_OUT, json));
        TRY(json_end_object(json));
        (*nodes)++;
    }
    TRY(json_begin_array(json, "inputs"));
    for (size_t i = 0; i < node->input_count; i++)
        TRY(write_operator(document, NULL, node->inputs[i], task, nodes));
    TRY(json_end_array(json));
    return json_end_object(json);
}

/* All operators together. */
static kith_error *write_totals(struct document *document, uint64_t (*nodes)[METRIC_COUNT], size_t count)
{
    uint64_t totals[METRIC_COUNT] = {0};
    for (size_t i = 0; i < count; i++)
        metric_values_add(totals, nodes[i]);
    TRY(json_begin_object(&document->json, "metrics"));
    TRY(metric_values_write(totals, METRIC_ZEROS_TOO, &document->json));
    return json_end_object(&document->json);
}

static kith_error *write_plan_and_metrics(struct document *document, const struct physical_plan *plan,
                                          const struct stage_task *task, uint64_t (*nodes)[METRIC_COUNT])
{
    if (nodes != NULL)
        TRY(write_totals(document, nodes, physical_plan_node_count(plan)));
    return write_operator(document, "plan", plan, task, &nodes);
}

static kith_error *begin_stage(struct document *document, uint64_t number)
{
    TRY(json_begin_object(&document->json, NULL));
    TRY(json_count(&document->json, "stage", number));
    return json_begin_array(&document->json, "tasks");
}

static kith_error *end_stage(struct document *document)
{
    TRY(json_end_array(&document->json));
    return json_end_object(&document->json);
}

/* What runs in this process: the head, or all of it. */
static kith_error *write_own_stage(struct document *document)
{
    const struct explained_run *run = document->run;
    _cleanup_free_ uint64_t(*nodes)[METRIC_COUNT] = NULL;
    if (document->analyzed) {
        TRY(NEW_ARRAY(&nodes, run->tree->node_count));
        run_metrics_read(run->tree, run->context, NULL, nodes);
    }
    TRY(begin_stage(document, 0));
    TRY(json_begin_object(&document->json, NULL));
    TRY(json_count(&document->json, "task", 0));
    TRY(write_plan_and_metrics(document, run->plan, NULL, nodes));
    TRY(json_end_object(&document->json));
    return end_stage(document);
}

static kith_error *write_report(struct document *document, const struct task_report *report)
{
    TRY(json_bool(&document->json, "complete", report->complete));
    if (report->plan_received_unix_ns != 0)
        TRY(json_integer(&document->json, "plan_received_unix_ns", report->plan_received_unix_ns));
    if (report->started_unix_ns != 0)
        TRY(json_integer(&document->json, "started_unix_ns", report->started_unix_ns));
    if (report->finished_unix_ns != 0)
        TRY(json_integer(&document->json, "finished_unix_ns", report->finished_unix_ns));
    return NULL;
}

static kith_error *write_task(struct document *document, size_t task)
{
    const struct explained_run *run = document->run;
    const struct physical_plan *plan = run->stages->stage;
    _cleanup_free_ uint64_t(*nodes)[METRIC_COUNT] = NULL;
    struct task_report report;
    TRY(NEW_ARRAY(&nodes, physical_plan_node_count(plan)));
    coordinator_read_task(run->coordinator, task, &report, nodes);
    TRY(json_begin_object(&document->json, NULL));
    TRY(json_count(&document->json, "task", task));
    TRY(json_text(&document->json, "worker", report.worker));
    TRY(json_bool(&document->json, "shares_bounds", report.shares_bounds));
    if (document->analyzed)
        TRY(write_report(document, &report));
    TRY(write_plan_and_metrics(document, plan, &run->stages->tasks[task], document->analyzed ? nodes : NULL));
    return json_end_object(&document->json);
}

static kith_error *write_worker_stage(struct document *document)
{
    TRY(begin_stage(document, FIRST_STAGE));
    for (size_t i = 0; i < document->run->stages->task_count; i++)
        TRY(write_task(document, i));
    return end_stage(document);
}

static kith_error *write_sharing(struct document *document)
{
    struct filter_registry_counters counters;
    if (document->run->stages == NULL || !coordinator_sharing(document->run->coordinator, &counters))
        return NULL;
    TRY(json_begin_object(&document->json, "sharing"));
#define WRITE_COUNTER(field, name, unit, meaning) TRY(json_count(&document->json, name, counters.field));
    KITH_SHARING_COUNTERS(WRITE_COUNTER)
#undef WRITE_COUNTER
    return json_end_object(&document->json);
}

kith_error *explain_json(const struct explained_run *run, bool analyzed, const char *logical, struct strbuf *out)
{
    struct document document = {.run = run, .analyzed = analyzed, .json = json_writer_make(out)};
    TRY(json_begin_object(&document.json, NULL));
    TRY(json_text(&document.json, "kith", KITH_VERSION));
    if (logical != NULL)
        TRY(json_text(&document.json, "logical_plan", logical));
    if (analyzed) {
        TRY(json_integer(&document.json, "elapsed_ns", run->elapsed_ns));
        TRY(write_sharing(&document));
    }
    TRY(json_begin_array(&document.json, "stages"));
    TRY(write_own_stage(&document));
    if (run->stages != NULL)
        TRY(write_worker_stage(&document));
    TRY(json_end_array(&document.json));
    TRY(json_end_object(&document.json));
    return strbuf_append_text(out, "\n");
}

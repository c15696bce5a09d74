#include "exec/operator.h"

#include "base/clock.h"
#include "exec/operators.h"
#include "runtime/cancel.h"

/* The one place where a plan node's kind chooses its operator. */
static kith_error *make_operator(enum physical_kind kind, struct exec_operator **out)
{
    switch (kind) {
    case PHYSICAL_PARQUET_SCAN:
        return parquet_scan_operator_new(out);
    case PHYSICAL_FILTER:
        return filter_operator_new(out);
    case PHYSICAL_PROJECTION:
        return projection_operator_new(out);
    case PHYSICAL_SORT:
        return sort_operator_new(out);
    case PHYSICAL_SORT_PRESERVING_MERGE:
        return merge_operator_new(out);
    case PHYSICAL_COALESCE_PARTITIONS:
        return coalesce_operator_new(out);
    case PHYSICAL_UNION:
        return union_operator_new(out);
    case PHYSICAL_GLOBAL_LIMIT:
    case PHYSICAL_LOCAL_LIMIT:
        return limit_operator_new(out);
    case PHYSICAL_PLACEHOLDER_ROW:
    case PHYSICAL_EMPTY:
        return row_operator_new(out);
    case PHYSICAL_FETCH_COLUMNS:
        return fetch_operator_new(out);
    case PHYSICAL_NETWORK_COALESCE:
        return network_operator_new(out);
    }
    UNREACHABLE();
}

static void free_operator(struct exec_operator *node)
{
    struct exec_operator **inputs = node->inputs;
    size_t count = inputs == NULL ? 0 : node->plan->input_count;
    node->ops->free(node);
    for (size_t i = 0; i < count; i++)
        if (inputs[i] != NULL)
            free_operator(inputs[i]);
    free(inputs);
}
DEFINE_CLEANUP(free_operator, struct exec_operator)

static kith_error *build(const struct physical_plan *plan, struct task_context *context,
                         struct metric_set **next_metrics, struct exec_operator **out)
{
    _cleanup_(free_operator) struct exec_operator *node = NULL;
    TRY(make_operator(plan->kind, &node));
    node->plan = plan;
    node->context = context;
    node->metrics = (*next_metrics)++;
    node->turns.name = physical_kind_name(plan->kind);
    TRY(NEW_ARRAY(&node->inputs, plan->input_count));
    for (size_t i = 0; i < plan->input_count; i++)
        TRY(build(plan->inputs[i], context, next_metrics, &node->inputs[i]));
    *out = TAKE(node);
    return NULL;
}

static kith_error *offer_planned_bound(const struct scan_dynamic_filter *planned, struct dynamic_filter *filter)
{
    _cleanup_(bound_unref) struct bound *bound = NULL;
    bool stronger;
    if (planned->planned == NULL)
        return NULL;
    TRY(bound_new_planned(planned->planned, planned->exprs[0].order, &bound));
    dynamic_filter_offer(filter, BOUND_PLANNED, bound, &stronger);
    return NULL;
}

/* One filter however many scans name it. Each may have a planned bound of its own; the strongest holds for all. */
static kith_error *make_filter(const struct scan_dynamic_filter *named, struct task_context *context)
{
    struct dynamic_filter *filter = task_context_filter(context, named->id);
    if (filter == NULL) {
        TRY(alloc_resize(&context->filters, context->filter_count + 1, sizeof *context->filters));
        TRY(dynamic_filter_new(named->id, named->exprs, named->count, &filter));
        context->filters[context->filter_count++] = filter;
    }
    return offer_planned_bound(named, filter);
}

static kith_error *make_filters(const struct physical_plan *plan, struct task_context *context)
{
    if (plan->kind == PHYSICAL_PARQUET_SCAN)
        for (size_t i = 0; i < plan->scan.dynamic_filter_count; i++)
            TRY(make_filter(&plan->scan.dynamic_filters[i], context));
    for (size_t i = 0; i < plan->input_count; i++)
        TRY(make_filters(plan->inputs[i], context));
    return NULL;
}

static void free_filters(struct task_context *context)
{
    for (size_t i = 0; i < context->filter_count; i++)
        dynamic_filter_unref(context->filters[i]);
    free(context->filters);
    context->filters = NULL;
    context->filter_count = 0;
}

kith_error *operator_tree_new(const struct physical_plan *plan, struct task_context *context,
                              struct operator_tree **out)
{
    struct operator_tree *tree;
    TRY(NEW(&tree));
    tree->node_count = physical_plan_node_count(plan);
    kith_error *error = NEW_ARRAY(&tree->metrics, tree->node_count);
    struct metric_set *next_metrics = tree->metrics;
    if (error == NULL)
        error = make_filters(plan, context);
    if (error == NULL)
        error = build(plan, context, &next_metrics, &tree->root);
    if (error != NULL) {
        operator_tree_free(tree, context);
        return error;
    }
    *out = tree;
    return NULL;
}

void operator_tree_free(struct operator_tree *tree, struct task_context *context)
{
    if (tree == NULL)
        return;
    if (tree->root != NULL)
        free_operator(tree->root);
    free_filters(context);
    free(tree->metrics);
    free(tree);
}

struct dynamic_filter *task_context_filter(const struct task_context *context, uint64_t id)
{
    for (size_t i = 0; i < context->filter_count; i++)
        if (dynamic_filter_id(context->filters[i]) == id)
            return context->filters[i];
    return NULL;
}

int64_t operator_now(const struct exec_operator *node)
{
    return clock_monotonic_ns(runtime_clock(node->context->runtime));
}

void operator_charge_time(struct exec_operator *node, int64_t start_ns)
{
    metric_add(node->metrics, METRIC_ELAPSED_COMPUTE, (uint64_t)(operator_now(node) - start_ns));
}

kith_error *operator_charge(struct exec_operator *node, unsigned units)
{
    TRY(cancel_token_check(node->context->cancel));
    return coop_charge(units);
}

struct coop operator_coop(const struct exec_operator *node)
{
    return coop_make((enum coop_policy)settings_get(&node->context->settings, SETTING_COOPERATION),
                     node->context->cancel);
}

struct stream operator_stream(const struct exec_operator *node, const struct stream_ops *ops)
{
    return (struct stream){.ops = ops, .schema = node->plan->schema, .coop = operator_coop(node)};
}

void operator_count(struct exec_operator *node, const struct batch *batch)
{
    metric_add(node->metrics, METRIC_OUTPUT_ROWS, batch_row_count(batch));
    metric_add(node->metrics, METRIC_OUTPUT_BATCHES, 1);
}

kith_error *operator_emit_slice(struct exec_operator *node, struct batch *result, size_t *position, struct batch **out)
{
    size_t rows = result == NULL ? 0 : batch_row_count(result);
    if (*position >= rows)
        return NULL;
    size_t length = MIN(rows - *position, (size_t)settings_get(&node->context->settings, SETTING_BATCH_SIZE));
    _cleanup_(batch_unref) struct batch *slice = NULL;
    TRY(batch_slice(result, *position, length, &slice));
    operator_count(node, slice);
    *position += length;
    *out = TAKE(slice);
    return NULL;
}

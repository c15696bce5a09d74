#include "cluster/run_metrics.h"

struct reader {
    const struct operator_tree *tree;
    const struct task_context *context;
    const struct bound_traffic *traffic;
    uint64_t (*out)[METRIC_COUNT];
    bool together; /* added to out[0] */
    size_t next;   /* node, in pre-order */
};

static void add_produced(const struct reader *reader, size_t filter, uint64_t *values)
{
    struct dynamic_filter_counters counters;
    dynamic_filter_counters(reader->context->filters[filter], &counters);
    values[METRIC_BOUNDS_PRODUCED] += counters.produced;
    if (reader->traffic == NULL)
        return;
    values[METRIC_BOUNDS_SENT] += reader->traffic[filter].sent;
    values[METRIC_BOUNDS_BYTES_SENT] += reader->traffic[filter].bytes_sent;
}

static void add_consumed(const struct reader *reader, size_t filter, uint64_t *values)
{
    struct dynamic_filter_counters counters;
    dynamic_filter_counters(reader->context->filters[filter], &counters);
    values[METRIC_BOUNDS_RECEIVED] += counters.received;
    values[METRIC_BOUNDS_APPLIED] += counters.applied;
    if (reader->traffic == NULL)
        return;
    values[METRIC_BOUNDS_DELAY] += reader->traffic[filter].delay_ns;
    values[METRIC_BOUNDS_DELAY_MAX] = MAX(values[METRIC_BOUNDS_DELAY_MAX], reader->traffic[filter].delay_max_ns);
    values[METRIC_BOUNDS_BYTES_RECEIVED] += reader->traffic[filter].bytes_received;
}

static bool has_filter(const struct physical_plan *node, uint64_t id)
{
    if (node->kind == PHYSICAL_SORT)
        return node->sort.filter_id == id;
    for (size_t i = 0; node->kind == PHYSICAL_PARQUET_SCAN && i < node->scan.dynamic_filter_count; i++)
        if (node->scan.dynamic_filters[i].id == id)
            return true;
    return false;
}

static const struct physical_plan *first_with_filter(const struct physical_plan *plan, enum physical_kind kind,
                                                     uint64_t id)
{
    const struct physical_plan *found = plan->kind == kind && has_filter(plan, id) ? plan : NULL;
    for (size_t i = 0; i < plan->input_count && found == NULL; i++)
        found = first_with_filter(plan->inputs[i], kind, id);
    return found;
}

/* The members of a union have one filter between them: what became of it is counted at the first Top-K and scan. */
static void add_bounds(const struct reader *reader, const struct physical_plan *node, uint64_t *values)
{
    for (size_t i = 0; i < reader->context->filter_count; i++) {
        uint64_t id = dynamic_filter_id(reader->context->filters[i]);
        if (!has_filter(node, id) || first_with_filter(reader->tree->root->plan, node->kind, id) != node)
            continue;
        if (node->kind == PHYSICAL_SORT)
            add_produced(reader, i, values);
        else
            add_consumed(reader, i, values);
    }
}

static uint64_t load(const _Atomic uint64_t *counter)
{
    return atomic_load_explicit(counter, memory_order_relaxed);
}

static void read_node(struct reader *reader, const struct exec_operator *operator)
{
    const struct physical_plan *node = operator->plan;
    uint64_t values[METRIC_COUNT];
    size_t number = reader->next++;
    metric_values_get(&reader->tree->metrics[number], values);
    values[METRIC_TURNS] = load(&operator->turns.turns);
    values[METRIC_FORCED_YIELDS] = load(&operator->turns.forced_yields);
    values[METRIC_LONGEST_TURN] = load(&operator->turns.longest_ns);
    add_bounds(reader, node, values);
    if (number == 0 && reader->context->pool != NULL)
        values[METRIC_PEAK_MEMORY] = memory_pool_peak(reader->context->pool);
    if (reader->together)
        metric_values_add(reader->out[0], values);
    else
        memcpy(reader->out[number], values, sizeof values);
    for (size_t i = 0; i < node->input_count; i++)
        read_node(reader, operator->inputs[i]);
}

void run_metrics_read(const struct operator_tree *tree, const struct task_context *context,
                      const struct bound_traffic *traffic, uint64_t (*out)[METRIC_COUNT])
{
    struct reader reader = {.tree = tree, .context = context, .traffic = traffic, .out = out};
    read_node(&reader, tree->root);
}

void run_metrics_sum(const struct operator_tree *tree, const struct task_context *context,
                     const struct bound_traffic *traffic, uint64_t totals[METRIC_COUNT])
{
    struct reader reader = {.tree = tree,
                            .context = context,
                            .traffic = traffic,
                            .out = (uint64_t(*)[METRIC_COUNT])totals,
                            .together = true};
    read_node(&reader, tree->root);
}

void run_metrics_add(uint64_t (*to)[METRIC_COUNT], uint64_t (*from)[METRIC_COUNT], size_t node_count)
{
    for (size_t node = 0; node < node_count; node++)
        metric_values_add(to[node], from[node]);
}

#include "cluster/run_metrics.h"

struct reader {
    const struct operator_tree *tree;
    const struct task_context *context;
    const struct bound_traffic *traffic;
    uint64_t (*out)[METRIC_COUNT];
    bool together; /* added to out[0] */
    size_t next;   /* node, in pre-order */
};

static size_t filter_index(const struct task_context *context, uint64_t id)
{
    size_t i = 0;
    while (i < context->filter_count && dynamic_filter_id(context->filters[i]) != id)
        i++;
    return i;
}

static void add_produced(const struct reader *reader, uint64_t filter_id, uint64_t *values)
{
    struct dynamic_filter_counters counters;
    size_t i = filter_index(reader->context, filter_id);
    if (i == reader->context->filter_count)
        return;
    dynamic_filter_counters(reader->context->filters[i], &counters);
    values[METRIC_BOUNDS_PRODUCED] = counters.produced;
    if (reader->traffic == NULL)
        return;
    values[METRIC_BOUNDS_SENT] = reader->traffic[i].sent;
    values[METRIC_BOUNDS_BYTES_SENT] = reader->traffic[i].bytes_sent;
}

static void add_consumed(const struct reader *reader, const struct parquet_scan *scan, uint64_t *values)
{
    for (size_t f = 0; f < scan->dynamic_filter_count; f++) {
        struct dynamic_filter_counters counters;
        size_t i = filter_index(reader->context, scan->dynamic_filters[f].id);
        if (i == reader->context->filter_count)
            continue;
        dynamic_filter_counters(reader->context->filters[i], &counters);
        values[METRIC_BOUNDS_RECEIVED] += counters.received;
        values[METRIC_BOUNDS_APPLIED] += counters.applied;
        if (reader->traffic == NULL)
            continue;
        values[METRIC_BOUNDS_DELAY] += reader->traffic[i].delay_ns;
        values[METRIC_BOUNDS_DELAY_MAX] = MAX(values[METRIC_BOUNDS_DELAY_MAX], reader->traffic[i].delay_max_ns);
        values[METRIC_BOUNDS_BYTES_RECEIVED] += reader->traffic[i].bytes_received;
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
    if (node->kind == PHYSICAL_SORT && node->sort.filter_id != 0)
        add_produced(reader, node->sort.filter_id, values);
    if (node->kind == PHYSICAL_PARQUET_SCAN)
        add_consumed(reader, &node->scan, values);
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

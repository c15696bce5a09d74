#include "base/limits.h"
#include "wire/plan_codec.h"
#include "wire/plan_parts.h"
#include "wire/protobuf.h"
#include "wire/type_codec.h"

#include "kith_plan.pb-c.h"

#define KIND(name) DATAFUSION__PHYSICAL_PLAN_NODE__KIND_##name

struct encoder {
    struct arena *arena;
    size_t operators;
};

/* Row numbers of 32 bits are DataFusion's; true when `rows` needs Kith's field beside it. */
static bool narrow(int64_t rows, uint32_t *out)
{
    bool fits = rows >= 0 && rows <= UINT32_MAX;
    *out = fits ? (uint32_t)rows : UINT32_MAX;
    return !fits;
}

static kith_error *put_filter(const struct physical_plan *plan, Datafusion__PhysicalPlanNode *input,
                              struct arena *arena, Datafusion__PhysicalPlanNode *node)
{
    enum { SELECTIVITY_PERCENT = 20, BATCH_ROWS = 8192 }; /* DataFusion's defaults */
    node->kind_case = KIND(FILTER);
    TRY(protobuf_new(arena, &datafusion__filter_exec_node__descriptor, &node->filter));
    node->filter->input = input;
    node->filter->default_filter_selectivity = SELECTIVITY_PERCENT;
    node->filter->batch_size = BATCH_ROWS;
    node->filter->n_projection = plan->schema->field_count;
    TRY(ARENA_NEW_ARRAY(arena, &node->filter->projection, plan->schema->field_count));
    for (size_t i = 0; i < plan->schema->field_count; i++)
        node->filter->projection[i] = (uint32_t)i;
    return expr_encode(plan->filter.predicate, arena, &node->filter->expr);
}

static kith_error *put_projection(const struct physical_plan *plan, Datafusion__PhysicalPlanNode *input,
                                  struct arena *arena, Datafusion__PhysicalPlanNode *node)
{
    size_t count = plan->schema->field_count;
    node->kind_case = KIND(PROJECTION);
    TRY(protobuf_new(arena, &datafusion__projection_exec_node__descriptor, &node->projection));
    Datafusion__ProjectionExecNode *projection = node->projection;
    TRY(ARENA_NEW_ARRAY(arena, &projection->expr, count));
    TRY(ARENA_NEW_ARRAY(arena, &projection->expr_name, count));
    projection->input = input;
    projection->n_expr = projection->n_expr_name = count;
    for (size_t i = 0; i < count; i++) {
        projection->expr_name[i] = plan->schema->fields[i].name;
        TRY(expr_encode(plan->projection.exprs[i], arena, &projection->expr[i]));
    }
    return NULL;
}

static kith_error *put_sort(const struct physical_plan *plan, Datafusion__PhysicalPlanNode *input, struct arena *arena,
                            Datafusion__PhysicalPlanNode *node)
{
    node->kind_case = KIND(SORT);
    TRY(protobuf_new(arena, &datafusion__sort_exec_node__descriptor, &node->sort));
    node->sort->input = input;
    node->sort->fetch = plan->sort.fetch;
    node->sort->preserve_partitioning = plan->partitions > 1;
    node->sort->n_expr = plan->sort.count;
    if (plan->sort.filter_id != 0)
        TRY(dynamic_filter_encode(plan->sort.filter_id, plan->sort.exprs, plan->sort.count, arena,
                                  &node->sort->dynamic_filter));
    return sort_exprs_encode(plan->sort.exprs, plan->sort.count, arena, &node->sort->expr);
}

static kith_error *put_merge(const struct physical_plan *plan, Datafusion__PhysicalPlanNode *input, struct arena *arena,
                             Datafusion__PhysicalPlanNode *node)
{
    node->kind_case = KIND(SORT_PRESERVING_MERGE);
    TRY(protobuf_new(arena, &datafusion__sort_preserving_merge_exec_node__descriptor, &node->sort_preserving_merge));
    node->sort_preserving_merge->input = input;
    node->sort_preserving_merge->fetch = plan->sort.fetch;
    node->sort_preserving_merge->n_expr = plan->sort.count;
    return sort_exprs_encode(plan->sort.exprs, plan->sort.count, arena, &node->sort_preserving_merge->expr);
}

static kith_error *put_coalesce(const struct physical_plan *plan, Datafusion__PhysicalPlanNode *input,
                                struct arena *arena, Datafusion__PhysicalPlanNode *node)
{
    node->kind_case = KIND(MERGE);
    TRY(protobuf_new(arena, &datafusion__coalesce_partitions_exec_node__descriptor, &node->merge));
    node->merge->input = input;
    if (plan->limit.fetch < 0)
        return NULL;
    node->merge->maybe_fetch_case = DATAFUSION__COALESCE_PARTITIONS_EXEC_NODE__MAYBE_FETCH_FETCH;
    if (narrow(plan->limit.fetch, &node->merge->fetch)) {
        node->merge->maybe_whole_fetch_case = DATAFUSION__COALESCE_PARTITIONS_EXEC_NODE__MAYBE_WHOLE_FETCH_WHOLE_FETCH;
        node->merge->whole_fetch = plan->limit.fetch;
    }
    return NULL;
}

static kith_error *put_global_limit(const struct physical_plan *plan, Datafusion__PhysicalPlanNode *input,
                                    struct arena *arena, Datafusion__PhysicalPlanNode *node)
{
    node->kind_case = KIND(GLOBAL_LIMIT);
    TRY(protobuf_new(arena, &datafusion__global_limit_exec_node__descriptor, &node->global_limit));
    node->global_limit->input = input;
    node->global_limit->fetch = plan->limit.fetch;
    if (narrow(plan->limit.skip, &node->global_limit->skip)) {
        node->global_limit->maybe_whole_skip_case = DATAFUSION__GLOBAL_LIMIT_EXEC_NODE__MAYBE_WHOLE_SKIP_WHOLE_SKIP;
        node->global_limit->whole_skip = plan->limit.skip;
    }
    return NULL;
}

static kith_error *put_local_limit(const struct physical_plan *plan, Datafusion__PhysicalPlanNode *input,
                                   struct arena *arena, Datafusion__PhysicalPlanNode *node)
{
    node->kind_case = KIND(LOCAL_LIMIT);
    TRY(protobuf_new(arena, &datafusion__local_limit_exec_node__descriptor, &node->local_limit));
    node->local_limit->input = input;
    if (narrow(plan->limit.fetch, &node->local_limit->fetch)) {
        node->local_limit->maybe_whole_fetch_case = DATAFUSION__LOCAL_LIMIT_EXEC_NODE__MAYBE_WHOLE_FETCH_WHOLE_FETCH;
        node->local_limit->whole_fetch = plan->limit.fetch;
    }
    return NULL;
}

static kith_error *put_placeholder(const struct physical_plan *plan, struct arena *arena,
                                   Datafusion__PhysicalPlanNode *node)
{
    node->kind_case = KIND(PLACEHOLDER_ROW);
    TRY(protobuf_new(arena, &datafusion__placeholder_row_exec_node__descriptor, &node->placeholder_row));
    node->placeholder_row->partitions = (uint32_t)plan->partitions;
    return schema_encode(plan->schema, arena, &node->placeholder_row->schema);
}

static kith_error *put_empty(const struct physical_plan *plan, struct arena *arena, Datafusion__PhysicalPlanNode *node)
{
    node->kind_case = KIND(EMPTY);
    TRY(protobuf_new(arena, &datafusion__empty_exec_node__descriptor, &node->empty));
    node->empty->partitions = (uint32_t)plan->partitions;
    return schema_encode(plan->schema, arena, &node->empty->schema);
}

/* Operators of Kith's own are bytes inside DataFusion's extension node. */
static kith_error *put_network(const struct physical_plan *plan, struct arena *arena,
                               Datafusion__PhysicalPlanNode *node)
{
    Kith__Plan__NetworkCoalesce network = KITH__PLAN__NETWORK_COALESCE__INIT;
    Kith__Plan__ExtensionNode extension = KITH__PLAN__EXTENSION_NODE__INIT;
    _cleanup_(strbuf_reset) struct strbuf bytes = {0};
    char *kept;
    network.maybe_stage_case = KITH__PLAN__NETWORK_COALESCE__MAYBE_STAGE_STAGE;
    network.stage = plan->network.stage;
    network.maybe_partitions_case = KITH__PLAN__NETWORK_COALESCE__MAYBE_PARTITIONS_PARTITIONS;
    network.partitions = plan->partitions;
    TRY(schema_encode(plan->schema, arena, &network.schema));
    extension.kind_case = KITH__PLAN__EXTENSION_NODE__KIND_NETWORK_COALESCE;
    extension.network_coalesce = &network;
    TRY(protobuf_write(&extension.base, &bytes));
    TRY(arena_string(arena, bytes.data, bytes.length, &kept));
    node->kind_case = KIND(EXTENSION);
    TRY(protobuf_new(arena, &datafusion__physical_extension_node__descriptor, &node->extension));
    node->extension->node = (ProtobufCBinaryData){bytes.length, (uint8_t *)kept};
    return NULL;
}

static kith_error *put_scan(const struct physical_plan *plan, struct arena *arena, Datafusion__PhysicalPlanNode *node)
{
    node->kind_case = KIND(PARQUET_SCAN);
    return scan_encode(plan, arena, &node->parquet_scan);
}

static kith_error *put_union(const struct physical_plan *plan, Datafusion__PhysicalPlanNode **inputs,
                             struct arena *arena, Datafusion__PhysicalPlanNode *node)
{
    node->kind_case = KIND(UNION_);
    TRY(protobuf_new(arena, &datafusion__union_exec_node__descriptor, &node->union_));
    node->union_->inputs = inputs;
    node->union_->n_inputs = plan->input_count;
    return NULL;
}

static kith_error *put_node(const struct physical_plan *plan, Datafusion__PhysicalPlanNode **inputs,
                            struct arena *arena, Datafusion__PhysicalPlanNode *node)
{
    Datafusion__PhysicalPlanNode *input = plan->input_count == 0 ? NULL : inputs[0];
    switch (plan->kind) {
    case PHYSICAL_PARQUET_SCAN:
        return put_scan(plan, arena, node);
    case PHYSICAL_FILTER:
        return put_filter(plan, input, arena, node);
    case PHYSICAL_PROJECTION:
        return put_projection(plan, input, arena, node);
    case PHYSICAL_SORT:
        return put_sort(plan, input, arena, node);
    case PHYSICAL_SORT_PRESERVING_MERGE:
        return put_merge(plan, input, arena, node);
    case PHYSICAL_COALESCE_PARTITIONS:
        return put_coalesce(plan, input, arena, node);
    case PHYSICAL_UNION:
        return put_union(plan, inputs, arena, node);
    case PHYSICAL_GLOBAL_LIMIT:
        return put_global_limit(plan, input, arena, node);
    case PHYSICAL_LOCAL_LIMIT:
        return put_local_limit(plan, input, arena, node);
    case PHYSICAL_PLACEHOLDER_ROW:
        return put_placeholder(plan, arena, node);
    case PHYSICAL_EMPTY:
        return put_empty(plan, arena, node);
    case PHYSICAL_FETCH_COLUMNS:
        /* Each process decides for itself when to read a column; nobody is told to. */
        return error_new(KITH_ERROR_INTERNAL, "a plan whose columns are read late does not travel");
    case PHYSICAL_NETWORK_COALESCE:
        return put_network(plan, arena, node);
    }
    UNREACHABLE();
}

static kith_error *encode_node(struct encoder *encoder, const struct physical_plan *plan, size_t depth,
                               Datafusion__PhysicalPlanNode **out)
{
    Datafusion__PhysicalPlanNode **inputs;
    if (depth > LIMIT_PLAN_NESTING)
        return error_new(KITH_ERROR_LIMIT, "the plan has more than PLAN_NESTING (%d) levels", LIMIT_PLAN_NESTING);
    if (++encoder->operators > LIMIT_PLAN_OPERATORS)
        return error_new(KITH_ERROR_LIMIT, "the plan has more than PLAN_OPERATORS (%d) operators",
                         LIMIT_PLAN_OPERATORS);
    TRY(ARENA_NEW_ARRAY(encoder->arena, &inputs, plan->input_count));
    for (size_t i = 0; i < plan->input_count; i++)
        TRY(encode_node(encoder, plan->inputs[i], depth + 1, &inputs[i]));
    TRY(protobuf_new(encoder->arena, &datafusion__physical_plan_node__descriptor, out));
    return put_node(plan, inputs, encoder->arena, *out);
}

kith_error *plan_encode(const struct physical_plan *plan, struct strbuf *out)
{
    _cleanup_(arena_reset) struct arena arena = {0};
    struct encoder encoder = {.arena = &arena};
    Datafusion__PhysicalPlanNode *node;
    size_t before = out->length;
    TRY(encode_node(&encoder, plan, 1, &node));
    TRY(protobuf_write(&node->base, out));
    if (out->length - before <= LIMIT_PLAN_BYTES)
        return NULL;
    return error_new(KITH_ERROR_LIMIT, "the plan takes %zu bytes; PLAN_BYTES allows %d", out->length - before,
                     LIMIT_PLAN_BYTES);
}

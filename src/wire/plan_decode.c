#include "base/limits.h"
#include "wire/plan_codec.h"
#include "wire/plan_parts.h"
#include "wire/protobuf.h"
#include "wire/type_codec.h"

#include "kith_plan.pb-c.h"

#include <inttypes.h>

#define KIND(name) DATAFUSION__PHYSICAL_PLAN_NODE__KIND_##name

static void decoder_reset(struct plan_decoder *decoder)
{
    vec_reset(&decoder->filters);
    vec_reset(&decoder->producers);
}
DEFINE_VALUE_CLEANUP(decoder_reset, struct plan_decoder)

kith_error *plan_decoder_keep_schema(struct plan_decoder *decoder, struct schema *take_schema, struct schema **out)
{
    TRY(plan_arena_keep_schema(decoder->plans, take_schema));
    *out = take_schema;
    return NULL;
}

kith_error *plan_decoder_operator(struct plan_decoder *decoder, enum physical_kind kind, struct physical_plan *input,
                                  struct physical_plan **out)
{
    if (++decoder->operators > LIMIT_PLAN_OPERATORS)
        return error_new(KITH_ERROR_LIMIT, "the plan has more than PLAN_OPERATORS (%d) operators",
                         LIMIT_PLAN_OPERATORS);
    TRY(ARENA_NEW(decoder->arena, out));
    (*out)->kind = kind;
    if (input == NULL)
        return NULL;
    TRY(ARENA_NEW_ARRAY(decoder->arena, &(*out)->inputs, 1));
    (*out)->inputs[0] = input;
    (*out)->input_count = 1;
    (*out)->schema = input->schema;
    (*out)->partitions = input->partitions;
    return NULL;
}

static kith_error *require_one_partition(const struct physical_plan *input, const char *name)
{
    if (input->partitions == 1)
        return NULL;
    return error_new(KITH_ERROR_CORRUPT, "%s in the plan reads %zu partitions; it takes one", name, input->partitions);
}

kith_error *plan_decoder_project(struct plan_decoder *decoder, const struct expr **exprs, const char *const *names,
                                 size_t count, struct physical_plan *input, struct physical_plan **out)
{
    struct field *fields;
    struct schema *schema;
    TRY(plan_decoder_operator(decoder, PHYSICAL_PROJECTION, input, out));
    TRY(ARENA_NEW_ARRAY(decoder->arena, &fields, count));
    /* schema_new copies what it is given. */
    for (size_t i = 0; i < count; i++)
        fields[i] =
            (struct field){.name = (char *)(uintptr_t)names[i], .type = exprs[i]->type, .nullable = exprs[i]->nullable};
    (*out)->projection.exprs = exprs;
    TRY(schema_new(fields, count, &schema));
    return plan_decoder_keep_schema(decoder, schema, &(*out)->schema);
}

static kith_error *build_projection(struct plan_decoder *decoder, const Datafusion__ProjectionExecNode *message,
                                    struct physical_plan *input, struct physical_plan **out)
{
    const struct expr **exprs;
    size_t count = message->n_expr;
    if (count > LIMIT_COLUMNS)
        return error_new(KITH_ERROR_LIMIT, "a projection to %zu columns exceeds COLUMNS (%d)", count, LIMIT_COLUMNS);
    if (message->n_expr_name != count)
        return error_new(KITH_ERROR_CORRUPT, "a projection in the plan has %zu expressions and %zu names", count,
                         message->n_expr_name);
    TRY(ARENA_NEW_ARRAY(decoder->arena, &exprs, count));
    for (size_t i = 0; i < count; i++)
        TRY(expr_decode(&decoder->exprs, input->schema, message->expr[i], &exprs[i]));
    return plan_decoder_project(decoder, exprs, (const char *const *)message->expr_name, count, input, out);
}

/* DataFusion's filter may drop columns, which is a projection of its own here. */
static kith_error *project_columns(struct plan_decoder *decoder, const uint32_t *columns, size_t count,
                                   struct physical_plan *input, struct physical_plan **out)
{
    const struct expr **exprs;
    const char **names;
    if (count > LIMIT_COLUMNS)
        return error_new(KITH_ERROR_LIMIT, "a filter with %zu columns exceeds COLUMNS (%d)", count, LIMIT_COLUMNS);
    TRY(ARENA_NEW_ARRAY(decoder->arena, &exprs, count));
    TRY(ARENA_NEW_ARRAY(decoder->arena, &names, count));
    for (size_t i = 0; i < count; i++) {
        TRY(expr_column(decoder->arena, input->schema, columns[i], &exprs[i]));
        names[i] = exprs[i]->column.name;
    }
    return plan_decoder_project(decoder, exprs, names, count, input, out);
}

static bool keeps_all_columns(const Datafusion__FilterExecNode *message, const struct schema *input)
{
    if (message->n_projection != input->field_count)
        return false;
    for (size_t i = 0; i < message->n_projection; i++)
        if (message->projection[i] != i)
            return false;
    return true;
}

static kith_error *build_filter(struct plan_decoder *decoder, const Datafusion__FilterExecNode *message,
                                struct physical_plan *input, struct physical_plan **out)
{
    TRY(plan_decoder_operator(decoder, PHYSICAL_FILTER, input, out));
    TRY(predicate_decode(&decoder->exprs, input->schema, message->expr, &(*out)->filter.predicate));
    if (message->maybe_fetch_case != 0) {
        TRY(plan_decoder_operator(decoder, PHYSICAL_LOCAL_LIMIT, *out, out));
        (*out)->limit.fetch = message->fetch;
    }
    if (keeps_all_columns(message, input->schema))
        return NULL;
    return project_columns(decoder, message->projection, message->n_projection, *out, out);
}

static kith_error *decode_filter_id(const Datafusion__PhysicalExprNode *node, uint64_t *out)
{
    if (node->kind_case != DATAFUSION__PHYSICAL_EXPR_NODE__KIND_DYNAMIC_FILTER)
        return error_new(KITH_ERROR_CORRUPT, "a sort in the plan has a dynamic filter that is none");
    *out = node->maybe_expr_id_case == 0 ? 0 : node->expr_id;
    return NULL;
}

static kith_error *build_sort(struct plan_decoder *decoder, const Datafusion__SortExecNode *message,
                              struct physical_plan *input, struct physical_plan **out)
{
    TRY(plan_decoder_operator(decoder, PHYSICAL_SORT, input, out));
    struct physical_plan *sort = *out;
    if (!message->preserve_partitioning)
        TRY(require_one_partition(input, "a sort of everything"));
    TRY(sort_exprs_decode(&decoder->exprs, input->schema, message->expr, message->n_expr, &sort->sort.exprs));
    sort->sort.count = message->n_expr;
    sort->sort.fetch = MAX(message->fetch, (int64_t)-1);
    if (message->dynamic_filter != NULL && sort->sort.fetch >= 0)
        TRY(decode_filter_id(message->dynamic_filter, &sort->sort.filter_id));
    if (sort->sort.filter_id == 0)
        return NULL;
    if (decoder->producers.length >= LIMIT_DYNAMIC_FILTERS)
        return error_new(KITH_ERROR_LIMIT, "the plan has more than DYNAMIC_FILTERS (%d) filters",
                         LIMIT_DYNAMIC_FILTERS);
    return vec_push(&decoder->producers, (const struct physical_plan *)sort);
}

static kith_error *build_merge(struct plan_decoder *decoder, const Datafusion__SortPreservingMergeExecNode *message,
                               struct physical_plan *input, struct physical_plan **out)
{
    TRY(plan_decoder_operator(decoder, PHYSICAL_SORT_PRESERVING_MERGE, input, out));
    TRY(sort_exprs_decode(&decoder->exprs, input->schema, message->expr, message->n_expr, &(*out)->sort.exprs));
    (*out)->sort.count = message->n_expr;
    (*out)->sort.fetch = MAX(message->fetch, (int64_t)-1);
    (*out)->partitions = 1;
    return NULL;
}

static kith_error *build_coalesce(struct plan_decoder *decoder, const Datafusion__CoalescePartitionsExecNode *message,
                                  struct physical_plan *input, struct physical_plan **out)
{
    TRY(plan_decoder_operator(decoder, PHYSICAL_COALESCE_PARTITIONS, input, out));
    (*out)->partitions = 1;
    (*out)->limit.fetch = message->maybe_whole_fetch_case != 0 ? MAX(message->whole_fetch, (int64_t)-1)
                          : message->maybe_fetch_case != 0     ? (int64_t)message->fetch
                                                               : -1;
    return NULL;
}

/* Named by the first input; a column is nullable where it is in any. */
static kith_error *union_schema(struct plan_decoder *decoder, struct physical_plan *const *inputs, size_t count,
                                struct schema **out)
{
    const struct schema *first = inputs[0]->schema;
    struct schema *schema;
    struct field *fields;
    TRY(ARENA_NEW_ARRAY(decoder->arena, &fields, first->field_count));
    for (size_t i = 0; i < first->field_count; i++)
        fields[i] = first->fields[i];
    for (size_t i = 1; i < count; i++) {
        const struct schema *other = inputs[i]->schema;
        bool alike = other->field_count == first->field_count;
        for (size_t j = 0; alike && j < first->field_count; j++) {
            alike = type_equal(&fields[j].type, &other->fields[j].type);
            fields[j].nullable = fields[j].nullable || other->fields[j].nullable;
        }
        if (!alike)
            return error_new(KITH_ERROR_CORRUPT, "a union in the plan has inputs of different columns");
    }
    TRY(schema_new(fields, first->field_count, &schema));
    return plan_decoder_keep_schema(decoder, schema, out);
}

static kith_error *build_union(struct plan_decoder *decoder, struct physical_plan **inputs, size_t count,
                               struct physical_plan **out)
{
    if (count == 0)
        return error_new(KITH_ERROR_CORRUPT, "a union in the plan has no input");
    TRY(plan_decoder_operator(decoder, PHYSICAL_UNION, NULL, out));
    (*out)->inputs = inputs;
    (*out)->input_count = count;
    for (size_t i = 0; i < count; i++)
        (*out)->partitions += inputs[i]->partitions;
    if ((*out)->partitions > LIMIT_PLAN_PARTITIONS)
        return error_new(KITH_ERROR_LIMIT, "a union of %zu partitions exceeds PLAN_PARTITIONS (%d)", (*out)->partitions,
                         LIMIT_PLAN_PARTITIONS);
    return union_schema(decoder, inputs, count, &(*out)->schema);
}

static kith_error *build_global_limit(struct plan_decoder *decoder, const Datafusion__GlobalLimitExecNode *message,
                                      struct physical_plan *input, struct physical_plan **out)
{
    TRY(require_one_partition(input, "a limit of everything"));
    TRY(plan_decoder_operator(decoder, PHYSICAL_GLOBAL_LIMIT, input, out));
    (*out)->limit.skip = message->maybe_whole_skip_case != 0 ? message->whole_skip : (int64_t)message->skip;
    (*out)->limit.fetch = MAX(message->fetch, (int64_t)-1);
    if ((*out)->limit.skip < 0)
        return error_new(KITH_ERROR_CORRUPT, "a limit in the plan skips %" PRId64 " rows", (*out)->limit.skip);
    return NULL;
}

static kith_error *build_local_limit(struct plan_decoder *decoder, const Datafusion__LocalLimitExecNode *message,
                                     struct physical_plan *input, struct physical_plan **out)
{
    TRY(plan_decoder_operator(decoder, PHYSICAL_LOCAL_LIMIT, input, out));
    (*out)->limit.fetch =
        message->maybe_whole_fetch_case != 0 ? MAX(message->whole_fetch, (int64_t)-1) : (int64_t)message->fetch;
    return NULL;
}

/* DataFusion's single row may have columns, all NULL; here a projection makes them. */
static kith_error *project_nulls(struct plan_decoder *decoder, const struct schema *schema, struct physical_plan *input,
                                 struct physical_plan **out)
{
    const struct expr **exprs;
    const char **names;
    TRY(ARENA_NEW_ARRAY(decoder->arena, &exprs, schema->field_count));
    TRY(ARENA_NEW_ARRAY(decoder->arena, &names, schema->field_count));
    for (size_t i = 0; i < schema->field_count; i++) {
        TRY(type_require_flat(&schema->fields[i].type));
        struct scalar null = scalar_null(&schema->fields[i].type);
        TRY(expr_literal(decoder->arena, &null, &exprs[i]));
        names[i] = schema->fields[i].name;
    }
    return plan_decoder_project(decoder, exprs, names, schema->field_count, input, out);
}

static kith_error *build_placeholder(struct plan_decoder *decoder, const Datafusion__PlaceholderRowExecNode *message,
                                     struct physical_plan **out)
{
    struct schema *schema, *no_columns;
    if (message->partitions > 1)
        return error_new(KITH_ERROR_NOT_IMPLEMENTED, "placeholder_row of %u partitions is not implemented",
                         message->partitions);
    TRY(plan_decoder_operator(decoder, PHYSICAL_PLACEHOLDER_ROW, NULL, out));
    TRY(schema_decode(message->schema, "placeholder_row", &schema));
    TRY(plan_decoder_keep_schema(decoder, schema, &schema));
    TRY(schema_new(NULL, 0, &no_columns));
    TRY(plan_decoder_keep_schema(decoder, no_columns, &(*out)->schema));
    (*out)->partitions = 1;
    return schema->field_count == 0 ? NULL : project_nulls(decoder, schema, *out, out);
}

static kith_error *build_empty(struct plan_decoder *decoder, const Datafusion__EmptyExecNode *message,
                               struct physical_plan **out)
{
    struct schema *schema;
    if (message->partitions > LIMIT_PLAN_PARTITIONS)
        return error_new(KITH_ERROR_LIMIT, "%u partitions exceed PLAN_PARTITIONS (%d)", message->partitions,
                         LIMIT_PLAN_PARTITIONS);
    TRY(plan_decoder_operator(decoder, PHYSICAL_EMPTY, NULL, out));
    TRY(schema_decode(message->schema, "empty", &schema));
    TRY(plan_decoder_keep_schema(decoder, schema, &(*out)->schema));
    (*out)->partitions = MAX(message->partitions, 1U);
    return NULL;
}

static kith_error *build_network(struct plan_decoder *decoder, const Kith__Plan__NetworkCoalesce *message,
                                 struct physical_plan **out)
{
    struct schema *schema;
    if (message->maybe_stage_case == 0 || message->maybe_partitions_case == 0)
        return error_new(KITH_ERROR_CORRUPT, "network_coalesce in the plan lacks its stage or partitions");
    if (message->partitions == 0 || message->partitions > LIMIT_PLAN_PARTITIONS)
        return error_new(KITH_ERROR_LIMIT, "network_coalesce of %" PRIu64 " partitions; PLAN_PARTITIONS allows %d",
                         message->partitions, LIMIT_PLAN_PARTITIONS);
    TRY(plan_decoder_operator(decoder, PHYSICAL_NETWORK_COALESCE, NULL, out));
    TRY(schema_decode(message->schema, "network_coalesce", &schema));
    TRY(plan_decoder_keep_schema(decoder, schema, &(*out)->schema));
    (*out)->network.stage = message->stage;
    (*out)->partitions = (size_t)message->partitions;
    return NULL;
}

static kith_error *build_extension(struct plan_decoder *decoder, const Datafusion__PhysicalExtensionNode *message,
                                   struct physical_plan **out)
{
    _cleanup_(arena_reset) struct arena scratch = {.limit = LIMIT_PLAN_UNPACKED_BYTES};
    Kith__Plan__ExtensionNode *extension;
    struct str bytes = {(const char *)message->node.data, message->node.len};
    TRY(error_wrap(
        protobuf_read(&kith__plan__extension_node__descriptor, bytes, PROTOBUF_REFUSE_UNKNOWN, &scratch, &extension),
        "an extension node of the plan"));
    if (extension->kind_case != KITH__PLAN__EXTENSION_NODE__KIND_NETWORK_COALESCE || message->n_inputs != 0)
        return error_new(KITH_ERROR_CORRUPT,
                         "an extension node of the plan is empty or has inputs that it cannot have");
    return build_network(decoder, extension->network_coalesce, out);
}

static kith_error *build_scan(struct plan_decoder *decoder, const Datafusion__ParquetScanExecNode *message,
                              struct physical_plan **out)
{
    TRY(plan_decoder_operator(decoder, PHYSICAL_PARQUET_SCAN, NULL, out));
    return scan_decode(decoder, message, out);
}

static kith_error *build(struct plan_decoder *decoder, const Datafusion__PhysicalPlanNode *node,
                         struct physical_plan **inputs, size_t count, struct physical_plan **out)
{
    struct physical_plan *input = count == 0 ? NULL : inputs[0];
    switch ((int)node->kind_case) {
    case KIND(PARQUET_SCAN):
        return build_scan(decoder, node->parquet_scan, out);
    case KIND(FILTER):
        return build_filter(decoder, node->filter, input, out);
    case KIND(PROJECTION):
        return build_projection(decoder, node->projection, input, out);
    case KIND(SORT):
        return build_sort(decoder, node->sort, input, out);
    case KIND(SORT_PRESERVING_MERGE):
        return build_merge(decoder, node->sort_preserving_merge, input, out);
    case KIND(MERGE):
        return build_coalesce(decoder, node->merge, input, out);
    case KIND(UNION_):
        return build_union(decoder, inputs, count, out);
    case KIND(GLOBAL_LIMIT):
        return build_global_limit(decoder, node->global_limit, input, out);
    case KIND(LOCAL_LIMIT):
        return build_local_limit(decoder, node->local_limit, input, out);
    case KIND(COOPERATIVE):
        *out = input;
        return NULL;
    case KIND(PLACEHOLDER_ROW):
        return build_placeholder(decoder, node->placeholder_row, out);
    case KIND(EMPTY):
        return build_empty(decoder, node->empty, out);
    case KIND(EXTENSION):
        return build_extension(decoder, node->extension, out);
    case KIND(_NOT_SET):
        return error_new(KITH_ERROR_CORRUPT, "an operator of the plan is empty or missing");
    default:
        return error_new(KITH_ERROR_NOT_IMPLEMENTED, "operator %s is not implemented",
                         protobuf_field_name(&datafusion__physical_plan_node__descriptor, (unsigned)node->kind_case));
    }
}

/* How many other operators it reads; a missing one is NULL. */
static size_t inputs_of(const Datafusion__PhysicalPlanNode *node, Datafusion__PhysicalPlanNode *const **inputs)
{
    switch ((int)node->kind_case) {
    case KIND(FILTER):
        *inputs = &node->filter->input;
        return 1;
    case KIND(PROJECTION):
        *inputs = &node->projection->input;
        return 1;
    case KIND(SORT):
        *inputs = &node->sort->input;
        return 1;
    case KIND(SORT_PRESERVING_MERGE):
        *inputs = &node->sort_preserving_merge->input;
        return 1;
    case KIND(MERGE):
        *inputs = &node->merge->input;
        return 1;
    case KIND(GLOBAL_LIMIT):
        *inputs = &node->global_limit->input;
        return 1;
    case KIND(LOCAL_LIMIT):
        *inputs = &node->local_limit->input;
        return 1;
    case KIND(COOPERATIVE):
        *inputs = &node->cooperative->input;
        return 1;
    case KIND(UNION_):
        *inputs = node->union_->inputs;
        return node->union_->n_inputs;
    default:
        return 0;
    }
}

static kith_error *decode_node(struct plan_decoder *decoder, const Datafusion__PhysicalPlanNode *node, size_t depth,
                               struct physical_plan **out)
{
    Datafusion__PhysicalPlanNode *const *messages;
    struct physical_plan **inputs;
    if (node == NULL)
        return error_new(KITH_ERROR_CORRUPT, "an operator of the plan is empty or missing");
    if (depth > LIMIT_PLAN_NESTING)
        return error_new(KITH_ERROR_LIMIT, "the plan has more than PLAN_NESTING (%d) levels", LIMIT_PLAN_NESTING);
    size_t count = inputs_of(node, &messages);
    TRY(ARENA_NEW_ARRAY(decoder->arena, &inputs, count));
    for (size_t i = 0; i < count; i++)
        TRY(decode_node(decoder, messages[i], depth + 1, &inputs[i]));
    return build(decoder, node, inputs, count, out);
}

kith_error *plan_decode(const uint8_t *bytes, size_t length, struct plan_arena *arena, struct physical_plan **out)
{
    _cleanup_(arena_reset) struct arena scratch = {.limit = LIMIT_PLAN_UNPACKED_BYTES};
    _cleanup_(decoder_reset) struct plan_decoder decoder = {
        .plans = arena, .arena = &arena->arena, .exprs = {.arena = &arena->arena}};
    Datafusion__PhysicalPlanNode *node;
    struct physical_plan *plan;
    if (length > LIMIT_PLAN_BYTES)
        return error_new(KITH_ERROR_LIMIT, "a plan of %zu bytes exceeds PLAN_BYTES (%d)", length, LIMIT_PLAN_BYTES);
    TRY(protobuf_read(&datafusion__physical_plan_node__descriptor, (struct str){(const char *)bytes, length},
                      PROTOBUF_REFUSE_UNKNOWN, &scratch, &node));
    TRY(decode_node(&decoder, node, 1, &plan));
    TRY(plan_link_filters(&decoder));
    *out = plan;
    return NULL;
}

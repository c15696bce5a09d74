#include "wire/plan_equal.h"

#include "wire/scalars.h"

static bool same_details(const struct expr *a, const struct expr *b)
{
    switch (a->kind) {
    case EXPR_COLUMN:
        return a->column.index == b->column.index && strcmp(a->column.name, b->column.name) == 0;
    case EXPR_LITERAL:
        return test_scalars_equal(&a->literal, &b->literal);
    case EXPR_BINARY:
        return a->operation == b->operation;
    case EXPR_IN_LIST:
    case EXPR_LIKE:
        return a->match.negated == b->match.negated && a->match.case_insensitive == b->match.case_insensitive;
    case EXPR_FUNCTION:
        return a->function == b->function;
    case EXPR_AND:
    case EXPR_OR:
    case EXPR_NOT:
    case EXPR_NEGATIVE:
    case EXPR_IS_NULL:
    case EXPR_IS_NOT_NULL:
    case EXPR_CASE:
    case EXPR_CAST:
    case EXPR_TRY_CAST:
        return true;
    }
    return false;
}

bool test_exprs_equal(const struct expr *a, const struct expr *b)
{
    if (a == NULL || b == NULL)
        return a == b;
    if (a->kind != b->kind || !type_equal(&a->type, &b->type) || a->nullable != b->nullable ||
        a->sql_offset != b->sql_offset || a->depth != b->depth || a->operand_count != b->operand_count)
        return false;
    for (size_t i = 0; i < a->operand_count; i++)
        if (!test_exprs_equal(a->operands[i], b->operands[i]))
            return false;
    return same_details(a, b);
}

static bool sorts_equal(const struct sort_expr *a, size_t a_count, const struct sort_expr *b, size_t b_count)
{
    if (a_count != b_count)
        return false;
    for (size_t i = 0; i < a_count; i++)
        if (!test_exprs_equal(a[i].expr, b[i].expr) || a[i].order.descending != b[i].order.descending ||
            a[i].order.nulls_first != b[i].order.nulls_first)
            return false;
    return true;
}

static bool metadata_equal(const struct key_value *a, size_t a_count, const struct key_value *b, size_t b_count)
{
    if (a_count != b_count)
        return false;
    for (size_t i = 0; i < a_count; i++)
        if (strcmp(a[i].key, b[i].key) != 0 || strcmp(a[i].value, b[i].value) != 0)
            return false;
    return true;
}

static bool schemas_equal(const struct schema *a, const struct schema *b)
{
    if (!schema_equal(a, b) || !metadata_equal(a->metadata, a->metadata_count, b->metadata, b->metadata_count))
        return false;
    for (size_t i = 0; i < a->field_count; i++)
        if (!metadata_equal(a->fields[i].metadata, a->fields[i].metadata_count, b->fields[i].metadata,
                            b->fields[i].metadata_count))
            return false;
    return true;
}

static bool files_equal(const struct scan_file *a, const struct scan_file *b)
{
    return strcmp(a->path, b->path) == 0 && a->size == b->size && a->modified_ns == b->modified_ns &&
           a->has_range == b->has_range && a->range_start == b->range_start && a->range_end == b->range_end;
}

static bool scans_equal(const struct physical_plan *a, const struct physical_plan *b)
{
    const struct parquet_scan *x = &a->scan, *y = &b->scan;
    if (!schemas_equal(x->table_schema, y->table_schema) || x->file_count != y->file_count || x->limit != y->limit ||
        !test_exprs_equal(x->predicate, y->predicate) || x->dynamic_filter_count != y->dynamic_filter_count ||
        memcmp(x->columns, y->columns, a->schema->field_count * sizeof *x->columns) != 0)
        return false;
    for (size_t i = 0; i < x->file_count; i++)
        if (!files_equal(&x->files[i], &y->files[i]))
            return false;
    for (size_t i = 0; i < x->dynamic_filter_count; i++) {
        const struct scan_dynamic_filter *f = &x->dynamic_filters[i], *g = &y->dynamic_filters[i];
        if (f->id != g->id || !sorts_equal(f->exprs, f->count, g->exprs, g->count))
            return false;
        if ((f->planned == NULL) != (g->planned == NULL) ||
            (f->planned != NULL && !test_scalars_equal(f->planned, g->planned)))
            return false;
    }
    return true;
}

static bool projections_equal(const struct physical_plan *a, const struct physical_plan *b)
{
    for (size_t i = 0; i < a->schema->field_count; i++)
        if (!test_exprs_equal(a->projection.exprs[i], b->projection.exprs[i]))
            return false;
    return true;
}

static bool same_operator(const struct physical_plan *a, const struct physical_plan *b)
{
    switch (a->kind) {
    case PHYSICAL_PARQUET_SCAN:
        return scans_equal(a, b);
    case PHYSICAL_FILTER:
        return test_exprs_equal(a->filter.predicate, b->filter.predicate);
    case PHYSICAL_PROJECTION:
        return projections_equal(a, b);
    case PHYSICAL_SORT:
    case PHYSICAL_SORT_PRESERVING_MERGE:
        return a->sort.fetch == b->sort.fetch && a->sort.filter_id == b->sort.filter_id &&
               sorts_equal(a->sort.exprs, a->sort.count, b->sort.exprs, b->sort.count);
    case PHYSICAL_COALESCE_PARTITIONS:
    case PHYSICAL_GLOBAL_LIMIT:
    case PHYSICAL_LOCAL_LIMIT:
        return a->limit.skip == b->limit.skip && a->limit.fetch == b->limit.fetch;
    case PHYSICAL_FETCH_COLUMNS: /* does not travel */
        return false;
    case PHYSICAL_NETWORK_COALESCE:
        return a->network.stage == b->network.stage;
    case PHYSICAL_UNION:
    case PHYSICAL_PLACEHOLDER_ROW:
    case PHYSICAL_EMPTY:
        return true;
    }
    return false;
}

bool test_plans_equal(const struct physical_plan *a, const struct physical_plan *b)
{
    if (a->kind != b->kind || a->partitions != b->partitions || a->input_count != b->input_count ||
        !schemas_equal(a->schema, b->schema) || !same_operator(a, b))
        return false;
    for (size_t i = 0; i < a->input_count; i++)
        if (!test_plans_equal(a->inputs[i], b->inputs[i]))
            return false;
    return true;
}

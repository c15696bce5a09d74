#include "base/limits.h"
#include "sql/bind.h"

static kith_error *unknown_table(struct binder *binder, const char *name, int32_t location)
{
    const char *const *names;
    size_t count = binder->catalog->names(binder->catalog, &names);
    kith_error *error = error_new(KITH_ERROR_UNDEFINED_TABLE, "there is no table \"%s\"", name);
    const char *nearest = str_nearest(name, names, count);
    error = nearest != NULL ? error_hint(error, "Did you mean \"%s\"?", nearest)
                            : error_hint(error,
                                         "Name files with -t %s='folder/*.parquet', read_parquet('…') or "
                                         "CREATE EXTERNAL TABLE.",
                                         name);
    return bind_error_at(binder, error, location);
}

/* WITH queries that read each other twice double at each step. */
static kith_error *count_table(struct binder *binder)
{
    if (++binder->tables <= LIMIT_QUERY_TABLES)
        return NULL;
    return error_new(KITH_ERROR_LIMIT, "the query has more than QUERY_TABLES (%d) tables, or SELECTs without one",
                     LIMIT_QUERY_TABLES);
}

static kith_error *make_scan(struct binder *binder, struct table *take_table, const char *name,
                             struct logical_plan **out)
{
    struct logical_plan *scan;
    char *kept_name; /* plans outlive the script */
    TRY(plan_arena_keep_table(binder->plans, take_table));
    TRY(count_table(binder));
    TRY(arena_string(binder->arena, name, strlen(name), &kept_name));
    TRY(logical_plan_new(binder->arena, LOGICAL_SCAN, take_table->schema, NULL, &scan));
    scan->scan.table = take_table;
    scan->scan.name = kept_name;
    TRY(ARENA_NEW_ARRAY(binder->arena, &scan->scan.columns, scan->schema->field_count));
    for (size_t i = 0; i < scan->schema->field_count; i++)
        scan->scan.columns[i] = i;
    *out = scan;
    return NULL;
}

/* The columns under the names that are given to the first `count` of them. */
static kith_error *rename_columns(struct binder *binder, const struct schema *schema, const PgQuery__Node *const *names,
                                  size_t count, const struct schema **out)
{
    struct field *fields;
    struct schema *renamed = NULL;
    *out = schema;
    if (count == 0)
        return NULL;
    TRY(ARENA_NEW_ARRAY(binder->arena, &fields, schema->field_count));
    for (size_t i = 0; i < schema->field_count; i++) {
        fields[i] = schema->fields[i];
        if (i < count)
            fields[i].name = names[i]->string->sval;
    }
    TRY(schema_new(fields, schema->field_count, &renamed));
    TRY(plan_arena_keep_schema(binder->plans, renamed));
    *out = renamed;
    return NULL;
}

static kith_error *too_many_names(struct binder *binder, const char *table, size_t columns, size_t names)
{
    return bind_error_at(
        binder, error_new(KITH_ERROR_INVALID_ARGUMENT, "table \"%s\" has %zu columns, not %zu", table, columns, names),
        word_location(binder, table));
}

/* Makes the plan's columns what the query's names mean: those that its own query gives, as WITH renames them
 * (`columns`), as the alias does. */
static kith_error *set_scope(struct binder *binder, const struct logical_plan *plan, const char *name,
                             const PgQuery__Node *const *columns, size_t column_count, const PgQuery__Alias *alias)
{
    const struct schema *schema = plan->schema;
    size_t alias_count = alias == NULL ? 0 : alias->n_colnames;
    if (MAX(column_count, alias_count) > schema->field_count)
        return too_many_names(binder, name, schema->field_count, MAX(column_count, alias_count));
    TRY(rename_columns(binder, schema, columns, column_count, &schema));
    if (alias_count > 0)
        TRY(rename_columns(binder, schema, (const PgQuery__Node *const *)alias->colnames, alias_count, &schema));
    binder->scope = (struct scope){.table_name = name, .schema = schema};
    return NULL;
}

static const char *scan_name(const PgQuery__Alias *alias, const char *otherwise)
{
    return alias != NULL ? alias->aliasname : otherwise;
}

kith_error *bind_table(struct binder *binder, const PgQuery__RangeVar *range, struct logical_plan **out)
{
    struct table *table = NULL;
    const PgQuery__Node **columns = NULL;
    size_t column_count = 0;
    const char *name = scan_name(range->alias, range->relname);
    bool in_schema = range->schemaname != NULL && range->schemaname[0] != '\0';
    *out = NULL;
    if (in_schema && strcmp(range->schemaname, "public") != 0)
        return bind_error_at(
            binder,
            error_new(KITH_ERROR_UNDEFINED_TABLE, "there is no table \"%s.%s\"", range->schemaname, range->relname),
            range->location);
    if (!in_schema)
        TRY(bind_common_table(binder, range, &columns, &column_count, out));
    if (*out == NULL) {
        TRY(binder->catalog->find(binder->catalog, range->relname, &table));
        if (table == NULL)
            return unknown_table(binder, range->relname, range->location);
        TRY(make_scan(binder, table, name, out));
    }
    return set_scope(binder, *out, name, columns, column_count, range->alias);
}

/* FROM read_parquet('pattern') */
static kith_error *bind_table_function(struct binder *binder, const PgQuery__RangeFunction *range,
                                       struct logical_plan **out)
{
    const PgQuery__FuncCall *call = NULL;
    if (range->n_functions == 1 && range->functions[0]->node_case == PG_QUERY__NODE__NODE_LIST &&
        range->functions[0]->list->n_items > 0 &&
        range->functions[0]->list->items[0]->node_case == PG_QUERY__NODE__NODE_FUNC_CALL)
        call = range->functions[0]->list->items[0]->func_call;
    if (call == NULL)
        return bind_not_implemented(binder, word_location(binder, "from"), "this table function");
    const char *name = call->funcname[call->n_funcname - 1]->string->sval;
    const char *pattern = call->n_args == 1 ? constant_text(call->args[0]) : NULL;
    if (strcmp(name, "read_parquet") != 0 || pattern == NULL)
        return bind_error_at(binder,
                             error_hint(error_new(KITH_ERROR_UNDEFINED_FUNCTION,
                                                  "there is no table function \"%s\" "
                                                  "with these arguments",
                                                  name),
                                        "read_parquet('folder/*.parquet')"),
                             call->location);
    struct table *table = NULL;
    TRY(bind_error_at(binder, binder->catalog->open(binder->catalog, pattern, &table), call->location));
    TRY(make_scan(binder, table, scan_name(range->alias, name), out));
    return set_scope(binder, *out, scan_name(range->alias, name), NULL, 0, range->alias);
}

/* FROM (SELECT …) AS a */
static kith_error *bind_subquery(struct binder *binder, const PgQuery__RangeSubselect *range, struct logical_plan **out)
{
    if (range->lateral)
        return bind_not_implemented(binder, word_location(binder, "lateral"), "LATERAL");
    TRY(bind_query(binder, range->subquery, out));
    return set_scope(binder, *out, scan_name(range->alias, "unnamed_subquery"), NULL, 0, range->alias);
}

kith_error *bind_from(struct binder *binder, const PgQuery__SelectStmt *select, struct logical_plan **out)
{
    if (select->n_from_clause == 0) {
        struct schema *empty = NULL;
        TRY(count_table(binder));
        TRY(schema_new(NULL, 0, &empty));
        TRY(plan_arena_keep_schema(binder->plans, empty));
        binder->scope = (struct scope){.schema = empty};
        return logical_plan_new(binder->arena, LOGICAL_ONE_ROW, empty, NULL, out);
    }
    const PgQuery__Node *from = select->from_clause[0];
    int32_t from_location = word_location(binder, "from");
    if (select->n_from_clause > 1)
        return bind_not_implemented(binder, from_location, "joins");
    switch ((int)from->node_case) {
    case PG_QUERY__NODE__NODE_RANGE_VAR:
        return bind_table(binder, from->range_var, out);
    case PG_QUERY__NODE__NODE_RANGE_FUNCTION:
        return bind_table_function(binder, from->range_function, out);
    case PG_QUERY__NODE__NODE_JOIN_EXPR:
        return bind_not_implemented(binder, word_location(binder, "join"), "joins");
    case PG_QUERY__NODE__NODE_RANGE_SUBSELECT:
        return bind_subquery(binder, from->range_subselect, out);
    default:
        return bind_not_implemented(binder, from_location, "this form of FROM");
    }
}

#include "sql/bind.h"

#include <strings.h>

bool is_star(const PgQuery__Node *node)
{
    if (node->node_case != PG_QUERY__NODE__NODE_COLUMN_REF)
        return false;
    const PgQuery__ColumnRef *reference = node->column_ref;
    return reference->n_fields > 0 &&
           reference->fields[reference->n_fields - 1]->node_case == PG_QUERY__NODE__NODE_A_STAR;
}

static const char *field_name(const PgQuery__Node *field)
{
    return field->node_case == PG_QUERY__NODE__NODE_STRING ? field->string->sval : "*";
}

static kith_error *unknown_column(struct binder *binder, const char *name, int32_t location)
{
    const struct schema *schema = binder->scope.schema;
    if (binder->scope.table_name == NULL)
        return bind_error_at(
            binder, error_new(KITH_ERROR_UNDEFINED_COLUMN, "there is no column \"%s\": the query has no FROM", name),
            location);
    const char **names;
    TRY(ARENA_NEW_ARRAY(binder->arena, &names, schema->field_count));
    for (size_t i = 0; i < schema->field_count; i++)
        names[i] = schema->fields[i].name;
    kith_error *error = error_new(KITH_ERROR_UNDEFINED_COLUMN, "there is no column \"%s\" in table \"%s\"", name,
                                  binder->scope.table_name);
    const char *nearest = str_nearest(name, names, schema->field_count);
    if (nearest != NULL)
        error = error_hint(error, "Did you mean \"%s\"?", nearest);
    return bind_error_at(binder, error, location);
}

/* PostgreSQL's parser folds unquoted names to lower case, but files have columns of any case: an exact match wins, then
 * a single match without regard to case. */
static kith_error *find_column(struct binder *binder, const char *name, int32_t location, size_t *out)
{
    const struct schema *schema = binder->scope.schema;
    size_t exact = 0, folded = 0;
    for (size_t i = 0; i < schema->field_count; i++) {
        if (strcmp(schema->fields[i].name, name) == 0 && exact++ == 0)
            *out = i;
    }
    for (size_t i = 0; exact == 0 && i < schema->field_count; i++) {
        if (strcasecmp(schema->fields[i].name, name) == 0 && folded++ == 0)
            *out = i;
    }
    if (exact + folded == 1)
        return NULL;
    if (exact + folded == 0)
        return unknown_column(binder, name, location);
    kith_error *error = error_new(KITH_ERROR_AMBIGUOUS_COLUMN, "\"%s\" fits %zu columns of table \"%s\"", name,
                                  exact + folded, binder->scope.table_name);
    error = exact > 0 ? error_hint(error, "Columns that have a name in common are read by SELECT * alone.")
                      : error_hint(error, "Quote the name to match its case exactly.");
    return bind_error_at(binder, error, location);
}

kith_error *bind_column(struct binder *binder, const PgQuery__ColumnRef *reference, const struct expr **out)
{
    if (reference->n_fields == 0 || reference->n_fields > 2)
        return bind_not_implemented(binder, reference->location, "a column name of more than two parts");
    const char *name = field_name(reference->fields[reference->n_fields - 1]);
    if (strcmp(name, "*") == 0)
        return bind_error_at(binder, error_new(KITH_ERROR_SYNTAX, "* stands only alone in the select list"),
                             reference->location);
    if (reference->n_fields == 2) {
        const char *table = field_name(reference->fields[0]);
        if (binder->scope.table_name == NULL || strcasecmp(table, binder->scope.table_name) != 0)
            return bind_error_at(binder,
                                 error_new(KITH_ERROR_UNDEFINED_TABLE, "there is no table \"%s\" in FROM", table),
                                 reference->location);
    }
    size_t index = 0;
    TRY(find_column(binder, name, reference->location, &index));
    return expr_column(binder->arena, binder->scope.schema, index, out);
}

#include "sql/bind.h"

#include <inttypes.h>
#include <strings.h>

/* The text of an option's or a setting's value: a string, a number or a word. */
static kith_error *value_text(struct binder *binder, const PgQuery__Node *node, const char **out)
{
    char *text = NULL;
    if (node->node_case == PG_QUERY__NODE__NODE_A_CONST) {
        const PgQuery__AConst *constant = node->a_const;
        if (constant->val_case == PG_QUERY__A__CONST__VAL_IVAL)
            TRY(arena_printf(binder->arena, &text, "%" PRId32, constant->ival->ival));
        else if (constant->val_case == PG_QUERY__A__CONST__VAL_FVAL)
            text = constant->fval->fval;
        else if (constant->val_case == PG_QUERY__A__CONST__VAL_BOOLVAL)
            text = constant->boolval->boolval ? (char *)(uintptr_t) "true" : (char *)(uintptr_t) "false";
        else if (constant->val_case == PG_QUERY__A__CONST__VAL_SVAL)
            text = constant->sval->sval;
    } else if (node->node_case == PG_QUERY__NODE__NODE_STRING) {
        text = node->string->sval;
    } else if (node->node_case == PG_QUERY__NODE__NODE_INTEGER) {
        TRY(arena_printf(binder->arena, &text, "%" PRId32, node->integer->ival));
    } else if (node->node_case == PG_QUERY__NODE__NODE_TYPE_NAME && node->type_name->n_names > 0) {
        text = node->type_name->names[node->type_name->n_names - 1]->string->sval;
    }
    if (text == NULL)
        return bind_error_at(binder, error_new(KITH_ERROR_INVALID_ARGUMENT, "expected a text, a number or a word"),
                             node_location(node));
    *out = text;
    return NULL;
}

static kith_error *bind_set(struct binder *binder, const PgQuery__VariableSetStmt *set, struct statement *out)
{
    out->kind = STATEMENT_SET;
    if (set->kind == PG_QUERY__VARIABLE_SET_KIND__VAR_RESET_ALL ||
        set->kind == PG_QUERY__VARIABLE_SET_KIND__VAR_SET_MULTI)
        return bind_not_implemented(binder, 0, "this form of SET");
    TRY(bind_error_at(binder, setting_find(set->name, &out->setting), word_location(binder, set->name)));
    switch ((int)set->kind) {
    case PG_QUERY__VARIABLE_SET_KIND__VAR_SET_DEFAULT:
    case PG_QUERY__VARIABLE_SET_KIND__VAR_RESET:
        return NULL;
    case PG_QUERY__VARIABLE_SET_KIND__VAR_SET_VALUE:
        if (set->n_args != 1)
            return bind_error_at(binder, error_new(KITH_ERROR_SYNTAX, "SET takes one value"),
                                 node_location(set->args[1]));
        TRY(value_text(binder, set->args[0], &out->value));
        struct settings probe = *binder->settings;
        return bind_error_at(binder, settings_set(&probe, out->setting, out->value), node_location(set->args[0]));
    default:
        return bind_not_implemented(binder, 0, "this form of SET");
    }
}

static kith_error *bind_show(struct binder *binder, const char *name, struct statement *out)
{
    if (strcasecmp(name, "all") == 0) {
        out->kind = STATEMENT_SHOW_ALL;
    } else if (strcasecmp(name, "tables") == 0) {
        out->kind = STATEMENT_SHOW_TABLES;
    } else {
        out->kind = STATEMENT_SHOW;
        return bind_error_at(binder, setting_find(name, &out->setting), word_location(binder, name));
    }
    return NULL;
}

static kith_error *explain_format(const char *name, enum explain_format *out)
{
    *out = strcasecmp(name, "json") == 0 ? EXPLAIN_JSON : EXPLAIN_TEXT;
    if (*out == EXPLAIN_JSON || strcasecmp(name, "text") == 0)
        return NULL;
    return error_new(KITH_ERROR_NOT_IMPLEMENTED, "EXPLAIN has no format \"%s\": TEXT and JSON are there", name);
}

static kith_error *bind_explain(struct binder *binder, const PgQuery__ExplainStmt *explain, struct statement *out)
{
    out->kind = STATEMENT_EXPLAIN;
    for (size_t i = 0; i < explain->n_options; i++) {
        const PgQuery__DefElem *option = explain->options[i]->def_elem;
        const char *value = "true";
        if (option->arg != NULL)
            TRY(value_text(binder, option->arg, &value));
        bool on = strcasecmp(value, "false") != 0 && strcasecmp(value, "off") != 0 && strcmp(value, "0") != 0;
        if (strcmp(option->defname, "analyze") == 0)
            out->explain.analyze = on;
        else if (strcmp(option->defname, "verbose") == 0)
            out->explain.verbose = on;
        else if (strcmp(option->defname, "format") == 0)
            TRY(bind_error_at(binder, explain_format(value, &out->explain.format), option->location));
        else
            return bind_error_at(binder,
                                 error_new(KITH_ERROR_NOT_IMPLEMENTED,
                                           "EXPLAIN has no option \"%s\": ANALYZE, VERBOSE "
                                           "and FORMAT are there",
                                           option->defname),
                                 option->location);
    }
    return bind_query(binder, explain->query, &out->plan);
}

static kith_error *copy_option(struct binder *binder, const PgQuery__DefElem *option, struct statement *out)
{
    static const struct {
        const char *name;
        enum setting setting;
    } options[] = {{"compression", SETTING_PARQUET_COMPRESSION},
                   {"row_group_size", SETTING_PARQUET_ROW_GROUP_ROWS},
                   {"max_row_group_size", SETTING_PARQUET_ROW_GROUP_ROWS},
                   {"data_page_row_count_limit", SETTING_PARQUET_PAGE_ROWS}};
    const char *value;
    if (option->arg == NULL)
        return bind_error_at(binder, error_new(KITH_ERROR_SYNTAX, "the option %s needs a value", option->defname),
                             option->location);
    TRY(value_text(binder, option->arg, &value));
    if (strcasecmp(option->defname, "format") == 0)
        return strcasecmp(value, "parquet") == 0
                   ? NULL
                   : bind_not_implemented(binder, option->location, "COPY in this format");
    for (size_t i = 0; i < ARRAY_SIZE(options); i++)
        if (strcasecmp(option->defname, options[i].name) == 0)
            return bind_error_at(binder, settings_set(&out->copy.settings, options[i].setting, value),
                                 option->location);
    return bind_error_at(binder,
                         error_new(KITH_ERROR_INVALID_ARGUMENT,
                                   "COPY has no option \"%s\": FORMAT, COMPRESSION and ROW_GROUP_SIZE are there",
                                   option->defname),
                         option->location);
}

static kith_error *bind_copy(struct binder *binder, const PgQuery__CopyStmt *copy, struct statement *out)
{
    if (copy->is_from || copy->is_program || copy->filename == NULL || copy->filename[0] == '\0')
        return bind_not_implemented(binder, 0, "COPY other than to a file");
    out->kind = STATEMENT_COPY_TO;
    out->copy.path = copy->filename;
    out->copy.settings = *binder->settings;
    for (size_t i = 0; i < copy->n_options; i++)
        TRY(copy_option(binder, copy->options[i]->def_elem, out));
    if (copy->query != NULL)
        return bind_query(binder, copy->query, &out->plan);
    if (copy->n_attlist > 0)
        return bind_not_implemented(binder, 0, "COPY of a list of columns; write COPY (SELECT …) TO");
    return bind_whole_table(binder, copy->relation, &out->plan);
}

static kith_error *bind_drop(struct binder *binder, const PgQuery__DropStmt *drop, struct statement *out)
{
    if (drop->remove_type != PG_QUERY__OBJECT_TYPE__OBJECT_TABLE &&
        drop->remove_type != PG_QUERY__OBJECT_TYPE__OBJECT_FOREIGN_TABLE)
        return bind_not_implemented(binder, 0, "DROP of anything but a table");
    if (drop->n_objects != 1 || drop->objects[0]->node_case != PG_QUERY__NODE__NODE_LIST)
        return bind_not_implemented(binder, 0, "DROP of several tables at once");
    const PgQuery__List *name = drop->objects[0]->list;
    out->kind = STATEMENT_DROP_TABLE;
    out->table.name = name->items[name->n_items - 1]->string->sval;
    out->table.if_exists = drop->missing_ok != 0;
    return NULL;
}

static kith_error *bind_node(struct binder *binder, const PgQuery__Node *node, struct statement *out)
{
    switch ((int)node->node_case) {
    case PG_QUERY__NODE__NODE_SELECT_STMT:
        out->kind = STATEMENT_QUERY;
        return bind_query(binder, node, &out->plan);
    case PG_QUERY__NODE__NODE_EXPLAIN_STMT:
        return bind_explain(binder, node->explain_stmt, out);
    case PG_QUERY__NODE__NODE_COPY_STMT:
        return bind_copy(binder, node->copy_stmt, out);
    case PG_QUERY__NODE__NODE_VARIABLE_SET_STMT:
        return bind_set(binder, node->variable_set_stmt, out);
    case PG_QUERY__NODE__NODE_VARIABLE_SHOW_STMT:
        return bind_show(binder, node->variable_show_stmt->name, out);
    case PG_QUERY__NODE__NODE_DROP_STMT:
        return bind_drop(binder, node->drop_stmt, out);
    default:
        return bind_not_implemented(binder, 0, "this kind of statement");
    }
}

kith_error *sql_bind(const struct sql_syntax *syntax, struct sql_catalog *catalog, const struct settings *settings,
                     struct plan_arena *arena, struct statement *out)
{
    *out = (struct statement){0};
    if (syntax->external_table != NULL) {
        const struct sql_external_table *table = syntax->external_table;
        out->kind = STATEMENT_CREATE_TABLE;
        out->table.name = table->name;
        out->table.location = table->location;
        out->table.or_replace = table->or_replace;
        out->table.if_exists = table->if_not_exists;
        return NULL;
    }
    struct binder binder = {
        .plans = arena,
        .arena = &arena->arena,
        .catalog = catalog,
        .settings = settings,
        .text = syntax->text,
        .text_offset = syntax->offset,
    };
    return bind_error_at(&binder, bind_node(&binder, syntax->node, out), 0);
}

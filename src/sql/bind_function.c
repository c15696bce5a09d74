#include "expr/functions.h"
#include "sql/bind.h"

#include <strings.h>

/* Names that PostgreSQL's grammar makes of its own syntax, and common synonyms. */
static const char *canonical_name(const char *name)
{
    static const struct {
        const char *name, *canonical;
    } synonyms[] = {
        {"extract", "date_part"},
        {"datepart", "date_part"},
        {"datetrunc", "date_trunc"},
        {"ceiling", "ceil"},
        {"pow", "power"},
        {"char_length", "length"},
        {"len", "length"},
        {"substr", "substring"},
        {"position", "strpos"},
        {"character_length", "length"},
        {"mod", "%"},
        {"ifnull", "coalesce"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(synonyms); i++)
        if (strcasecmp(name, synonyms[i].name) == 0)
            return synonyms[i].canonical;
    return name;
}

static bool is_aggregate(const char *name)
{
    static const char *const names[] = {"count",  "sum",      "min",       "max",       "avg",
                                        "stddev", "variance", "array_agg", "string_agg"};
    for (size_t i = 0; i < ARRAY_SIZE(names); i++)
        if (strcasecmp(name, names[i]) == 0)
            return true;
    return false;
}

static kith_error *unknown_function(struct binder *binder, const char *name, int32_t location)
{
    const char **names;
    TRY(ARENA_NEW_ARRAY(binder->arena, &names, scalar_function_count));
    for (size_t i = 0; i < scalar_function_count; i++)
        names[i] = scalar_functions[i].name;
    kith_error *error = error_new(KITH_ERROR_UNDEFINED_FUNCTION, "there is no function \"%s\"", name);
    const char *nearest = str_nearest(name, names, scalar_function_count);
    if (nearest != NULL)
        error = error_hint(error, "Did you mean \"%s\"?", nearest);
    return bind_error_at(binder, error, location);
}

/* Functions whose arguments and result are of one type. */
static bool wants_common_type(const char *name)
{
    return strcmp(name, "coalesce") == 0 || strcmp(name, "nullif") == 0 || strcmp(name, "greatest") == 0 ||
           strcmp(name, "least") == 0;
}

kith_error *bind_function(struct binder *binder, const char *name, const struct expr **arguments, size_t count,
                          int32_t location, const struct expr **out)
{
    const char *canonical = canonical_name(name);
    if (strcmp(canonical, "%") == 0 && count == 2) {
        TRY(coerce_arithmetic(binder, OP_MODULO, &arguments[0], &arguments[1]));
        return expr_binary(binder->arena, OP_MODULO, arguments[0], arguments[1], out);
    }
    if (is_aggregate(canonical))
        return bind_not_implemented(binder, location, "aggregate functions");
    const struct scalar_function *function = scalar_function_find(canonical);
    if (function == NULL)
        return unknown_function(binder, name, location);
    if (wants_common_type(function->name)) {
        struct data_type type;
        TRY(coerce_all(binder, arguments, count, &type));
    }
    return bind_error_at(binder, expr_function(binder->arena, function, arguments, count, out), location);
}

kith_error *bind_function_call(struct binder *binder, const PgQuery__FuncCall *call, const struct expr **out)
{
    const PgQuery__Node *last = call->funcname[call->n_funcname - 1];
    const char *name = last->string->sval;
    if (call->over != NULL)
        return bind_not_implemented(binder, call->location, "window functions");
    if (call->agg_star || call->agg_distinct || call->agg_filter != NULL || call->n_agg_order > 0)
        return bind_not_implemented(binder, call->location, "aggregate functions");
    const struct expr **arguments;
    TRY(ARENA_NEW_ARRAY(binder->arena, &arguments, call->n_args));
    for (size_t i = 0; i < call->n_args; i++)
        TRY(bind_expr(binder, call->args[i], &arguments[i]));
    return bind_function(binder, name, arguments, call->n_args, call->location, out);
}

#include "expr/functions.h"

#include "expr/expr_build.h"
#include "expr/functions_table.h"

#include <strings.h>

#define TABLE_ENTRY(name, least, most, nulls, volatility, resolve, run, signature, doc) \
    {name, least, most, signature, doc, nulls, volatility, resolve, run},

const struct scalar_function scalar_functions[] = {SCALAR_FUNCTIONS(TABLE_ENTRY)};
const size_t scalar_function_count = ARRAY_SIZE(scalar_functions);

const struct scalar_function *scalar_function_find(const char *name)
{
    for (size_t i = 0; i < scalar_function_count; i++)
        if (strcasecmp(scalar_functions[i].name, name) == 0)
            return &scalar_functions[i];
    return NULL;
}

static bool result_nullable(const struct scalar_function *function, const struct expr *const *arguments, size_t count)
{
    bool any = false, all = true;
    for (size_t i = 0; i < count; i++) {
        any |= arguments[i]->nullable;
        all &= arguments[i]->nullable;
    }
    switch (function->nulls) {
    case FUNCTION_NULL_IF_ANY:
        return any;
    case FUNCTION_NULL_IF_ALL:
        return all;
    case FUNCTION_NULL_OPEN:
        return true;
    case FUNCTION_NULL_NEVER:
        return false;
    }
    UNREACHABLE();
}

kith_error *expr_function(struct arena *arena, const struct scalar_function *function,
                          const struct expr *const *arguments, size_t count, const struct expr **out)
{
    struct data_type types[FUNCTION_MAX_ARGUMENTS], type;
    const struct scalar *constants[FUNCTION_MAX_ARGUMENTS];
    struct expr *expr;
    if (count < function->least_arguments || count > function->most_arguments)
        return error_hint(
            error_new(KITH_ERROR_UNDEFINED_FUNCTION, "function %s takes no %zu arguments", function->name, count),
            "it is called %s", function->signature);
    for (size_t i = 0; i < count; i++) {
        types[i] = arguments[i]->type;
        constants[i] = arguments[i]->kind == EXPR_LITERAL ? &arguments[i]->literal : NULL;
    }
    kith_error *error = function->resolve(types, constants, count, &type);
    if (error != NULL)
        return error_hint(error_wrap(error, "function %s", function->name), "it is called %s", function->signature);
    TRY(expr_new(arena, EXPR_FUNCTION, &type, arguments, count, &expr));
    expr->function = function;
    expr->nullable = result_nullable(function, arguments, count);
    *out = expr;
    return NULL;
}

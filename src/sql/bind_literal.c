#include "compute/parse.h"
#include "sql/bind.h"

#include <errno.h>
#include <stdlib.h>

/* Sign, digits and point only: DECIMAL with exactly the digits written, as PostgreSQL and DuckDB have it. */
static bool exact_decimal(const char *text, struct scalar *out)
{
    unsigned __int128 value = 0;
    int digits = 0, scale = 0;
    bool after_point = false, leading = true, negative = *text == '-';
    for (const char *c = text + negative; *c != '\0'; c++) {
        if (*c == '.') {
            after_point = true;
            continue;
        }
        if (*c < '0' || *c > '9')
            return false;
        leading = leading && *c == '0';
        digits += !leading;
        scale += after_point;
        if (digits > DECIMAL128_MAX_PRECISION || scale > DECIMAL128_MAX_PRECISION)
            return false;
        value = value * 10 + (unsigned)(*c - '0');
    }
    int precision = MAX(MAX(digits, scale), 1);
    *out = (struct scalar){.type = type_decimal((uint8_t)precision, (int8_t)scale)};
    if (out->type.id == TYPE_DECIMAL64)
        out->int64 = negative ? -(int64_t)value : (int64_t)value;
    else
        out->decimal = negative ? -(__int128)value : (__int128)value;
    return true;
}

/* PostgreSQL's lexer calls every number a float that does not fit 32 bits or is not whole. */
static kith_error *number_literal(struct binder *binder, const char *text, int32_t location, struct scalar *out)
{
    char *end;
    errno = 0;
    long long whole = strtoll(text, &end, 10);
    if (*end == '\0' && errno == 0) {
        *out = (struct scalar){.type = type_of(TYPE_INT64), .int64 = whole};
        return NULL;
    }
    if (exact_decimal(text, out))
        return NULL;
    errno = 0;
    double number = strtod(text, &end);
    if (*end != '\0' || errno == ERANGE)
        return bind_error_at(binder, error_new(KITH_ERROR_OUT_OF_RANGE, "the number %s is out of range", text),
                             location);
    *out = (struct scalar){.type = type_of(TYPE_FLOAT64), .float64 = number};
    return NULL;
}

kith_error *bind_literal(struct binder *binder, const PgQuery__AConst *constant, const struct expr **out)
{
    struct scalar value = {.type = type_of(TYPE_NULL), .is_null = true};
    if (!constant->isnull) {
        switch (constant->val_case) {
        case PG_QUERY__A__CONST__VAL_IVAL:
            value = (struct scalar){.type = type_of(TYPE_INT64), .int64 = constant->ival->ival};
            break;
        case PG_QUERY__A__CONST__VAL_FVAL:
            TRY(number_literal(binder, constant->fval->fval, constant->location, &value));
            break;
        case PG_QUERY__A__CONST__VAL_BOOLVAL:
            value = (struct scalar){.type = type_of(TYPE_BOOL), .boolean = constant->boolval->boolval != 0};
            break;
        case PG_QUERY__A__CONST__VAL_SVAL:
            value = (struct scalar){.type = type_of(TYPE_UTF8), .string = str_of(constant->sval->sval)};
            break;
        case PG_QUERY__A__CONST__VAL_BSVAL:
        case PG_QUERY__A__CONST__VAL__NOT_SET:
        case _PG_QUERY__A__CONST__VAL__CASE_IS_INT_SIZE:
            return bind_not_implemented(binder, constant->location, "a bit string");
        }
    }
    return expr_literal(binder->arena, &value, out);
}

const char *constant_text(const PgQuery__Node *node)
{
    if (node == NULL || node->node_case != PG_QUERY__NODE__NODE_A_CONST || node->a_const->isnull ||
        node->a_const->val_case != PG_QUERY__A__CONST__VAL_SVAL)
        return NULL;
    return node->a_const->sval->sval;
}

/* The unit that INTERVAL '90' DAY names: PostgreSQL's grammar gives it as a mask of bits. */
static const char *interval_unit(const PgQuery__TypeName *name)
{
    static const struct {
        int32_t mask;
        const char *unit;
    } units[] = {{1 << 1, "month"}, {1 << 2, "year"},    {1 << 3, "day"},
                 {1 << 10, "hour"}, {1 << 11, "minute"}, {1 << 12, "second"}};
    if (name->n_typmods == 0 || name->typmods[0]->node_case != PG_QUERY__NODE__NODE_A_CONST)
        return "second";
    for (size_t i = 0; i < ARRAY_SIZE(units); i++)
        if (name->typmods[0]->a_const->ival->ival == units[i].mask)
            return units[i].unit;
    return "second";
}

kith_error *bind_interval(struct binder *binder, const char *text, const PgQuery__TypeName *name,
                          const struct expr **out)
{
    struct interval interval;
    enum parse_result result = parse_interval(str_of(text), interval_unit(name), &interval);
    if (result != PARSE_OK)
        return bind_error_at(binder,
                             error_new(result == PARSE_INVALID ? KITH_ERROR_INVALID_TEXT : KITH_ERROR_OUT_OF_RANGE,
                                       "\"%s\" is no interval: expected a text such as '1 month 2 days 03:04:05'",
                                       text),
                             name->location);
    struct scalar value = {.type = type_of(TYPE_INTERVAL_MONTH_DAY_NANO),
                           .interval = {(int32_t)interval.months, (int32_t)interval.days, interval.nanoseconds}};
    return expr_literal(binder->arena, &value, out);
}

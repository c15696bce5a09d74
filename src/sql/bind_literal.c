#include "sql/bind.h"

#include <errno.h>
#include <stdlib.h>

/* Sign, digits and point only: DECIMAL with exactly the digits written, as PostgreSQL and DuckDB have it. */
static bool parse_decimal(const char *text, struct scalar *out)
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
    if (parse_decimal(text, out))
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

#include "compute/decimal.h"
#include "compute/widen.h"
#include "expr/eval.h"
#include "sql/bind.h"

static kith_error *mismatch(const char *what, const struct data_type *a, const struct data_type *b)
{
    char left[160], right[160];
    return error_new(KITH_ERROR_TYPE_MISMATCH, "%s %s and %s", what, type_format(a, left, sizeof left),
                     type_format(b, right, sizeof right));
}

static struct data_type as_decimal(const struct data_type *type)
{
    return type_is_decimal(type->id) ? *type : type_decimal((uint8_t)integer_digits(type->id), 0);
}

/* Room for the digits of both on both sides of the point, up to 38 in all; what does not fit loses scale last. */
static struct data_type common_decimal(const struct data_type *a, const struct data_type *b)
{
    struct data_type x = as_decimal(a), y = as_decimal(b);
    int scale = MAX(x.scale, y.scale);
    int whole = MAX(x.precision - x.scale, y.precision - y.scale);
    int precision = MIN(whole + scale, (int)DECIMAL128_MAX_PRECISION);
    return type_decimal((uint8_t)precision, (int8_t)MIN(scale, precision));
}

static bool common_numeric(const struct data_type *a, const struct data_type *b, struct data_type *out)
{
    if (type_is_integer(a->id) && type_is_integer(b->id))
        *out = type_widen(a, b, out) ? *out : type_decimal(20, 0); /* of UInt64 and what has a sign */
    else if (type_is_float(a->id) && a->id == b->id)
        *out = *a;
    else if (type_is_float(a->id) || type_is_float(b->id))
        *out = type_of(TYPE_FLOAT64);
    else
        *out = common_decimal(a, b);
    return true;
}

static bool is_date(enum type_id id)
{
    return id == TYPE_DATE32 || id == TYPE_DATE64;
}

static bool common_temporal(const struct data_type *a, const struct data_type *b, struct data_type *out)
{
    if (a->id == TYPE_TIMESTAMP && b->id == TYPE_TIMESTAMP) {
        *out = type_timestamp(MAX(a->unit, b->unit), a->timezone[0] != '\0' ? a->timezone : b->timezone);
        return true;
    }
    if ((a->id == TYPE_TIMESTAMP && is_date(b->id)) || (is_date(a->id) && b->id == TYPE_TIMESTAMP)) {
        *out = a->id == TYPE_TIMESTAMP ? *a : *b;
        return true;
    }
    if (is_date(a->id) && is_date(b->id)) {
        *out = type_of(TYPE_DATE64);
        return true;
    }
    bool times = (a->id == TYPE_TIME32 || a->id == TYPE_TIME64) && (b->id == TYPE_TIME32 || b->id == TYPE_TIME64);
    if (times || (a->id == TYPE_DURATION && b->id == TYPE_DURATION)) {
        *out = a->unit >= b->unit ? *a : *b;
        return true;
    }
    return false;
}

bool common_type(const struct data_type *a, const struct data_type *b, struct data_type *out)
{
    if (type_equal(a, b) || b->id == TYPE_NULL) {
        *out = *a;
        out->index = TYPE_NULL;
        return true;
    }
    if (a->id == TYPE_NULL) {
        *out = *b;
        return true;
    }
    if (type_is_numeric(a->id) && type_is_numeric(b->id))
        return common_numeric(a, b, out);
    if (type_is_string(a->id) && type_is_string(b->id)) {
        *out = type_of(TYPE_UTF8);
        return true;
    }
    if (type_is_binary(a->id) && type_is_binary(b->id)) {
        *out = type_of(TYPE_BINARY);
        return true;
    }
    return common_temporal(a, b, out);
}

/* Makes a constant a literal; it, or the error, has the place in the text of what it came from. */
static kith_error *fold(struct binder *binder, const struct expr **in_out, const struct expr *source)
{
    struct scalar value;
    bool placed = source->sql_offset >= 0;
    size_t place = placed ? (size_t)source->sql_offset : 0;
    TRY(coop_charge_every(BIND_STEPS_A_CHARGE, binder->steps++));
    kith_error *error = expr_evaluate_constant(*in_out, binder->arena, &value);
    if (error != NULL)
        return placed ? error_at(error, place) : error;
    TRY(expr_literal(binder->arena, &value, in_out));
    return placed ? expr_at(binder->arena, *in_out, place, in_out) : NULL;
}

/* A cast; of a literal done at once, so that a text that is no date is refused with its position. */
kith_error *coerce_to(struct binder *binder, const struct expr **in_out, const struct data_type *type)
{
    const struct expr *operand = *in_out;
    if (type_equal(&operand->type, type))
        return NULL;
    const struct expr *cast;
    TRY(expr_cast(binder->arena, EXPR_CAST, operand, type, &cast));
    if (operand->kind == EXPR_LITERAL)
        TRY(fold(binder, &cast, operand));
    *in_out = cast;
    return NULL;
}

static bool is_text_literal(const struct expr *expr)
{
    return expr->kind == EXPR_LITERAL && expr->type.id == TYPE_UTF8;
}

/* Whether `literal` has exactly the same value as a `type`; then it is replaced. Keeps casts off columns, where they
 * would stand in the way of statistics. */
static kith_error *narrow_literal(struct binder *binder, const struct expr **literal, const struct data_type *type)
{
    const struct expr *narrow, *back;
    kith_error *error = expr_cast(binder->arena, EXPR_TRY_CAST, *literal, type, &narrow);
    if (error != NULL) {
        error_free(error); /* no such cast: the general rule applies */
        return NULL;
    }
    TRY(fold(binder, &narrow, *literal));
    if (narrow->literal.is_null)
        return NULL;
    TRY(expr_cast(binder->arena, EXPR_TRY_CAST, narrow, &(*literal)->type, &back));
    TRY(fold(binder, &back, *literal));
    if (!back->literal.is_null && scalar_compare(&back->literal, &(*literal)->literal) == 0)
        *literal = narrow;
    return NULL;
}

/* A literal beside something else: text takes the other's type; a number or time takes it if it fits exactly. Floats
 * are left alone: a float column is compared with 0.1 as Float64, in PostgreSQL and here. */
static kith_error *fit_literal(struct binder *binder, const struct expr **literal, const struct expr *other)
{
    if ((*literal)->kind != EXPR_LITERAL || other->kind == EXPR_LITERAL || (*literal)->literal.is_null)
        return NULL;
    if (is_text_literal(*literal))
        return type_is_string(other->type.id) || other->type.id == TYPE_NULL ? NULL
                                                                             : coerce_to(binder, literal, &other->type);
    bool numbers = type_is_numeric((*literal)->type.id) && type_is_numeric(other->type.id);
    bool times = type_is_temporal((*literal)->type.id) && type_is_temporal(other->type.id);
    bool floats = type_is_float((*literal)->type.id) || type_is_float(other->type.id);
    if ((numbers && !floats) || times)
        return narrow_literal(binder, literal, &other->type);
    return NULL;
}

kith_error *coerce_comparison(struct binder *binder, const struct expr **left, const struct expr **right)
{
    TRY(fit_literal(binder, left, *right));
    TRY(fit_literal(binder, right, *left));
    if (is_text_literal(*left) && (*right)->kind == EXPR_LITERAL && !type_is_string((*right)->type.id))
        TRY(coerce_to(binder, left, &(*right)->type));
    if (is_text_literal(*right) && (*left)->kind == EXPR_LITERAL && !type_is_string((*left)->type.id))
        TRY(coerce_to(binder, right, &(*left)->type));
    /* The comparison kernels take strings, or binaries, of any two layouts. */
    enum type_id a = (*left)->type.id, b = (*right)->type.id;
    if ((type_is_string(a) && type_is_string(b)) || (type_is_binary(a) && type_is_binary(b)))
        return NULL;
    struct data_type type;
    if (!common_type(&(*left)->type, &(*right)->type, &type))
        return error_hint(mismatch("cannot compare", &(*left)->type, &(*right)->type),
                          "Write a cast, such as CAST(… AS date).");
    TRY(coerce_to(binder, left, &type));
    return coerce_to(binder, right, &type);
}

/* A number beside a decimal keeps the digits that are written: price * 2 has the scale of price. */
static kith_error *fit_to_decimal(struct binder *binder, const struct expr **literal, const struct expr *other)
{
    const struct scalar *value = &(*literal)->literal;
    if ((*literal)->kind != EXPR_LITERAL || value->is_null || value->type.id != TYPE_INT64 ||
        !type_is_decimal(other->type.id))
        return NULL;
    uint8_t digits = 1;
    for (int64_t rest = value->int64 / 10; rest != 0; rest /= 10)
        digits++;
    struct data_type type = type_decimal(digits, 0);
    return coerce_to(binder, literal, &type);
}

static kith_error *fit_operand(struct binder *binder, const struct expr **literal, const struct expr *other)
{
    bool numbers = type_is_numeric((*literal)->type.id) && type_is_decimal(other->type.id);
    return numbers ? fit_to_decimal(binder, literal, other) : fit_literal(binder, literal, other);
}

kith_error *coerce_arithmetic(struct binder *binder, enum binary_operator operation, const struct expr **left,
                              const struct expr **right)
{
    TRY(fit_operand(binder, left, *right));
    TRY(fit_operand(binder, right, *left));
    const struct data_type *a = &(*left)->type, *b = &(*right)->type;
    bool numbers = (type_is_numeric(a->id) || a->id == TYPE_NULL) && (type_is_numeric(b->id) || b->id == TYPE_NULL);
    if (!numbers)
        return NULL; /* dates and intervals: expr_binary knows which pairs there are */

    struct data_type type;
    if (!common_type(a, b, &type))
        return mismatch("cannot calculate with", a, b);
    /* Decimals of different scales are multiplied and divided as they are: the result's type follows from both. */
    if (type_is_decimal(type.id)) {
        struct data_type x = as_decimal(a), y = as_decimal(b);
        if (a->id != TYPE_NULL)
            TRY(coerce_to(binder, left, &x));
        if (b->id != TYPE_NULL)
            TRY(coerce_to(binder, right, &y));
        return NULL;
    }
    TRY(coerce_to(binder, left, &type));
    return coerce_to(binder, right, &type);
}

kith_error *coerce_all(struct binder *binder, const struct expr **exprs, size_t count, struct data_type *out)
{
    *out = type_of(TYPE_NULL);
    /* What has a type of its own decides; text literals follow. */
    for (int texts = 0; texts <= 1; texts++) {
        for (size_t i = 0; i < count; i++) {
            if (exprs[i] == NULL || is_text_literal(exprs[i]) != (texts == 1))
                continue;
            if (texts == 1 && out->id != TYPE_NULL && !type_is_string(out->id))
                continue;
            if (!common_type(out, &exprs[i]->type, out))
                return mismatch("there is no common type of", out, &exprs[i]->type);
        }
    }
    for (size_t i = 0; i < count; i++)
        if (exprs[i] != NULL)
            TRY(coerce_to(binder, &exprs[i], out));
    return NULL;
}

#include "sql/bind.h"

/* Names that PostgreSQL's grammar turns type keywords into, and those that DuckDB and DataFusion add. */
static const struct {
    const char *name;
    enum type_id id;
} simple_types[] = {
    {"bool", TYPE_BOOL},       {"boolean", TYPE_BOOL},
    {"tinyint", TYPE_INT8},    {"int2", TYPE_INT16},
    {"smallint", TYPE_INT16},  {"int4", TYPE_INT32},
    {"int", TYPE_INT32},       {"integer", TYPE_INT32},
    {"int8", TYPE_INT64},      {"bigint", TYPE_INT64},
    {"utinyint", TYPE_UINT8},  {"usmallint", TYPE_UINT16},
    {"uinteger", TYPE_UINT32}, {"ubigint", TYPE_UINT64},
    {"float4", TYPE_FLOAT32},  {"real", TYPE_FLOAT32},
    {"float8", TYPE_FLOAT64},  {"double", TYPE_FLOAT64},
    {"text", TYPE_UTF8},       {"varchar", TYPE_UTF8},
    {"bpchar", TYPE_UTF8},     {"string", TYPE_UTF8},
    {"bytea", TYPE_BINARY},    {"blob", TYPE_BINARY},
    {"date", TYPE_DATE32},     {"interval", TYPE_INTERVAL_MONTH_DAY_NANO},
};

static const char *last_name(const PgQuery__TypeName *name)
{
    if (name->n_names == 0 || name->names[name->n_names - 1]->node_case != PG_QUERY__NODE__NODE_STRING)
        return "";
    return name->names[name->n_names - 1]->string->sval;
}

/* The i-th number in parentheses, or `otherwise`; false when it is no number. */
static bool modifier(const PgQuery__TypeName *name, size_t i, int32_t otherwise, int32_t *out)
{
    *out = otherwise;
    if (i >= name->n_typmods)
        return true;
    const PgQuery__Node *node = name->typmods[i];
    if (node->node_case != PG_QUERY__NODE__NODE_A_CONST || node->a_const->val_case != PG_QUERY__A__CONST__VAL_IVAL)
        return false;
    *out = node->a_const->ival->ival;
    return true;
}

/* NUMERIC without digits is DECIMAL(38, 10), as in DataFusion; with precision alone the scale is 0. */
static kith_error *bind_numeric(struct binder *binder, const PgQuery__TypeName *name, struct data_type *out)
{
    int32_t precision, scale;
    bool valid = modifier(name, 0, DECIMAL128_MAX_PRECISION, &precision) &&
                 modifier(name, 1, name->n_typmods == 0 ? 10 : 0, &scale);
    if (!valid || precision < 1 || precision > DECIMAL128_MAX_PRECISION || scale < 0 || scale > precision)
        return bind_error_at(binder,
                             error_new(KITH_ERROR_INVALID_ARGUMENT,
                                       "DECIMAL takes a precision of 1 to %d and a scale of 0 to the precision",
                                       DECIMAL128_MAX_PRECISION),
                             name->location);
    *out = type_decimal((uint8_t)precision, (int8_t)scale);
    return NULL;
}

/* Digits of a second: 0, 3, 6 or 9; microseconds when not given, as in PostgreSQL and DuckDB. */
static kith_error *bind_time_unit(struct binder *binder, const PgQuery__TypeName *name, enum time_unit *out)
{
    int32_t digits;
    if (!modifier(name, 0, 6, &digits) || digits < 0 || digits > 9)
        return bind_error_at(binder, error_new(KITH_ERROR_INVALID_ARGUMENT, "a time has 0 to 9 digits of a second"),
                             name->location);
    *out = digits == 0   ? UNIT_SECOND
           : digits <= 3 ? UNIT_MILLISECOND
           : digits <= 6 ? UNIT_MICROSECOND
                         : UNIT_NANOSECOND;
    return NULL;
}

kith_error *bind_type(struct binder *binder, const PgQuery__TypeName *name, struct data_type *out)
{
    const char *text = last_name(name);
    if (name->n_array_bounds > 0)
        return bind_not_implemented(binder, name->location, "an array type");
    if (strcmp(text, "numeric") == 0 || strcmp(text, "decimal") == 0)
        return bind_numeric(binder, name, out);

    bool with_zone = strcmp(text, "timestamptz") == 0;
    if (with_zone || strcmp(text, "timestamp") == 0) {
        enum time_unit unit;
        TRY(bind_time_unit(binder, name, &unit));
        *out = type_timestamp(unit, with_zone ? "UTC" : "");
        return NULL;
    }
    if (strcmp(text, "time") == 0) {
        enum time_unit unit;
        TRY(bind_time_unit(binder, name, &unit));
        *out = type_of(unit <= UNIT_MILLISECOND ? TYPE_TIME32 : TYPE_TIME64);
        out->unit = unit;
        return NULL;
    }

    const char *names[ARRAY_SIZE(simple_types)];
    for (size_t i = 0; i < ARRAY_SIZE(simple_types); i++) {
        names[i] = simple_types[i].name;
        if (strcmp(text, names[i]) == 0) {
            *out = type_of(simple_types[i].id);
            return NULL;
        }
    }
    kith_error *error = error_new(KITH_ERROR_NOT_IMPLEMENTED, "there is no type \"%s\"", text);
    const char *nearest = str_nearest(text, names, ARRAY_SIZE(names));
    if (nearest != NULL)
        error = error_hint(error, "Did you mean \"%s\"?", nearest);
    return bind_error_at(binder, error, name->location);
}

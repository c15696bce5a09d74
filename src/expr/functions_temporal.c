#include "columnar/calendar.h"
#include "columnar/scalar.h"
#include "expr/functions_rows.h"

#include <strings.h>

/* What date_part and date_trunc can be asked for, from the coarsest. */
enum date_field {
    FIELD_YEAR,
    FIELD_QUARTER,
    FIELD_MONTH,
    FIELD_WEEK,
    FIELD_DAY,
    FIELD_HOUR,
    FIELD_MINUTE,
    FIELD_SECOND,
    FIELD_MILLISECOND,
    FIELD_MICROSECOND,
    FIELD_DAY_OF_WEEK,
    FIELD_ISO_DAY_OF_WEEK,
    FIELD_DAY_OF_YEAR,
    FIELD_EPOCH
};

static const struct {
    const char *name;
    enum date_field field;
} field_names[] = {
    {"year", FIELD_YEAR},
    {"quarter", FIELD_QUARTER},
    {"month", FIELD_MONTH},
    {"week", FIELD_WEEK},
    {"day", FIELD_DAY},
    {"hour", FIELD_HOUR},
    {"minute", FIELD_MINUTE},
    {"second", FIELD_SECOND},
    {"millisecond", FIELD_MILLISECOND},
    {"milliseconds", FIELD_MILLISECOND},
    {"microsecond", FIELD_MICROSECOND},
    {"microseconds", FIELD_MICROSECOND},
    {"dow", FIELD_DAY_OF_WEEK},
    {"isodow", FIELD_ISO_DAY_OF_WEEK},
    {"doy", FIELD_DAY_OF_YEAR},
    {"epoch", FIELD_EPOCH},
};

static kith_error *field_of(struct str text, enum date_field *out)
{
    for (size_t i = 0; i < ARRAY_SIZE(field_names); i++) {
        const char *name = field_names[i].name;
        if (strlen(name) == text.length && strncasecmp(name, text.data, text.length) == 0) {
            *out = field_names[i].field;
            return NULL;
        }
    }
    int shown = (int)MIN(text.length, (size_t)40);
    return error_hint(error_new(KITH_ERROR_INVALID_ARGUMENT, "\"%.*s\" is no part of a date", shown, text.data),
                      "parts are year, quarter, month, week, day, hour, minute, second, milliseconds, microseconds, "
                      "dow, isodow, doy and epoch");
}

static bool is_date(enum type_id id)
{
    return id == TYPE_DATE32 || id == TYPE_DATE64;
}

static bool is_time(enum type_id id)
{
    return id == TYPE_TIME32 || id == TYPE_TIME64;
}

/* Int32, as in DataFusion, but Float64 for seconds since the epoch, which only a constant field can ask for. */
kith_error *function_resolve_date_part(const struct data_type *arguments, const struct scalar *const *constants,
                                       size_t count, struct data_type *out)
{
    enum type_id id = arguments[1].id;
    if (!type_is_string(arguments[0].id) || (!is_date(id) && !is_time(id) && id != TYPE_TIMESTAMP))
        return function_type_error(arguments, count);
    *out = type_of(TYPE_INT32);
    if (constants != NULL && constants[0] != NULL && !constants[0]->is_null) {
        enum date_field field = FIELD_YEAR;
        TRY(field_of(constants[0]->string, &field));
        if (field == FIELD_EPOCH)
            *out = type_of(TYPE_FLOAT64);
    }
    return NULL;
}

/* The type of the second argument: a date stays a date (DuckDB; PostgreSQL and DataFusion make it a timestamp). */
kith_error *function_resolve_date_trunc(const struct data_type *arguments, const struct scalar *const *constants,
                                        size_t count, struct data_type *out)
{
    enum type_id id = arguments[1].id;
    if (!type_is_string(arguments[0].id) || (!is_date(id) && id != TYPE_TIMESTAMP))
        return function_type_error(arguments, count);
    *out = arguments[1];
    return NULL;
}

/* A point in time as days since the epoch and units of that day. */
struct moment {
    int64_t days, of_day, per_second;
};

static struct moment moment_at(const struct datum *datum, size_t row)
{
    const struct data_type *type = &datum->array->type;
    int64_t value = scalar_from_array(datum->array, datum_row(datum, row)).int64;
    struct moment moment = {.per_second = 1};
    if (type->id == TYPE_DATE32) {
        moment.days = value;
        return moment;
    }
    moment.per_second = type->id == TYPE_DATE64 ? 1000 : calendar_units_per_second(type->unit);
    moment.days = calendar_divide(value, SECONDS_PER_DAY * moment.per_second, &moment.of_day);
    return moment;
}

/* 1 = Monday to 7 = Sunday; 1970-01-01 was a Thursday. */
static int64_t iso_day_of_week(int64_t days)
{
    int64_t rest;
    (void)calendar_divide(days + 3, 7, &rest);
    return rest + 1;
}

static int64_t first_of_year(int64_t year)
{
    return calendar_to_days((struct civil_date){year, 1, 1});
}

/* ISO 8601: the week with the year's first Thursday is its first. */
static int64_t iso_week(int64_t days)
{
    int64_t thursday = days - iso_day_of_week(days) + 4;
    return (thursday - first_of_year(calendar_from_days(thursday).year)) / 7 + 1;
}

static int64_t part_of_date(enum date_field field, int64_t days)
{
    struct civil_date date = calendar_from_days(days);
    switch ((int)field) {
    case FIELD_YEAR:
        return date.year;
    case FIELD_QUARTER:
        return (date.month + 2) / 3;
    case FIELD_MONTH:
        return date.month;
    case FIELD_WEEK:
        return iso_week(days);
    case FIELD_DAY:
        return date.day;
    case FIELD_DAY_OF_WEEK:
        return iso_day_of_week(days) % 7;
    case FIELD_ISO_DAY_OF_WEEK:
        return iso_day_of_week(days);
    default:
        return days - first_of_year(date.year) + 1;
    }
}

/* Milli- and microseconds are those of the minute, seconds included. */
static int64_t part_of_day(enum date_field field, int64_t of_day, int64_t per_second)
{
    int64_t of_minute = of_day % (60 * per_second);
    switch ((int)field) {
    case FIELD_HOUR:
        return of_day / (3600 * per_second);
    case FIELD_MINUTE:
        return of_day / (60 * per_second) % 60;
    case FIELD_SECOND:
        return of_minute / per_second;
    case FIELD_MILLISECOND:
        return per_second >= 1000 ? of_minute / (per_second / 1000) : of_minute * 1000;
    default:
        return per_second >= 1000000 ? of_minute / (per_second / 1000000) : of_minute * (1000000 / per_second);
    }
}

static bool is_part_of_day(enum date_field field)
{
    return field >= FIELD_HOUR && field <= FIELD_MICROSECOND;
}

static kith_error *date_part_row(const struct function_rows *call, size_t row, int64_t *out)
{
    enum date_field field = FIELD_YEAR;
    TRY(field_of(function_text(call, 0, row), &field));
    struct moment moment = moment_at(&call->arguments[1], row);
    if (field == FIELD_EPOCH)
        return error_new(KITH_ERROR_NOT_IMPLEMENTED, "date_part of 'epoch' when the part is not a constant");
    if (is_part_of_day(field))
        *out = part_of_day(field, moment.of_day, moment.per_second);
    else if (is_time(call->arguments[1].array->type.id))
        return error_new(KITH_ERROR_INVALID_ARGUMENT, "a time of day has no such part as a date has");
    else
        *out = part_of_date(field, moment.days);
    return NULL;
}

static kith_error *run_epoch(const struct function_rows *call, struct array **out)
{
    _cleanup_(array_unref) struct array *result = NULL;
    TRY(kernel_new_zeroed_result(call->type, call->rows, &result));
    TRY(kernel_unite_validity(result, call->arguments, call->count));
    double *seconds = (double *)(void *)result->values->data;
    for (size_t k = 0; k < selected_count(call->selection, call->rows); k++) {
        size_t row = selected_row(call->selection, k);
        struct moment moment = moment_at(&call->arguments[1], row);
        int64_t whole = moment.days * SECONDS_PER_DAY + moment.of_day / moment.per_second;
        int64_t rest = moment.of_day % moment.per_second;
        seconds[row] = (double)whole + (double)rest / (double)moment.per_second;
    }
    *out = TAKE(result);
    return NULL;
}

kith_error *function_run_date_part(const struct datum *arguments, size_t count, size_t rows,
                                   const struct selection *selection, const struct data_type *type, struct array **out)
{
    struct function_rows call = function_rows_of(arguments, count, rows, selection, type);
    return type->id == TYPE_FLOAT64 ? run_epoch(&call, out) : function_run_integer_rows(&call, date_part_row, out);
}

/* The first day of the period that the day is in. */
static int64_t first_day(enum date_field field, int64_t days)
{
    struct civil_date date = calendar_from_days(days);
    switch ((int)field) {
    case FIELD_YEAR:
        return first_of_year(date.year);
    case FIELD_QUARTER:
        return calendar_to_days((struct civil_date){date.year, (date.month - 1) / 3 * 3 + 1, 1});
    case FIELD_MONTH:
        return calendar_to_days((struct civil_date){date.year, date.month, 1});
    case FIELD_WEEK:
        return days - iso_day_of_week(days) + 1;
    default:
        return days;
    }
}

/* Units of the day without what is finer than the field. */
static int64_t truncate_day(enum date_field field, int64_t of_day, int64_t per_second)
{
    static const int64_t seconds[] = {[FIELD_HOUR] = 3600, [FIELD_MINUTE] = 60, [FIELD_SECOND] = 1};
    if (field <= FIELD_DAY)
        return 0;
    int64_t step = 1;
    if (field <= FIELD_SECOND)
        step = seconds[field] * per_second;
    else if (field == FIELD_MILLISECOND)
        step = MAX(per_second / 1000, (int64_t)1);
    else if (field == FIELD_MICROSECOND)
        step = MAX(per_second / 1000000, (int64_t)1);
    return of_day - of_day % step;
}

static kith_error *date_trunc_row(const struct function_rows *call, size_t row, int64_t *out)
{
    enum date_field field = FIELD_YEAR;
    struct str name = function_text(call, 0, row);
    TRY(field_of(name, &field));
    if (field > FIELD_MICROSECOND)
        return error_new(KITH_ERROR_INVALID_ARGUMENT, "date_trunc cannot truncate to \"%.*s\"", (int)name.length,
                         name.data);
    struct moment moment = moment_at(&call->arguments[1], row);
    int64_t days = first_day(field, moment.days);
    int64_t of_day = truncate_day(field, moment.of_day, moment.per_second);
    if (call->type->id == TYPE_DATE32) {
        *out = days;
        return NULL;
    }
    if (__builtin_mul_overflow(days, SECONDS_PER_DAY * moment.per_second, out) ||
        __builtin_add_overflow(*out, of_day, out))
        return error_new(KITH_ERROR_OUT_OF_RANGE, "date_trunc goes before the first timestamp of its unit");
    return NULL;
}

DEFINE_INTEGER_FUNCTION(function_run_date_trunc, date_trunc_row)

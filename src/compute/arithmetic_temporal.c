#include "columnar/calendar.h"
#include "columnar/scalar.h"
#include "compute/arithmetic_parts.h"

enum { MILLISECONDS_PER_DAY = 86400000 };
static const int64_t NANOSECONDS_PER_DAY = INT64_C(86400000000000);

static bool is_point(enum type_id id)
{
    return id == TYPE_DATE32 || id == TYPE_DATE64 || id == TYPE_TIMESTAMP;
}

static int64_t load(const struct array *array, size_t row)
{
    return scalar_from_array(array, row).int64;
}

/* Stores a value of the result's width; false when it does not fit. */
static bool store(struct array *result, size_t row, int64_t value)
{
    if (type_width(&result->type) == sizeof(int32_t)) {
        if (value < INT32_MIN || value > INT32_MAX)
            return false;
        ((int32_t *)(void *)result->values->data)[row] = (int32_t)value;
        return true;
    }
    ((int64_t *)(void *)result->values->data)[row] = value;
    return true;
}

/* Days to the date type's own unit. */
static bool date_of_days(const struct data_type *type, int64_t days, int64_t *out)
{
    *out = days;
    return type->id == TYPE_DATE32 || !__builtin_mul_overflow(days, (int64_t)MILLISECONDS_PER_DAY, out);
}

static bool add(int64_t a, int64_t b, bool subtract, int64_t *out)
{
    return subtract ? !__builtin_sub_overflow(a, b, out) : !__builtin_add_overflow(a, b, out);
}

/* The date moved by whole months; a day that the month does not have becomes its last. */
static int64_t add_months(int64_t days, int64_t months)
{
    struct civil_date date = calendar_from_days(days);
    int64_t month;
    date.year += calendar_divide(date.month - 1 + months, 12, &month);
    date.month = (int)month + 1;
    int last = calendar_days_in_month(date.year, date.month);
    date.day = MIN(date.day, last);
    return calendar_to_days(date);
}

struct interval {
    int64_t months, days, nanoseconds; /* all with the sign of the operation applied */
};

static struct interval interval_at(const struct array *array, size_t row, bool subtract)
{
    struct scalar value = scalar_from_array(array, row);
    struct interval interval = {0};
    if (array->type.id == TYPE_INTERVAL_MONTHS)
        interval.months = value.int64;
    else
        interval = (struct interval){value.interval.months, value.interval.days, value.interval.nanoseconds};
    if (subtract) {
        interval.months = -interval.months;
        interval.days = -interval.days;
        /* The one value without a counterpart is 292 years; a nanosecond less is as good. */
        interval.nanoseconds = -MAX(interval.nanoseconds, -INT64_MAX);
    }
    return interval;
}

static bool date_plus_interval(const struct data_type *type, int64_t date, struct interval interval, int64_t *out)
{
    int64_t days = type->id == TYPE_DATE32 ? date : date / MILLISECONDS_PER_DAY;
    days = add_months(days, interval.months) + interval.days + interval.nanoseconds / NANOSECONDS_PER_DAY;
    return date_of_days(type, days, out);
}

static bool timestamp_plus_interval(const struct data_type *type, int64_t timestamp, struct interval interval,
                                    int64_t *out)
{
    int64_t per_day = calendar_units_per_second(type->unit) * SECONDS_PER_DAY, time_of_day;
    int64_t days = calendar_divide(timestamp, per_day, &time_of_day);
    /* Seconds since the epoch may be further away than the calendar goes. */
    if (days > INT32_MAX || days < INT32_MIN)
        return false;
    days = add_months(days, interval.months) + interval.days;
    int64_t units_of_interval = interval.nanoseconds / (1000000000 / calendar_units_per_second(type->unit));
    int64_t midnight, moment;
    if (__builtin_mul_overflow(days, per_day, &midnight)) {
        /* Only the first day of the range of nanoseconds, which begins before noon. */
        if (days >= 0 || __builtin_mul_overflow(days + 1, per_day, &midnight))
            return false;
        time_of_day -= per_day;
    }
    return !__builtin_add_overflow(midnight, time_of_day, &moment) &&
           !__builtin_add_overflow(moment, units_of_interval, out);
}

static bool date_plus_days(const struct arithmetic *arithmetic, const struct datum *date, const struct datum *days,
                           size_t row, int64_t *out)
{
    const struct data_type *type = &date->array->type;
    struct scalar count = scalar_from_array(days->array, datum_row(days, row));
    if (count.type.id == TYPE_UINT64 && count.uint64 > INT64_MAX)
        return false;
    int64_t scaled;
    return date_of_days(type, count.int64, &scaled) &&
           add(load(date->array, datum_row(date, row)), scaled, arithmetic->operation == ARITHMETIC_SUBTRACT, out);
}

/* One row; false when the result does not fit. */
static bool compute(const struct arithmetic *arithmetic, size_t row, int64_t *out)
{
    const struct datum *left = arithmetic->left, *right = arithmetic->right;
    bool subtract = arithmetic->operation == ARITHMETIC_SUBTRACT;
    if (!is_point(left->array->type.id) && is_point(right->array->type.id)) {
        const struct datum *point = right;
        right = left;
        left = point;
    }
    const struct data_type *type = &left->array->type, *other = &right->array->type;
    size_t left_row = datum_row(left, row), right_row = datum_row(right, row);
    if (type_is_integer(other->id))
        return date_plus_days(arithmetic, left, right, row, out);
    if (is_point(other->id) || other->id == TYPE_DURATION) {
        if (!add(load(left->array, left_row), load(right->array, right_row), subtract, out))
            return false;
        if (type->id == TYPE_DATE64)
            *out /= MILLISECONDS_PER_DAY;
        return true;
    }
    struct interval interval = interval_at(right->array, right_row, subtract);
    int64_t point = load(left->array, left_row);
    return type->id == TYPE_TIMESTAMP ? timestamp_plus_interval(type, point, interval, out)
                                      : date_plus_interval(type, point, interval, out);
}

kith_error *arithmetic_temporal(const struct arithmetic *arithmetic)
{
    for (size_t k = 0; k < selected_count(arithmetic->selection, arithmetic->rows); k++) {
        size_t row = selected_row(arithmetic->selection, k);
        int64_t value;
        if (array_is_null(arithmetic->result, row))
            continue;
        if (!compute(arithmetic, row, &value) || !store(arithmetic->result, row, value))
            return arithmetic_out_of_range(arithmetic, row);
    }
    return NULL;
}

#include "columnar/calendar.h"
#include "columnar/scalar.h"
#include "compute/cast_parts.h"

enum { MILLISECONDS_PER_DAY = 86400000 };

static bool is_date(enum type_id id)
{
    return id == TYPE_DATE32 || id == TYPE_DATE64;
}

static bool is_time(enum type_id id)
{
    return id == TYPE_TIME32 || id == TYPE_TIME64;
}

bool cast_temporal_check(const struct data_type *from, const struct data_type *to)
{
    bool from_point = is_date(from->id) || from->id == TYPE_TIMESTAMP;
    bool to_point = is_date(to->id) || to->id == TYPE_TIMESTAMP;
    if (type_is_integer(from->id))
        return to_point || is_time(to->id) || to->id == TYPE_DURATION;
    if (type_is_integer(to->id))
        return from_point || is_time(from->id) || from->id == TYPE_DURATION;
    if (from_point)
        return to_point || (from->id == TYPE_TIMESTAMP && is_time(to->id));
    if (is_time(from->id))
        return is_time(to->id);
    return from->id == TYPE_DURATION && to->id == TYPE_DURATION;
}

/* From one unit to another: rounded down or multiplied. A value of `from` fits 64 bits. */
static __int128 convert_unit(int64_t value, enum time_unit from, enum time_unit to)
{
    int64_t from_units = calendar_units_per_second(from), to_units = calendar_units_per_second(to), rest;
    if (to_units >= from_units)
        return (__int128)value * (to_units / from_units);
    return calendar_divide(value, from_units / to_units, &rest);
}

/* Dates and timestamps through an instant in the unit of the source (nanoseconds would not hold all). */
static enum parse_result convert_point(const struct cast *cast, size_t row, int64_t value)
{
    const struct data_type *from = &cast->from->type, *to = cast->to;
    enum time_unit unit = from->id == TYPE_TIMESTAMP ? from->unit : UNIT_SECOND;
    __int128 instant = value; /* in `unit`, UTC */
    int64_t rest;
    if (from->id == TYPE_DATE64)
        instant = calendar_divide(value, MILLISECONDS_PER_DAY, &rest);
    if (is_date(from->id))
        instant *= 86400;
    /* Only wall-clock time is shifted: between two zones the instant stays. */
    bool from_zone = from->id == TYPE_TIMESTAMP && from->timezone[0] != '\0';
    bool to_zone = to->id == TYPE_TIMESTAMP && to->timezone[0] != '\0';
    if (from_zone && !to_zone)
        instant += (__int128)cast->from_offset * calendar_units_per_second(unit);
    if (to_zone && !from_zone)
        instant -= (__int128)cast->to_offset * calendar_units_per_second(unit);
    if (instant < INT64_MIN || instant > INT64_MAX)
        return PARSE_OUT_OF_RANGE;
    __int128 result;
    if (to->id == TYPE_TIMESTAMP) {
        result = convert_unit((int64_t)instant, unit, to->unit);
    } else if (is_time(to->id)) {
        (void)calendar_divide((int64_t)instant, calendar_units_per_second(unit) * SECONDS_PER_DAY, &rest);
        result = convert_unit(rest, unit, to->unit);
    } else {
        result = calendar_divide((int64_t)instant, calendar_units_per_second(unit) * SECONDS_PER_DAY, &rest);
        if (to->id == TYPE_DATE64)
            result *= MILLISECONDS_PER_DAY;
    }
    return kernel_store_integer(cast->result, row, result) ? PARSE_OK : PARSE_OUT_OF_RANGE;
}

enum parse_result cast_temporal(const struct cast *cast, size_t row)
{
    struct scalar value = scalar_from_array(cast->from, row);
    const struct data_type *from = &cast->from->type, *to = cast->to;
    __int128 result;
    if (is_date(from->id) || from->id == TYPE_TIMESTAMP) {
        if (!type_is_integer(to->id))
            return convert_point(cast, row, value.int64);
        result = value.int64;
    } else if (type_is_integer(from->id) || type_is_integer(to->id)) {
        bool is_unsigned = type_is_integer(from->id) && !type_is_signed_integer(from->id);
        result = is_unsigned ? (__int128)value.uint64 : (__int128)value.int64;
    } else {
        result = convert_unit(value.int64, from->unit, to->unit);
    }
    return kernel_store_integer(cast->result, row, result) ? PARSE_OK : PARSE_OUT_OF_RANGE;
}

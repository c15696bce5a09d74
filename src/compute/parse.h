/*
 * Values from text, strictly: the whole text must be one value, with nothing around it but ASCII white space. Used by
 * CAST and by the binder's typed literals. Nothing here allocates or depends on the locale.
 *   boolean     true false t f yes no y n on off 1 0, in any case
 *   integer     [+-]digits
 *   decimal     [+-]digits[.digits][e[+-]digits], rounded half away from zero to the scale
 *   float       the same, or [+-]inf, [+-]infinity, nan in any case
 *   date        [+-]YYYY-MM-DD, years of four to six digits
 *   time        HH:MM[:SS[.fraction]], up to nine digits of fraction
 *   timestamp   date, or date and time with a space or T between; then an optional zone: Z, UTC, +HH, +HHMM, +HH:MM.
 *               With a zone it is converted to UTC.
 *   interval    parts of [+-]number unit, and [+-]HH:MM[:SS[.fraction]]: "1 month -2.5 days 04:05"
 * Digits of a fraction that the unit cannot hold are dropped.
 */
#ifndef KITH_COMPUTE_PARSE_H
#define KITH_COMPUTE_PARSE_H

#include "columnar/type.h"

enum parse_result {
    PARSE_OK,
    PARSE_INVALID,     /* does not spell a value of the kind */
    PARSE_OUT_OF_RANGE /* does, but the value does not fit */
};

enum parse_result parse_boolean(struct str text, bool *out);
enum parse_result parse_integer(struct str text, __int128 least, __int128 greatest, __int128 *out);
/* The unscaled value of at most `precision` (up to 38) digits. */
enum parse_result parse_decimal(struct str text, int precision, int scale, __int128 *out);
enum parse_result parse_float(struct str text, double *out);
/* Days since 1970-01-01. */
enum parse_result parse_date(struct str text, int32_t *out);
/* Units since midnight. */
enum parse_result parse_time(struct str text, enum time_unit unit, int64_t *out);
/* Units since the epoch. A text without zone is wall-clock time `offset_seconds` east of UTC. */
enum parse_result parse_timestamp(struct str text, enum time_unit unit, int32_t offset_seconds, int64_t *out);

struct interval {
    int64_t months, days, nanoseconds; /* months and days fit an int32 in what parse_interval gives */
};

/* A number without unit is of `default_unit`. Fractions of days and of smaller units only. */
enum parse_result parse_interval(struct str text, const char *default_unit, struct interval *out);

/* Seconds east of UTC of "", "UTC", "Z", "Etc/UTC", "GMT" (all 0), "+02:00", "-0330", "+01"; false for other zones. */
bool parse_fixed_offset(struct str zone, int32_t *out);

/* "YYYY-MM-DD" and the like for error messages; "" for types whose spelling needs no explanation. */
const char *parse_expected(const struct data_type *type);

#endif

/*
 * The proleptic Gregorian calendar: days since 1970-01-01 to year, month and day and back, for any year. Year 0 is 1
 * BC. No time zones, no leap seconds; text is read and written elsewhere.
 *
 * Algorithms: Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms" (2013), days_from_civil and
 * civil_from_days, which count from March 1 of year 0 in eras of 400 years.
 */
#ifndef KITH_COLUMNAR_CALENDAR_H
#define KITH_COLUMNAR_CALENDAR_H

#include "columnar/type.h"

enum { SECONDS_PER_DAY = 86400 };

struct civil_date {
    int64_t year;
    int month; /* 1 to 12 */
    int day;   /* 1 to 31 */
};

/* |days| up to 2^55, which no 64-bit count of seconds exceeds. */
struct civil_date calendar_from_days(int64_t days);

/* The date must exist; |year| up to 2^46. */
int64_t calendar_to_days(struct civil_date date);

bool calendar_is_leap_year(int64_t year);
int calendar_days_in_month(int64_t year, int month);

/* 1, 1000, 1000000 or 1000000000. */
int64_t calendar_units_per_second(enum time_unit unit);

/* Quotient rounded down, and what remains, 0 to divisor - 1; `divisor` is positive. */
static inline int64_t calendar_divide(int64_t value, int64_t divisor, int64_t *remainder)
{
    int64_t quotient = value / divisor;
    *remainder = value % divisor;
    if (*remainder < 0) {
        *remainder += divisor;
        quotient--;
    }
    return quotient;
}

#endif

#include "columnar/calendar.h"

enum {
    DAYS_PER_ERA = 146097, /* 400 years */
    YEARS_PER_ERA = 400,
    EPOCH_FROM_MARCH_0 = 719468 /* days from 0000-03-01 to 1970-01-01 */
};

struct civil_date calendar_from_days(int64_t days)
{
    int64_t day_of_era;
    int64_t era = calendar_divide(days + EPOCH_FROM_MARCH_0, DAYS_PER_ERA, &day_of_era);
    /* Leap days are left out: one in 4 years but for one in 100, and none on the last day of the era. */
    int64_t year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    /* Months from March have 31, 30, 31, 30, 31 days, and so on: 153 in five. */
    int month_from_march = (int)(5 * day_of_year + 2) / 153;
    struct civil_date date = {
        .year = era * YEARS_PER_ERA + year_of_era,
        .month = month_from_march < 10 ? month_from_march + 3 : month_from_march - 9,
        .day = (int)day_of_year - (153 * month_from_march + 2) / 5 + 1,
    };
    date.year += date.month <= 2;
    return date;
}

int64_t calendar_to_days(struct civil_date date)
{
    int64_t year = date.year - (date.month <= 2), year_of_era;
    int64_t era = calendar_divide(year, YEARS_PER_ERA, &year_of_era);
    int month_from_march = date.month > 2 ? date.month - 3 : date.month + 9;
    int64_t day_of_year = (153 * month_from_march + 2) / 5 + date.day - 1;
    int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    return era * DAYS_PER_ERA + day_of_era - EPOCH_FROM_MARCH_0;
}

bool calendar_is_leap_year(int64_t year)
{
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

int calendar_days_in_month(int64_t year, int month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    return month == 2 && calendar_is_leap_year(year) ? 29 : days[month - 1];
}

int64_t calendar_units_per_second(enum time_unit unit)
{
    static const int64_t units[] = {1, 1000, 1000000, 1000000000};
    return units[unit];
}

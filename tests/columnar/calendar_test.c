#include "testing.h"

#include "columnar/calendar.h"

static void known_dates_have_their_days(void **state)
{
    const struct {
        struct civil_date date;
        int64_t days;
    } cases[] = {{{1970, 1, 1}, 0},         {{1969, 12, 31}, -1},        {{2000, 2, 29}, 11016}, {{2000, 3, 1}, 11017},
                 {{1900, 3, 1}, -25508},    {{1992, 1, 1}, 8035},        {{1, 1, 1}, -719162},   {{0, 12, 31}, -719163},
                 {{9999, 12, 31}, 2932896}, {{-4713, 11, 24}, -2440588}, {{2038, 1, 19}, 24855}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(calendar_to_days(cases[i].date), cases[i].days);
        struct civil_date date = calendar_from_days(cases[i].days);
        assert_int_equal(date.year, cases[i].date.year);
        assert_int_equal(date.month, cases[i].date.month);
        assert_int_equal(date.day, cases[i].date.day);
    }
}

/* Day after day through 1,200 years about year 0, against a calendar that only knows how long a month is. */
static void every_day_follows_the_one_before(void **state)
{
    struct civil_date expected = {-600, 1, 1};
    for (int64_t days = calendar_to_days(expected); expected.year < 600; days++) {
        struct civil_date date = calendar_from_days(days);
        assert_int_equal(date.year, expected.year);
        assert_int_equal(date.month, expected.month);
        assert_int_equal(date.day, expected.day);
        assert_int_equal(calendar_to_days(date), days);
        if (++expected.day > calendar_days_in_month(expected.year, expected.month)) {
            expected.day = 1;
            if (++expected.month > 12) {
                expected.month = 1;
                expected.year++;
            }
        }
    }
}

static void days_of_any_timestamp_convert_and_return(void **state)
{
    uint64_t random = 1;
    for (int i = 0; i < 100000; i++) {
        int64_t rest, days = calendar_divide((int64_t)test_random(&random), SECONDS_PER_DAY, &rest);
        assert_in_range(rest, 0, SECONDS_PER_DAY - 1);
        assert_true(calendar_to_days(calendar_from_days(days)) == days);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_dates_have_their_days),
        cmocka_unit_test(every_day_follows_the_one_before),
        cmocka_unit_test(days_of_any_timestamp_convert_and_return),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

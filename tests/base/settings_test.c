#include "testing.h"

#include "base/settings.h"

static struct settings settings;

static int reset(void **state)
{
    settings_init(&settings);
    return 0;
}

static kith_error *set(const char *name, const char *text)
{
    enum setting setting;
    TRY(setting_find(name, &setting));
    return settings_set(&settings, setting, text);
}

static void every_default_is_within_its_range_and_reads_back(void **state)
{
    for (int i = 0; i < SETTING_COUNT; i++) {
        char text[64];
        settings_format(&settings, (enum setting)i, text, sizeof text);
        assert_ok(settings_set(&settings, (enum setting)i, text));
        assert_int_equal(settings_get(&settings, (enum setting)i), setting_infos[i].default_value);
    }
}

static void names_may_carry_the_prefix_of_datafusion(void **state)
{
    assert_ok(set("datafusion.execution.batch_size", "100"));
    assert_ok(set("Execution.Batch_Size", "101"));
    assert_int_equal(settings_get(&settings, SETTING_BATCH_SIZE), 101);
}

static void a_misspelt_name_is_answered_with_the_nearest(void **state)
{
    kith_error *error = set("execution.batchsize", "1");
    assert_int_equal(kith_error_code(error), KITH_ERROR_UNDEFINED_SETTING);
    assert_string_equal(kith_error_hint(error), "Did you mean \"execution.batch_size\"?");
    kith_error_free(error);
}

static void sizes_and_times_take_units(void **state)
{
    assert_ok(set("runtime.memory_limit", "64MiB"));
    assert_int_equal(settings_get(&settings, SETTING_MEMORY_LIMIT), 64 << 20);
    assert_ok(set("distributed.keepalive", "2s"));
    assert_int_equal(settings_get(&settings, SETTING_KEEPALIVE), 2000);
}

static void wrong_values_are_refused_with_what_was_expected(void **state)
{
    assert_fails(set("execution.batch_size", "many"), KITH_ERROR_INVALID_ARGUMENT, "a whole number");
    assert_fails(set("execution.batch_size", "0"), KITH_ERROR_INVALID_ARGUMENT, "from 1 to");
    assert_fails(set("distributed.compression", "gzip"), KITH_ERROR_INVALID_ARGUMENT, "lz4,zstd,none");
    assert_fails(set("runtime.memory_limit", "99999999999T"), KITH_ERROR_INVALID_ARGUMENT, "a size");
}

static void a_choice_of_off_and_on_takes_truth_values(void **state)
{
    assert_ok(set("distributed.sibling_topk", "true"));
    assert_int_equal(settings_get(&settings, SETTING_SIBLING_TOPK), SIBLING_TOPK_ON);
    assert_ok(set("distributed.sibling_topk", "false"));
    assert_int_equal(settings_get(&settings, SETTING_SIBLING_TOPK), SIBLING_TOPK_OFF);
    assert_ok(set("distributed.sibling_topk", "auto"));
    assert_int_equal(settings_get(&settings, SETTING_SIBLING_TOPK), SIBLING_TOPK_AUTO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(every_default_is_within_its_range_and_reads_back, reset),
        cmocka_unit_test_setup(names_may_carry_the_prefix_of_datafusion, reset),
        cmocka_unit_test_setup(a_misspelt_name_is_answered_with_the_nearest, reset),
        cmocka_unit_test_setup(sizes_and_times_take_units, reset),
        cmocka_unit_test_setup(wrong_values_are_refused_with_what_was_expected, reset),
        cmocka_unit_test_setup(a_choice_of_off_and_on_takes_truth_values, reset),
    };
    return cmocka_run_group_tests_name("base/settings", tests, NULL, NULL);
}

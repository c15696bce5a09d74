#include "compute/columns.h"
#include "compute/in_list.h"

/* -1 NULL, 0 false, 1 true. */
static int twin(const struct scalar *value, const struct scalar *list, size_t count)
{
    bool has_null = false;
    if (count == 0)
        return 0;
    if (value->is_null)
        return -1;
    for (size_t i = 0; i < count; i++) {
        if (list[i].is_null)
            has_null = true;
        else if (scalar_compare(value, &list[i]) == 0)
            return 1;
    }
    return has_null ? -1 : 0;
}

static void check(const struct data_type *type, size_t list_count, uint64_t *random)
{
    enum { ROWS = 300, MOST = 200 };
    static char texts[MOST][SAMPLE_STRING_BYTES];
    struct scalar list[MOST];
    _cleanup_(array_unref) struct array *values = sample_array(random, type, ROWS, TYPE_NULL), *found = NULL;
    _cleanup_(selection_unref) struct selection *some = sample_selection(random, ROWS, 3);
    _cleanup_(in_set_free) struct in_set *set = NULL;
    for (size_t i = 0; i < list_count; i++) {
        do
            list[i] = sample_scalar(random, type, texts[i]);
        while (list[i].is_null && list_count % 2 == 0);
        if (i % 3 == 0)
            list[i] = scalar_from_array(values, test_random(random) % ROWS);
    }
    struct datum datum = datum_of(values);
    assert_ok(in_set_new(type, list, list_count, &set));
    assert_ok(in_set_run(set, &datum, false, ROWS, some, &found));
    for (size_t k = 0; k < some->count; k++) {
        struct scalar value = scalar_from_array(values, some->rows[k]);
        int got = array_is_null(found, some->rows[k]) ? -1 : bitmap_get(found->values->data, some->rows[k]);
        assert_int_equal(got, twin(&value, list, list_count));
    }
}

static void every_type_is_found_in_short_and_long_lists(void **state)
{
    uint64_t random = 7;
    for (size_t t = 1; t < ARRAY_SIZE(sample_types); t++) {
        const struct data_type *type = &sample_types[t];
        if (type->id == TYPE_INTERVAL_DAY_TIME || type->id == TYPE_INTERVAL_MONTH_DAY_NANO)
            continue;
        for (size_t count = 0; count < 200; count = count * 2 + 1)
            check(type, count, &random);
    }
}

static void texts_are_found_in_short_and_long_lists(void **state)
{
    static const char *const words[] = {"", "a", "b", "ab", "abc", "twelve bytes", "more than twelve bytes", "z"};
    _cleanup_(array_unref) struct array *values =
        TEXTS("", "abc", "more than twelve bytes", "more than twelve byteS", NULL);
    struct datum datum = datum_of(values);
    struct data_type type = type_of(TYPE_UTF8);
    struct scalar list[ARRAY_SIZE(words) + 1];
    for (size_t i = 0; i < ARRAY_SIZE(words); i++)
        list[i] = (struct scalar){.type = type, .string = str_of(words[i])};
    list[ARRAY_SIZE(words)] = scalar_null(&type);
    _cleanup_(in_set_free) struct in_set *few = NULL, *many = NULL, *with_null = NULL;
    _cleanup_(array_unref) struct array *in_few = NULL, *in_many = NULL, *not_in = NULL;
    assert_ok(in_set_new(&type, list, 3, &few));
    assert_ok(in_set_run(few, &datum, false, 5, NULL, &in_few));
    assert_column(in_few, "true,false,false,false,NULL");
    assert_ok(in_set_new(&type, list, ARRAY_SIZE(words), &many));
    assert_ok(in_set_run(many, &datum, false, 5, NULL, &in_many));
    assert_column(in_many, "true,true,true,false,NULL");
    assert_ok(in_set_new(&type, list, ARRAY_SIZE(list), &with_null));
    assert_ok(in_set_run(with_null, &datum, true, 5, NULL, &not_in));
    assert_column(not_in, "false,false,false,NULL,NULL");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_type_is_found_in_short_and_long_lists),
        cmocka_unit_test(texts_are_found_in_short_and_long_lists),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

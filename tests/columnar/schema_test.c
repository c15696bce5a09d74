#include "testing.h"

#include "base/alloc.h"
#include "columnar/schema.h"

static void types_are_spelled_as_datafusion_spells_them(void **state)
{
    struct data_type dictionary = type_of(TYPE_UTF8);
    dictionary.index = TYPE_INT32;
    const struct {
        struct data_type type;
        const char *text;
    } cases[] = {
        {type_of(TYPE_INT64), "Int64"},
        {type_decimal(38, -3), "Decimal128(38, -3)"},
        {type_decimal(15, 2), "Decimal64(15, 2)"},
        {type_timestamp(UNIT_MICROSECOND, "UTC"), "Timestamp(Microsecond, \"UTC\")"},
        {type_timestamp(UNIT_NANOSECOND, ""), "Timestamp(Nanosecond)"},
        {{.id = TYPE_FIXED_SIZE_BINARY, .byte_width = 16}, "FixedSizeBinary(16)"},
        {type_of(TYPE_INTERVAL_MONTH_DAY_NANO), "Interval(MonthDayNano)"},
        {dictionary, "Dictionary(Int32, Utf8)"},
    };
    char text[128];
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
        assert_string_equal(type_format(&cases[i].type, text, sizeof text), cases[i].text);
}

static void equality_ignores_parameters_that_a_type_does_not_have(void **state)
{
    struct data_type a = {.id = TYPE_INT32, .precision = 3}, b = {.id = TYPE_INT32, .unit = UNIT_NANOSECOND};
    assert_true(type_equal(&a, &b));
    struct data_type utc = type_timestamp(UNIT_SECOND, "UTC"), local = type_timestamp(UNIT_SECOND, "");
    assert_false(type_equal(&utc, &local));
    struct data_type plain = type_of(TYPE_UTF8), encoded = plain;
    encoded.index = TYPE_UINT8;
    assert_false(type_equal(&plain, &encoded));
    assert_true(type_equal_decoded(&plain, &encoded));
    assert_int_equal(type_width(&encoded), 1);
    assert_int_equal(type_width(&plain), 0);
}

static struct schema *make_schema(const char *third_child)
{
    char a[] = "a", b[] = "b", c[16];
    snprintf(c, sizeof c, "%s", third_child);
    struct field child = {.name = c, .type = type_decimal(10, 2), .nullable = true};
    struct field fields[] = {{.name = a, .type = type_of(TYPE_INT64)},
                             {.name = b, .type = type_of(TYPE_STRUCT), .children = &child, .child_count = 1}};
    struct schema *schema = NULL;
    assert_ok(schema_new(fields, 2, &schema));
    return schema;
}

static void schemas_compare_names_types_and_children_but_not_metadata(void **state)
{
    _cleanup_(schema_unref) struct schema *one = make_schema("c"), *same = make_schema("c"), *other = make_schema("d");
    assert_ok(schema_add_metadata(same, "key", "value"));
    assert_string_equal(same->metadata[0].value, "value");
    assert_true(schema_equal(one, same));
    assert_false(schema_equal(one, other));
}

static void a_field_is_found_and_projected_by_number(void **state)
{
    _cleanup_(schema_unref) struct schema *schema = make_schema("c"), *projected = NULL;
    assert_int_equal(schema_find(schema, "b"), 1);
    assert_int_equal(schema_find(schema, "B"), -1);
    size_t fields[] = {1, 1, 0};
    assert_ok(schema_project(schema, fields, 3, &projected));
    assert_int_equal(projected->field_count, 3);
    assert_string_equal(projected->fields[0].children[0].name, "c");
    assert_string_equal(projected->fields[2].name, "a");
    size_t missing = 2;
    struct schema *none = NULL;
    assert_fails(schema_project(schema, &missing, 1, &none), KITH_ERROR_INVALID_ARGUMENT, "2 fields");
}

static void a_field_keeps_its_metadata_in_every_copy(void **state)
{
    char name[] = "id";
    struct field field = {.name = name, .type = type_of(TYPE_INT64)};
    assert_ok(field_add_metadata(&field, "PARQUET:field_id", "7"));
    _cleanup_(schema_unref) struct schema *schema = NULL, *projected = NULL;
    kith_error *made = schema_new(&field, 1, &schema);
    field.name = NULL;
    field_reset(&field);
    assert_ok(made);
    assert_ok(schema_project(schema, (size_t[]){0}, 1, &projected));
    assert_int_equal(projected->fields[0].metadata_count, 1);
    assert_string_equal(projected->fields[0].metadata[0].key, "PARQUET:field_id");
    assert_string_equal(projected->fields[0].metadata[0].value, "7");
}

static kith_error *copy_schema(void *state)
{
    const struct schema *schema = state;
    _cleanup_(schema_unref) struct schema *copy = NULL;
    return schema_new(schema->fields, schema->field_count, &copy);
}

static void a_schema_survives_without_memory(void **state)
{
    _cleanup_(schema_unref) struct schema *schema = make_schema("c");
    assert_survives_without_memory(copy_schema, schema, 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(types_are_spelled_as_datafusion_spells_them),
        cmocka_unit_test(equality_ignores_parameters_that_a_type_does_not_have),
        cmocka_unit_test(schemas_compare_names_types_and_children_but_not_metadata),
        cmocka_unit_test(a_field_is_found_and_projected_by_number),
        cmocka_unit_test(a_field_keeps_its_metadata_in_every_copy),
        cmocka_unit_test(a_schema_survives_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

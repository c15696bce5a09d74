#include "base/vec.h"
#include "wire/plans.h"
#include "wire/scalars.h"

#include <stdlib.h>

#define NAME(text) .name = (char *)(uintptr_t)(text)

/* Every flat type that a literal has, then dictionaries and nested types. */
kith_error *test_schema_of_all_types(struct schema **out)
{
    static struct field entry[] = {{NAME("key"), .type = {.id = TYPE_UTF8}},
                                   {NAME("value"), .type = {.id = TYPE_INT64}, .nullable = true}};
    static struct field item[] = {{NAME("item"), .type = {.id = TYPE_UTF8_VIEW}, .nullable = true}};
    static struct field entries[] = {
        {NAME("entries"), .type = {.id = TYPE_STRUCT}, .children = entry, .child_count = 2}};
    static const struct field extra[] = {
        {NAME("words"), .type = {.id = TYPE_UTF8, .index = TYPE_INT32}, .nullable = true},
        {NAME("prices"), .type = {.id = TYPE_DECIMAL64, .index = TYPE_UINT8, .precision = 10, .scale = 2}},
        {NAME("list"), .type = {.id = TYPE_LIST}, .nullable = true, .children = item, .child_count = 1},
        {NAME("struct"), .type = {.id = TYPE_STRUCT}, .children = entry, .child_count = 2},
        {NAME("map"), .type = {.id = TYPE_MAP}, .children = entries, .child_count = 1},
        {NAME("map"), .type = {.id = TYPE_INT8}}, /* a name twice */
    };
    const struct scalar *scalars;
    size_t count = test_scalars(&scalars);
    _cleanup_free_ struct field *fields = NULL;
    TRY(NEW_ARRAY(&fields, count + ARRAY_SIZE(extra)));
    for (size_t i = 0; i < count; i++)
        fields[i] = (struct field){NAME("flat"), .type = scalars[i].type, .nullable = i % 2 == 0};
    memcpy(fields + count, extra, sizeof extra);
    TRY(schema_new(fields, count + ARRAY_SIZE(extra), out));
    TRY(field_add_metadata(&(*out)->fields[0], "unit", "apples"));
    return schema_add_metadata(*out, "origin", "gr\xc3\xbc\xc3\x9f");
}

/* Three columns of each type that random expressions start from. */
kith_error *test_schema_for_random_exprs(struct schema **out)
{
    static const struct field fields[] = {
        {NAME("i0"), .type = {.id = TYPE_INT64}},
        {NAME("i1"), .type = {.id = TYPE_INT64}, .nullable = true},
        {NAME("b0"), .type = {.id = TYPE_BOOL}},
        {NAME("b1"), .type = {.id = TYPE_BOOL}, .nullable = true},
        {NAME("t0"), .type = {.id = TYPE_UTF8}, .nullable = true},
        {NAME("t1"), .type = {.id = TYPE_UTF8, .index = TYPE_INT32}},
    };
    return schema_new(fields, ARRAY_SIZE(fields), out);
}

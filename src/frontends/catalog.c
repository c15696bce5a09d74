#include "frontends/catalog.h"

static ptrdiff_t find(const struct catalog *catalog, const char *name)
{
    for (size_t i = 0; i < catalog->names.length; i++)
        if (strcmp(catalog->names.items[i], name) == 0)
            return (ptrdiff_t)i;
    return -1;
}

static kith_error *find_table(struct sql_catalog *interface, const char *name, struct table **out)
{
    struct catalog *catalog = CONTAINER_OF(interface, struct catalog, interface);
    ptrdiff_t i = find(catalog, name);
    *out = i < 0 ? NULL : table_ref(catalog->tables.items[i]);
    return NULL;
}

static kith_error *open_pattern(struct sql_catalog *interface, const char *pattern, struct table **out)
{
    return table_open(pattern, out);
}

static size_t table_names(struct sql_catalog *interface, const char *const **out)
{
    struct catalog *catalog = CONTAINER_OF(interface, struct catalog, interface);
    *out = (const char *const *)catalog->names.items;
    return catalog->names.length;
}

void catalog_init(struct catalog *catalog)
{
    *catalog = (struct catalog){.interface = {.find = find_table, .open = open_pattern, .names = table_names}};
}

void catalog_reset(struct catalog *catalog)
{
    for (size_t i = 0; i < catalog->names.length; i++) {
        free(catalog->names.items[i]);
        table_unref(catalog->tables.items[i]);
    }
    vec_reset(&catalog->names);
    vec_reset(&catalog->tables);
}

kith_error *catalog_add(struct catalog *catalog, const char *name, struct table *take_table, bool replace)
{
    _cleanup_(table_unref) struct table *table = take_table;
    ptrdiff_t i = find(catalog, name);
    if (i >= 0 && !replace)
        return error_new(KITH_ERROR_INVALID_ARGUMENT, "there is a table \"%s\" already", name);
    if (i >= 0) {
        table_unref(catalog->tables.items[i]);
        catalog->tables.items[i] = TAKE(table);
        return NULL;
    }
    _cleanup_free_ char *copy = NULL;
    TRY(alloc_string(name, strlen(name), &copy));
    TRY(vec_reserve(&catalog->names, 1));
    TRY(vec_reserve(&catalog->tables, 1));
    catalog->names.items[catalog->names.length++] = TAKE(copy);
    catalog->tables.items[catalog->tables.length++] = TAKE(table);
    return NULL;
}

bool catalog_has(const struct catalog *catalog, const char *name)
{
    return find(catalog, name) >= 0;
}

kith_error *catalog_drop(struct catalog *catalog, const char *name)
{
    ptrdiff_t i = find(catalog, name);
    if (i < 0)
        return error_new(KITH_ERROR_UNDEFINED_TABLE, "there is no table \"%s\"", name);
    free(catalog->names.items[i]);
    table_unref(catalog->tables.items[i]);
    catalog->names.items[i] = vec_pop(&catalog->names);
    catalog->tables.items[i] = vec_pop(&catalog->tables);
    return NULL;
}

#include "columnar/schema.h"

#include "base/alloc.h"

static kith_error *copy_fields(const struct field *fields, size_t count, struct field **out);

static kith_error *add_metadata(struct key_value **metadata, size_t *count, const char *key, const char *value)
{
    _cleanup_free_ char *key_copy = NULL;
    TRY(alloc_string(key, strlen(key), &key_copy));
    _cleanup_free_ char *value_copy = NULL;
    TRY(alloc_string(value, strlen(value), &value_copy));
    TRY(alloc_resize(metadata, *count + 1, sizeof **metadata));
    (*metadata)[(*count)++] = (struct key_value){.key = TAKE(key_copy), .value = TAKE(value_copy)};
    return NULL;
}

static void free_metadata(struct key_value *metadata, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        free(metadata[i].key);
        free(metadata[i].value);
    }
    free(metadata);
}

kith_error *field_add_metadata(struct field *field, const char *key, const char *value)
{
    return add_metadata(&field->metadata, &field->metadata_count, key, value);
}

/* `out` holds what was copied up to an error. */
static kith_error *copy_into(const struct field *field, struct field *out)
{
    *out = (struct field){.type = field->type, .nullable = field->nullable};
    TRY(alloc_string(field->name, strlen(field->name), &out->name));
    for (size_t i = 0; i < field->metadata_count; i++)
        TRY(field_add_metadata(out, field->metadata[i].key, field->metadata[i].value));
    TRY(copy_fields(field->children, field->child_count, &out->children));
    out->child_count = field->child_count;
    return NULL;
}

kith_error *field_copy(const struct field *field, struct field *out)
{
    kith_error *error = copy_into(field, out);
    if (error != NULL)
        field_reset(out);
    return error;
}

void fields_free(struct field *fields, size_t count)
{
    for (size_t i = 0; i < count; i++)
        field_reset(&fields[i]);
    free(fields);
}

void field_reset(struct field *field)
{
    free(field->name);
    fields_free(field->children, field->child_count);
    free_metadata(field->metadata, field->metadata_count);
    *field = (struct field){0};
}

/* Recurses through field_copy; whoever reads fields from outside has limited their depth (TYPE_NESTING). */
static kith_error *copy_fields(const struct field *fields, size_t count, struct field **out)
{
    struct field *copies = NULL;
    TRY(NEW_ARRAY(&copies, count));
    for (size_t i = 0; i < count; i++) {
        kith_error *error = field_copy(&fields[i], &copies[i]);
        if (error != NULL) {
            fields_free(copies, i);
            return error;
        }
    }
    *out = copies;
    return NULL;
}

kith_error *schema_new(const struct field *fields, size_t count, struct schema **out)
{
    _cleanup_(schema_unref) struct schema *schema = NULL;
    TRY(NEW(&schema));
    refcount_init(&schema->refs);
    TRY(copy_fields(fields, count, &schema->fields));
    schema->field_count = count;
    *out = TAKE(schema);
    return NULL;
}

kith_error *schema_add_metadata(struct schema *unshared, const char *key, const char *value)
{
    return add_metadata(&unshared->metadata, &unshared->metadata_count, key, value);
}

struct schema *schema_ref(struct schema *schema)
{
    refcount_take(&schema->refs);
    return schema;
}

void schema_unref(struct schema *schema)
{
    if (schema == NULL || !refcount_drop(&schema->refs))
        return;
    fields_free(schema->fields, schema->field_count);
    free_metadata(schema->metadata, schema->metadata_count);
    free(schema);
}

static bool fields_equal(const struct field *a, size_t a_count, const struct field *b, size_t b_count)
{
    if (a_count != b_count)
        return false;
    for (size_t i = 0; i < a_count; i++) {
        if (strcmp(a[i].name, b[i].name) != 0 || a[i].nullable != b[i].nullable || !type_equal(&a[i].type, &b[i].type))
            return false;
        if (!fields_equal(a[i].children, a[i].child_count, b[i].children, b[i].child_count))
            return false;
    }
    return true;
}

bool schema_equal(const struct schema *a, const struct schema *b)
{
    return a == b || fields_equal(a->fields, a->field_count, b->fields, b->field_count);
}

ptrdiff_t schema_find(const struct schema *schema, const char *name)
{
    for (size_t i = 0; i < schema->field_count; i++)
        if (strcmp(schema->fields[i].name, name) == 0)
            return (ptrdiff_t)i;
    return -1;
}

kith_error *schema_project(const struct schema *schema, const size_t *fields, size_t count, struct schema **out)
{
    /* Shallow: schema_new copies what it is given. */
    _cleanup_free_ struct field *chosen = NULL;
    TRY(NEW_ARRAY(&chosen, count));
    for (size_t i = 0; i < count; i++) {
        if (fields[i] >= schema->field_count)
            return error_new(KITH_ERROR_INVALID_ARGUMENT, "field %zu of a schema of %zu fields", fields[i],
                             schema->field_count);
        chosen[i] = schema->fields[fields[i]];
    }
    return schema_new(chosen, count, out);
}

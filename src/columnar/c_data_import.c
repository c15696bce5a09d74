/*
 * Schemas and batches in. The array structure that is moved in is held by every buffer that points into it, and
 * released with the last of them.
 */
#include "columnar/c_data.h"

#include "base/alloc.h"
#include "columnar/c_data_format.h"

#include <stdlib.h>

/* Of values that are read as numbers; bits and the bytes of strings may start anywhere. */
enum { ALIGNED = 8, UNALIGNED = 1 };

static kith_error *import_fields(const struct ArrowSchema *schema, unsigned depth, struct field **out, size_t *count);

static kith_error *import_type(const struct ArrowSchema *schema, struct data_type *out)
{
    TRY(c_data_format_read(schema->format, out));
    if (schema->dictionary == NULL)
        return NULL;
    enum type_id index = out->id;
    if (!type_is_integer(index))
        return error_new(KITH_ERROR_CORRUPT, "dictionary indices of format \"%.40s\", expected integers",
                         schema->format);
    TRY(c_data_format_read(schema->dictionary->format, out));
    if (type_is_nested(out->id) || schema->dictionary->dictionary != NULL)
        return error_new(KITH_ERROR_NOT_IMPLEMENTED, "a dictionary of values that are nested or dictionary-encoded");
    out->index = index;
    out->dictionary_ordered = (schema->flags & ARROW_FLAG_DICTIONARY_ORDERED) != 0;
    return NULL;
}

static kith_error *import_field(const struct ArrowSchema *schema, unsigned depth, struct field *out)
{
    if (schema == NULL || schema->release == NULL)
        return error_new(KITH_ERROR_INVALID_ARGUMENT, "a schema that is missing or has been released");
    if (depth == 0)
        return error_new(KITH_ERROR_LIMIT, "a type nested deeper than TYPE_NESTING (%d)", LIMIT_TYPE_NESTING);
    const char *name = schema->name == NULL ? "" : schema->name;
    struct data_type type;
    TRY(error_wrap(import_type(schema, &type), "field \"%s\"", name));
    *out = (struct field){.type = type, .nullable = (schema->flags & ARROW_FLAG_NULLABLE) != 0};
    TRY(alloc_string(name, strlen(name), &out->name));
    kith_error *error = import_fields(schema, depth - 1, &out->children, &out->child_count);
    bool list = type_layout(&type) == LAYOUT_LIST;
    if (error == NULL && out->child_count > 0 && !type_is_nested(type.id))
        error = error_new(KITH_ERROR_CORRUPT, "field \"%s\" has children, but is not nested", name);
    if (error == NULL && list && out->child_count != 1)
        error = error_new(KITH_ERROR_CORRUPT, "list \"%s\" has %zu children, expected 1", name, out->child_count);
    if (error != NULL)
        field_reset(out);
    return error;
}

static kith_error *import_fields(const struct ArrowSchema *schema, unsigned depth, struct field **out, size_t *count)
{
    if (schema->n_children < 0 || schema->n_children > LIMIT_COLUMNS)
        return error_new(KITH_ERROR_LIMIT, "a schema of %lld fields; COLUMNS allows %d", (long long)schema->n_children,
                         LIMIT_COLUMNS);
    size_t most = (size_t)schema->n_children;
    struct field *fields = NULL;
    TRY(NEW_ARRAY(&fields, most));
    for (size_t i = 0; i < most; i++) {
        kith_error *error = import_field(schema->children[i], depth, &fields[i]);
        if (error != NULL) {
            fields_free(fields, i);
            return error;
        }
    }
    *out = fields;
    *count = most;
    return NULL;
}

/* A counted string of the metadata; *at moves past it. */
static kith_error *import_string(const char **at, char **out)
{
    int32_t length;
    memcpy(&length, *at, sizeof length);
    if (length < 0)
        return error_new(KITH_ERROR_CORRUPT, "metadata of %d bytes", (int)length);
    TRY(alloc_string(*at + sizeof length, (size_t)length, out));
    *at += sizeof length + (size_t)length;
    return NULL;
}

static kith_error *import_metadata(const char *at, struct schema *schema)
{
    int32_t count = 0;
    if (at != NULL) {
        memcpy(&count, at, sizeof count);
        at += sizeof count;
    }
    for (int32_t i = 0; i < count; i++) {
        _cleanup_free_ char *key = NULL, *value = NULL;
        TRY(import_string(&at, &key));
        TRY(import_string(&at, &value));
        TRY(schema_add_metadata(schema, key, value));
    }
    return NULL;
}

kith_error *c_data_import_schema(const struct ArrowSchema *schema, struct schema **out)
{
    if (schema->release == NULL)
        return error_new(KITH_ERROR_INVALID_ARGUMENT, "a schema that has been released");
    if (schema->format == NULL || strcmp(schema->format, "+s") != 0)
        return error_new(KITH_ERROR_INVALID_ARGUMENT, "a schema of format \"%.40s\", expected \"+s\" (a struct)",
                         schema->format == NULL ? "" : schema->format);
    struct field *fields = NULL;
    size_t count = 0;
    TRY(import_fields(schema, LIMIT_TYPE_NESTING, &fields, &count));
    _cleanup_(schema_unref) struct schema *imported = NULL;
    kith_error *error = schema_new(fields, count, &imported);
    fields_free(fields, count);
    TRY(error);
    TRY(import_metadata(schema->metadata, imported));
    *out = TAKE(imported);
    return NULL;
}

/* The structure that was moved in. */
struct imported {
    struct refcount refs;
    struct ArrowArray array;
};

static void imported_unref(void *owner)
{
    struct imported *imported = owner;
    if (!refcount_drop(&imported->refs))
        return;
    imported->array.release(&imported->array);
    free(imported);
}
DEFINE_CLEANUP(imported_unref, struct imported)

/* `size` bytes at `data` as a buffer that holds `from`; a copy when their address is not a multiple of
 * `alignment`. */
static kith_error *import_buffer(struct imported *from, const void *data, size_t size, size_t alignment,
                                 struct buffer **out)
{
    if (data == NULL && size > 0)
        return error_new(KITH_ERROR_CORRUPT, "no buffer, expected %zu bytes", size);
    if (size == 0)
        return buffer_new(0, out);
    if ((uintptr_t)data % alignment != 0) {
        TRY(buffer_new(size, out));
        memcpy((*out)->data, data, size);
        return NULL;
    }
    TRY(buffer_wrap(data, size, imported_unref, from, out));
    refcount_take(&from->refs);
    return NULL;
}

/* Offsets of `rows` rows; producers may leave them out where there is none. *end is the last one. */
static kith_error *import_offsets(struct imported *from, const void *data, size_t rows, bool wide, struct buffer **out,
                                  size_t *end)
{
    size_t width = wide ? sizeof(int64_t) : sizeof(int32_t);
    *end = 0;
    if (rows == 0 && data == NULL)
        return buffer_new_zeroed(width, out);
    TRY(import_buffer(from, data, (rows + 1) * width, ALIGNED, out));
    int64_t last = wide ? ((const int64_t *)(const void *)(*out)->data)[rows]
                        : ((const int32_t *)(const void *)(*out)->data)[rows];
    if (last < 0)
        return error_new(KITH_ERROR_CORRUPT, "last offset %lld", (long long)last);
    *end = (size_t)last;
    return NULL;
}

static kith_error *import_views(struct imported *from, const struct ArrowArray *source, size_t rows,
                                struct array *array)
{
    enum { BEFORE = 2, AFTER = 1 };
    if (source->n_buffers < BEFORE + AFTER)
        return error_new(KITH_ERROR_CORRUPT, "%lld buffers, expected 3 or more", (long long)source->n_buffers);
    size_t count = (size_t)source->n_buffers - BEFORE - AFTER;
    const int64_t *sizes = source->buffers[source->n_buffers - 1];
    if (sizes == NULL && count > 0)
        return error_new(KITH_ERROR_CORRUPT, "no sizes of %zu data buffers", count);
    TRY(import_buffer(from, source->buffers[1], rows * sizeof(struct string_view), ALIGNED, &array->values));
    TRY(NEW_ARRAY(&array->variadic, count));
    for (size_t i = 0; i < count; i++) {
        if (sizes[i] < 0)
            return error_new(KITH_ERROR_CORRUPT, "data buffer %zu of %lld bytes", i, (long long)sizes[i]);
        TRY(import_buffer(from, source->buffers[BEFORE + i], (size_t)sizes[i], UNALIGNED, &array->variadic[i]));
        array->variadic_count++;
    }
    return NULL;
}

static kith_error *import_values(struct imported *from, const struct ArrowArray *source, size_t rows,
                                 struct array *array)
{
    enum type_layout layout = type_layout(&array->type);
    size_t width = type_width(&array->type), end;
    switch (layout) {
    case LAYOUT_NULL:
    case LAYOUT_STRUCT:
        return NULL;
    case LAYOUT_BITS:
        return import_buffer(from, source->buffers[1], bitmap_bytes(rows), UNALIGNED, &array->values);
    case LAYOUT_FIXED:
        if (width > 0 && rows > SIZE_MAX / width)
            return error_new(KITH_ERROR_CORRUPT, "%zu rows of %zu bytes", rows, width);
        return import_buffer(from, source->buffers[1], rows * width, ALIGNED, &array->values);
    case LAYOUT_VIEW:
        return import_views(from, source, rows, array);
    case LAYOUT_OFFSETS32:
    case LAYOUT_OFFSETS64:
        TRY(import_offsets(from, source->buffers[1], rows, layout == LAYOUT_OFFSETS64, &array->offsets, &end));
        return import_buffer(from, source->buffers[2], end, UNALIGNED, &array->data);
    case LAYOUT_LIST:
        return import_offsets(from, source->buffers[1], rows, false, &array->offsets, &end);
    }
    UNREACHABLE();
}

static kith_error *check_counts(const struct ArrowArray *source, const struct data_type *type, size_t child_count)
{
    static const int64_t buffers[] = {
        [LAYOUT_NULL] = 0,      [LAYOUT_BITS] = 2, [LAYOUT_FIXED] = 2, [LAYOUT_OFFSETS32] = 3,
        [LAYOUT_OFFSETS64] = 3, [LAYOUT_VIEW] = 3, [LAYOUT_LIST] = 2,  [LAYOUT_STRUCT] = 1};
    /* Rows are multiplied by widths of up to 16 bytes. */
    const int64_t most = INT64_MAX / 32;
    if (source->length < 0 || source->offset < 0 || source->length > most || source->offset > most)
        return error_new(KITH_ERROR_CORRUPT, "%lld rows from row %lld", (long long)source->length,
                         (long long)source->offset);
    enum type_layout layout = type_layout(type);
    bool enough = source->n_buffers == buffers[layout] || (layout == LAYOUT_VIEW && source->n_buffers > 3);
    if (!enough || (source->n_buffers > 0 && source->buffers == NULL))
        return error_new(KITH_ERROR_CORRUPT, "%lld buffers, expected %lld", (long long)source->n_buffers,
                         (long long)buffers[layout]);
    if (source->n_children < 0 || (size_t)source->n_children != child_count)
        return error_new(KITH_ERROR_CORRUPT, "%lld children, expected %zu", (long long)source->n_children, child_count);
    if ((source->dictionary != NULL) != type_is_dictionary(type))
        return error_new(KITH_ERROR_CORRUPT, "%s", source->dictionary == NULL ? "no dictionary" : "a dictionary");
    return NULL;
}

static kith_error *import_array(struct imported *from, const struct ArrowArray *source, const struct field *field,
                                struct array **out);

static kith_error *import_parts(struct imported *from, const struct ArrowArray *source, const struct field *field,
                                struct array *array)
{
    size_t rows = array->offset + array->length;
    if (source->n_buffers > 0 && source->buffers[0] != NULL && source->null_count != 0) {
        TRY(import_buffer(from, source->buffers[0], bitmap_bytes(rows), UNALIGNED, &array->validity));
        array->null_count = source->null_count < 0 ? -1 : (ptrdiff_t)source->null_count;
    }
    TRY(import_values(from, source, rows, array));
    TRY(NEW_ARRAY(&array->children, field->child_count));
    for (size_t i = 0; i < field->child_count; i++) {
        TRY(import_array(from, source->children[i], &field->children[i], &array->children[i]));
        array->child_count++;
    }
    if (source->dictionary == NULL)
        return NULL;
    struct field values = {.name = field->name, .type = type_decoded(&field->type), .nullable = true};
    return import_array(from, source->dictionary, &values, &array->dictionary);
}

/* Recurses as deep as the schema, which import_schema has limited. */
static kith_error *import_array(struct imported *from, const struct ArrowArray *source, const struct field *field,
                                struct array **out)
{
    if (source == NULL)
        return error_new(KITH_ERROR_CORRUPT, "column \"%s\": no array", field->name);
    TRY(error_wrap(check_counts(source, &field->type, field->child_count), "column \"%s\"", field->name));
    _cleanup_(array_unref) struct array *array = NULL;
    TRY(array_new(&field->type, (size_t)source->length, &array));
    array->offset = (size_t)source->offset;
    TRY(error_wrap(import_parts(from, source, field, array), "column \"%s\"", field->name));
    TRY(array_repair_nulls(array));
    *out = TAKE(array);
    return NULL;
}

/* Column i of the batch, whose rows are `rows` from `offset` of the column. */
static kith_error *import_column(struct imported *from, const struct field *field, size_t i, bool validate,
                                 struct array **out)
{
    size_t offset = (size_t)from->array.offset, rows = (size_t)from->array.length;
    _cleanup_(array_unref) struct array *column = NULL;
    TRY(import_array(from, from->array.children[i], field, &column));
    if (validate)
        TRY(error_wrap(array_validate(column), "column \"%s\"", field->name));
    if (column->length < offset || column->length - offset < rows)
        return error_new(KITH_ERROR_CORRUPT, "column \"%s\" has %zu rows, expected %zu", field->name, column->length,
                         offset + rows);
    return array_slice(column, offset, rows, out);
}

static kith_error *check_rows_are_not_null(const struct ArrowArray *array)
{
    const void *validity = array->n_buffers > 0 ? array->buffers[0] : NULL;
    if (validity == NULL || array->null_count == 0)
        return NULL;
    size_t valid = bitmap_count(validity, (size_t)array->offset, (size_t)array->length);
    if (valid == (size_t)array->length)
        return NULL;
    return error_new(KITH_ERROR_NOT_IMPLEMENTED, "a batch of which %zu rows are NULL themselves",
                     (size_t)array->length - valid);
}

static kith_error *import_columns(struct imported *from, struct schema *schema, bool validate,
                                  struct array_list *columns)
{
    struct data_type row = type_of(TYPE_STRUCT);
    TRY(check_counts(&from->array, &row, schema->field_count));
    TRY(check_rows_are_not_null(&from->array));
    TRY(NEW_ARRAY(&columns->items, schema->field_count));
    for (; columns->count < schema->field_count; columns->count++)
        TRY(import_column(from, &schema->fields[columns->count], columns->count, validate,
                          &columns->items[columns->count]));
    return NULL;
}

kith_error *c_data_import_batch(struct ArrowArray *take_array, struct schema *schema, bool validate, struct batch **out)
{
    if (take_array->release == NULL)
        return error_new(KITH_ERROR_INVALID_ARGUMENT, "an array that has been released");
    struct ArrowArray moved = *take_array;
    take_array->release = NULL;
    _cleanup_(imported_unref) struct imported *from = NULL;
    kith_error *error = NEW(&from);
    if (error != NULL) {
        moved.release(&moved);
        return error;
    }
    refcount_init(&from->refs);
    from->array = moved;
    _cleanup_(array_list_reset) struct array_list columns = {0};
    TRY(import_columns(from, schema, validate, &columns));
    return batch_new(schema, columns.items, (size_t)from->array.length, out);
}

/*
 * Schemas and batches out, as Arrow's C data interface defines the two structures. Every structure that is handed out
 * releases its children itself, unless the consumer has moved them away (their release is NULL then).
 */
#include "columnar/c_data.h"

#include "base/alloc.h"
#include "columnar/c_data_format.h"

/* What an ArrowSchema of ours owns. */
struct exported_schema {
    char format[C_DATA_FORMAT_BYTES];
    char *name;
    char *metadata;
    struct ArrowSchema *children;        /* storage */
    struct ArrowSchema **child_pointers; /* what the structure shows */
    struct ArrowSchema dictionary;
};

static void release_schema(struct ArrowSchema *schema)
{
    struct exported_schema *owned = schema->private_data;
    for (int64_t i = 0; i < schema->n_children; i++)
        if (owned->children[i].release != NULL)
            owned->children[i].release(&owned->children[i]);
    if (owned->dictionary.release != NULL)
        owned->dictionary.release(&owned->dictionary);
    free(owned->name);
    free(owned->metadata);
    free(owned->children);
    free(owned->child_pointers);
    free(owned);
    schema->release = NULL;
}

/* An ArrowSchema that owns its parts and has no children yet. */
static kith_error *new_schema(const char *name, const struct data_type *type, struct ArrowSchema *out)
{
    struct exported_schema *owned = NULL;
    TRY(NEW(&owned));
    *out = (struct ArrowSchema){.format = owned->format, .release = release_schema, .private_data = owned};
    c_data_format_write(type, owned->format);
    kith_error *error = alloc_string(name, strlen(name), &owned->name);
    if (error != NULL) {
        release_schema(out);
        return error;
    }
    out->name = owned->name;
    return NULL;
}

static kith_error *export_children(const struct field *fields, size_t count, struct ArrowSchema *out);

static kith_error *export_dictionary(const struct data_type *type, struct ArrowSchema *out)
{
    struct exported_schema *owned = out->private_data;
    struct data_type decoded = type_decoded(type);
    TRY(new_schema("", &decoded, &owned->dictionary));
    owned->dictionary.flags = ARROW_FLAG_NULLABLE;
    out->dictionary = &owned->dictionary;
    if (type->dictionary_ordered)
        out->flags |= ARROW_FLAG_DICTIONARY_ORDERED;
    return NULL;
}

static kith_error *export_field(const struct field *field, struct ArrowSchema *out)
{
    struct data_type stored = type_is_dictionary(&field->type) ? type_of(field->type.index) : field->type;
    TRY(new_schema(field->name, &stored, out));
    if (field->nullable)
        out->flags |= ARROW_FLAG_NULLABLE;
    kith_error *error = type_is_dictionary(&field->type) ? export_dictionary(&field->type, out)
                                                         : export_children(field->children, field->child_count, out);
    if (error != NULL)
        out->release(out);
    return error;
}

/* Recurses as deep as the schema does, which whoever read it has limited. */
static kith_error *export_children(const struct field *fields, size_t count, struct ArrowSchema *out)
{
    struct exported_schema *owned = out->private_data;
    TRY(NEW_ARRAY(&owned->children, count));
    TRY(NEW_ARRAY(&owned->child_pointers, count));
    out->children = owned->child_pointers;
    for (size_t i = 0; i < count; i++) {
        TRY(export_field(&fields[i], &owned->children[i]));
        owned->child_pointers[i] = &owned->children[i];
        out->n_children++;
    }
    return NULL;
}

static kith_error *append_counted(struct strbuf *out, const char *text)
{
    int32_t length = (int32_t)strlen(text);
    TRY(strbuf_append(out, &length, sizeof length));
    return strbuf_append(out, text, (size_t)length);
}

/* Number of pairs, then key and value, each after its length; native byte order. */
static kith_error *export_metadata(const struct schema *schema, struct ArrowSchema *out)
{
    struct exported_schema *owned = out->private_data;
    _cleanup_(strbuf_reset) struct strbuf bytes = {.limit = INT32_MAX};
    int32_t count = (int32_t)schema->metadata_count;
    if (count == 0)
        return NULL;
    TRY(strbuf_append(&bytes, &count, sizeof count));
    for (size_t i = 0; i < schema->metadata_count; i++) {
        TRY(append_counted(&bytes, schema->metadata[i].key));
        TRY(append_counted(&bytes, schema->metadata[i].value));
    }
    owned->metadata = strbuf_take(&bytes);
    out->metadata = owned->metadata;
    return NULL;
}

kith_error *c_data_export_schema(const struct schema *schema, struct ArrowSchema *out)
{
    struct data_type row = type_of(TYPE_STRUCT);
    TRY(new_schema("", &row, out));
    kith_error *error = export_children(schema->fields, schema->field_count, out);
    if (error == NULL)
        error = export_metadata(schema, out);
    if (error != NULL)
        out->release(out);
    return error;
}

/* What an ArrowArray of ours owns; `array` is NULL for the batch itself. */
struct exported_array {
    struct array *array;
    const void **buffers;
    int64_t *variadic_sizes;
    struct ArrowArray *children;
    struct ArrowArray **child_pointers;
    struct ArrowArray dictionary;
};

static void release_array(struct ArrowArray *array)
{
    struct exported_array *owned = array->private_data;
    for (int64_t i = 0; i < array->n_children; i++)
        if (owned->children[i].release != NULL)
            owned->children[i].release(&owned->children[i]);
    if (owned->dictionary.release != NULL)
        owned->dictionary.release(&owned->dictionary);
    array_unref(owned->array);
    free(owned->buffers);
    free(owned->variadic_sizes);
    free(owned->children);
    free(owned->child_pointers);
    free(owned);
    array->release = NULL;
}

static kith_error *new_array(struct array *array, struct ArrowArray *out)
{
    struct exported_array *owned = NULL;
    TRY(NEW(&owned));
    *out = (struct ArrowArray){.release = release_array, .private_data = owned};
    if (array != NULL) {
        owned->array = array_ref(array);
        out->length = (int64_t)array->length;
        out->offset = (int64_t)array->offset;
        out->null_count = type_layout(&array->type) == LAYOUT_NULL ? out->length
                          : array->validity == NULL                ? 0
                                                                   : array->null_count;
    }
    return NULL;
}

static const void *bytes_of(const struct buffer *buffer)
{
    return buffer == NULL ? NULL : buffer->data;
}

static kith_error *export_buffers(struct ArrowArray *out)
{
    struct exported_array *owned = out->private_data;
    const struct array *array = owned->array;
    size_t count = 0;
    /* Validity, one or two more, and for views a buffer for each of data and their sizes. */
    TRY(NEW_ARRAY(&owned->buffers, 4 + array->variadic_count));
    enum type_layout layout = type_layout(&array->type);
    if (layout != LAYOUT_NULL)
        owned->buffers[count++] = bytes_of(array->validity);
    if (layout == LAYOUT_BITS || layout == LAYOUT_FIXED || layout == LAYOUT_VIEW)
        owned->buffers[count++] = bytes_of(array->values);
    if (layout == LAYOUT_OFFSETS32 || layout == LAYOUT_OFFSETS64 || layout == LAYOUT_LIST)
        owned->buffers[count++] = bytes_of(array->offsets);
    if (layout == LAYOUT_OFFSETS32 || layout == LAYOUT_OFFSETS64)
        owned->buffers[count++] = bytes_of(array->data);
    if (layout == LAYOUT_VIEW) {
        TRY(NEW_ARRAY(&owned->variadic_sizes, array->variadic_count));
        for (size_t i = 0; i < array->variadic_count; i++) {
            owned->buffers[count++] = bytes_of(array->variadic[i]);
            owned->variadic_sizes[i] = (int64_t)array->variadic[i]->size;
        }
        owned->buffers[count++] = owned->variadic_sizes;
    }
    out->buffers = owned->buffers;
    out->n_buffers = (int64_t)count;
    return NULL;
}

static kith_error *export_array(struct array *array, struct ArrowArray *out);

static kith_error *export_child_arrays(struct array *const *arrays, size_t count, struct ArrowArray *out)
{
    struct exported_array *owned = out->private_data;
    TRY(NEW_ARRAY(&owned->children, count));
    TRY(NEW_ARRAY(&owned->child_pointers, count));
    out->children = owned->child_pointers;
    for (size_t i = 0; i < count; i++) {
        TRY(export_array(arrays[i], &owned->children[i]));
        owned->child_pointers[i] = &owned->children[i];
        out->n_children++;
    }
    return NULL;
}

static kith_error *fill_array(struct ArrowArray *out)
{
    struct exported_array *owned = out->private_data;
    const struct array *array = owned->array;
    TRY(export_buffers(out));
    TRY(export_child_arrays(array->children, array->child_count, out));
    if (array->dictionary == NULL)
        return NULL;
    TRY(export_array(array->dictionary, &owned->dictionary));
    out->dictionary = &owned->dictionary;
    return NULL;
}

static kith_error *export_array(struct array *array, struct ArrowArray *out)
{
    TRY(new_array(array, out));
    kith_error *error = fill_array(out);
    if (error != NULL)
        out->release(out);
    return error;
}

/* The columns as the schema's types say, so that they fit what c_data_export_schema gives. */
static kith_error *decode_columns(const struct batch *batch, struct array_list *columns)
{
    TRY(NEW_ARRAY(&columns->items, batch->schema->field_count));
    for (; columns->count < batch->schema->field_count; columns->count++) {
        struct array *column = batch->columns[columns->count];
        if (type_equal(&column->type, &batch->schema->fields[columns->count].type))
            columns->items[columns->count] = array_ref(column);
        else
            TRY(array_decode_dictionary(column, &columns->items[columns->count]));
    }
    return NULL;
}

static kith_error *fill_batch(struct array *const *columns, size_t count, struct ArrowArray *out)
{
    struct exported_array *owned = out->private_data;
    TRY(NEW_ARRAY(&owned->buffers, 1)); /* validity: rows themselves are never NULL */
    out->buffers = owned->buffers;
    out->n_buffers = 1;
    return export_child_arrays(columns, count, out);
}

kith_error *c_data_export_batch(struct batch *batch, struct ArrowArray *out)
{
    _cleanup_(batch_unref) struct batch *compact = NULL;
    TRY(batch_compact(batch, &compact));
    _cleanup_(array_list_reset) struct array_list columns = {0};
    TRY(decode_columns(compact, &columns));
    TRY(new_array(NULL, out));
    out->length = (int64_t)compact->rows;
    kith_error *error = fill_batch(columns.items, columns.count, out);
    if (error != NULL)
        out->release(out);
    return error;
}

#include "columnar/batch.h"

#include "base/alloc.h"

kith_error *selection_new(size_t capacity, struct selection **out)
{
    if (capacity > (SIZE_MAX - sizeof(struct selection)) / sizeof(uint32_t))
        return error_out_of_memory();
    struct selection *selection = NULL;
    TRY(alloc_resize(&selection, sizeof *selection + capacity * sizeof(uint32_t), 1));
    refcount_init(&selection->refs);
    selection->count = 0;
    *out = selection;
    return NULL;
}

struct selection *selection_ref(struct selection *selection)
{
    refcount_take(&selection->refs);
    return selection;
}

void selection_unref(struct selection *selection)
{
    if (selection != NULL && refcount_drop(&selection->refs))
        free(selection);
}

static kith_error *check_column(const struct field *field, const struct array *column, size_t rows)
{
    if (column->length != rows)
        return error_new(KITH_ERROR_INTERNAL, "column \"%s\" has %zu rows in a batch of %zu", field->name,
                         column->length, rows);
    if (type_equal(&column->type, &field->type) ||
        (!type_is_dictionary(&field->type) && type_equal_decoded(&column->type, &field->type)))
        return NULL;
    char given[128], expected[128];
    return error_new(KITH_ERROR_INTERNAL, "column \"%s\" is of type %s; the schema says %s", field->name,
                     type_format(&column->type, given, sizeof given),
                     type_format(&field->type, expected, sizeof expected));
}

kith_error *batch_new(struct schema *schema, struct array *const *columns, size_t rows, struct batch **out)
{
    if (rows > UINT32_MAX)
        return error_new(KITH_ERROR_LIMIT, "a batch of %zu rows; row numbers have 32 bits", rows);
    for (size_t i = 0; i < schema->field_count; i++)
        TRY(check_column(&schema->fields[i], columns[i], rows));
    /* The columns follow the batch in one allocation. */
    struct batch *batch = NULL;
    TRY(alloc_zeroed(1, sizeof *batch + schema->field_count * sizeof *columns, &batch));
    refcount_init(&batch->refs);
    batch->schema = schema_ref(schema);
    batch->rows = rows;
    batch->columns = (struct array **)(void *)(batch + 1);
    for (size_t i = 0; i < schema->field_count; i++)
        batch->columns[i] = array_ref(columns[i]);
    *out = batch;
    return NULL;
}

/* A view of `rows` rows from `offset` of the columns of `batch`; holds the batch that owns the columns. */
static kith_error *view(struct batch *batch, size_t offset, size_t rows, struct batch **out)
{
    struct batch *owner = batch->parent != NULL ? batch->parent : batch;
    struct batch *made = NULL;
    TRY(alloc_resize(&made, 1, sizeof *made)); /* every member is set: zeroing first would take as long as the rest */
    *made = (struct batch){
        .schema = owner->schema, .rows = rows, .parent = batch_ref(owner), .offset = offset, .columns = owner->columns};
    refcount_init(&made->refs);
    *out = made;
    return NULL;
}

kith_error *batch_select(struct batch *batch, struct selection *selection, struct batch **out)
{
    if (selection != NULL && selection->count > 0 && selection->rows[selection->count - 1] >= batch->rows)
        return error_new(KITH_ERROR_INTERNAL, "row %u selected in a batch of %zu",
                         (unsigned)selection->rows[selection->count - 1], batch->rows);
    TRY(view(batch, batch->offset, batch->rows, out));
    if (selection != NULL)
        (*out)->selection = selection_ref(selection);
    return NULL;
}

static kith_error *slice_selection(struct batch *batch, size_t offset, size_t length, struct batch **out)
{
    const uint32_t *rows = batch->selection->rows + offset;
    if (length == 0)
        return view(batch, batch->offset, 0, out);
    size_t span = (size_t)(rows[length - 1] - rows[0]) + 1;
    if (span == length)
        return view(batch, batch->offset + rows[0], length, out);
    _cleanup_(selection_unref) struct selection *selection = NULL;
    TRY(selection_new(length, &selection));
    for (size_t i = 0; i < length; i++)
        selection->rows[i] = rows[i] - rows[0];
    selection->count = length;
    TRY(view(batch, batch->offset + rows[0], span, out));
    (*out)->selection = TAKE(selection);
    return NULL;
}

kith_error *batch_slice(struct batch *batch, size_t offset, size_t length, struct batch **out)
{
    size_t rows = batch_row_count(batch);
    if (offset > rows || length > rows - offset)
        return error_new(KITH_ERROR_INVALID_ARGUMENT, "rows %zu to %zu of a batch of %zu", offset, offset + length,
                         rows);
    if (length == rows) {
        *out = batch_ref(batch);
        return NULL;
    }
    if (batch->selection != NULL)
        return slice_selection(batch, offset, length, out);
    return view(batch, batch->offset + offset, length, out);
}

kith_error *batch_column(const struct batch *batch, size_t i, struct array **out)
{
    return array_slice(batch->columns[i], batch->offset, batch->rows, out);
}

kith_error *batch_project(struct batch *batch, struct schema *schema, const size_t *columns, struct batch **out)
{
    _cleanup_(array_list_reset) struct array_list chosen = {0};
    _cleanup_(batch_unref) struct batch *projected = NULL;
    TRY(NEW_ARRAY(&chosen.items, schema->field_count));
    for (; chosen.count < schema->field_count; chosen.count++) {
        size_t i = columns[chosen.count];
        if (i >= batch->schema->field_count)
            return error_new(KITH_ERROR_INTERNAL, "column %zu of a batch of %zu columns", i,
                             batch->schema->field_count);
        TRY(batch_column(batch, i, &chosen.items[chosen.count]));
    }
    TRY(batch_new(schema, chosen.items, batch->rows, &projected));
    if (batch->selection != NULL)
        projected->selection = selection_ref(batch->selection);
    *out = TAKE(projected);
    return NULL;
}

/* Column i of the selected rows only. */
static kith_error *compact_column(const struct batch *batch, size_t i, struct array **out)
{
    _cleanup_(array_unref) struct array *column = NULL;
    TRY(batch_column(batch, i, &column));
    if (batch->selection == NULL) {
        *out = TAKE(column);
        return NULL;
    }
    return array_take(column, batch->selection->rows, batch->selection->count, out);
}

kith_error *batch_compact(struct batch *batch, struct batch **out)
{
    if (batch->selection == NULL && batch->parent == NULL) {
        *out = batch_ref(batch);
        return NULL;
    }
    _cleanup_(array_list_reset) struct array_list columns = {0};
    TRY(NEW_ARRAY(&columns.items, batch->schema->field_count));
    for (; columns.count < batch->schema->field_count; columns.count++)
        TRY(compact_column(batch, columns.count, &columns.items[columns.count]));
    return batch_new(batch->schema, columns.items, batch_row_count(batch), out);
}

/* The type that column i has in all batches: the encoding of the first, if it is everyone's, otherwise none. */
static struct data_type common_type(const struct field *field, struct batch *const *batches, size_t count, size_t i)
{
    if (count == 0)
        return field->type;
    struct data_type type = batches[0]->columns[i]->type;
    for (size_t b = 1; b < count; b++)
        if (!type_equal(&type, &batches[b]->columns[i]->type))
            return type_decoded(&type);
    return type;
}

static kith_error *concatenate_column(struct schema *schema, struct batch *const *batches, size_t count, size_t i,
                                      struct array **out)
{
    _cleanup_(array_list_reset) struct array_list parts = {0};
    struct data_type type = common_type(&schema->fields[i], batches, count, i);
    TRY(NEW_ARRAY(&parts.items, count));
    for (; parts.count < count; parts.count++)
        TRY(compact_column(batches[parts.count], i, &parts.items[parts.count]));
    return array_concatenate(&type, parts.items, count, out);
}

kith_error *batch_concatenate(struct schema *schema, struct batch *const *batches, size_t count, struct batch **out)
{
    size_t rows = 0;
    for (size_t b = 0; b < count; b++) {
        if (batches[b]->schema->field_count != schema->field_count)
            return error_new(KITH_ERROR_INTERNAL, "a batch of %zu columns joined under a schema of %zu",
                             batches[b]->schema->field_count, schema->field_count);
        rows += batch_row_count(batches[b]);
    }
    _cleanup_(array_list_reset) struct array_list columns = {0};
    TRY(NEW_ARRAY(&columns.items, schema->field_count));
    for (; columns.count < schema->field_count; columns.count++)
        TRY(concatenate_column(schema, batches, count, columns.count, &columns.items[columns.count]));
    return batch_new(schema, columns.items, rows, out);
}

size_t batch_memory_bytes(const struct batch *batch)
{
    size_t bytes = sizeof *batch;
    for (size_t i = 0; i < batch->schema->field_count; i++)
        bytes += array_memory_bytes(batch->columns[i]);
    return batch->selection == NULL ? bytes : bytes + batch->selection->count * sizeof(uint32_t);
}

struct batch *batch_ref(struct batch *batch)
{
    refcount_take(&batch->refs);
    return batch;
}

void batch_unref(struct batch *batch)
{
    if (batch == NULL || !refcount_drop(&batch->refs))
        return;
    selection_unref(batch->selection);
    if (batch->parent != NULL) {
        batch_unref(batch->parent);
    } else {
        for (size_t i = 0; i < batch->schema->field_count; i++)
            array_unref(batch->columns[i]);
        schema_unref(batch->schema);
    }
    free(batch);
}

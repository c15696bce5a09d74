#include "columnar/builder.h"

#include "base/alloc.h"

struct array_builder {
    struct data_type type;
    size_t length;
    size_t null_count;
    struct strbuf validity; /* bits; empty while there is no null */
    struct strbuf values;   /* fixed width, bits, views */
    struct strbuf offsets;
    struct strbuf data;
};

kith_error *array_builder_new(const struct data_type *type, struct array_builder **out)
{
    if (type_is_dictionary(type) || type_is_nested(type->id)) {
        char name[128];
        return error_new(KITH_ERROR_NOT_IMPLEMENTED, "building an array of type %s value by value",
                         type_format(type, name, sizeof name));
    }
    struct array_builder *builder = NULL;
    TRY(NEW(&builder));
    builder->type = *type;
    *out = builder;
    return NULL;
}

static void reset(struct array_builder *builder)
{
    strbuf_reset(&builder->validity);
    strbuf_reset(&builder->values);
    strbuf_reset(&builder->offsets);
    strbuf_reset(&builder->data);
    builder->length = 0;
    builder->null_count = 0;
}

void array_builder_free(struct array_builder *builder)
{
    if (builder == NULL)
        return;
    reset(builder);
    free(builder);
}

static kith_error *append_bit(struct strbuf *bits, size_t i, bool value)
{
    if (i % 8 == 0)
        TRY(strbuf_append_fill(bits, 0, 1));
    bitmap_assign((uint8_t *)bits->data, i, value);
    return NULL;
}

/* Sets the bit of the row that is being appended, making the bitmap at the first null. */
static kith_error *append_validity(struct array_builder *builder, bool valid)
{
    if (builder->validity.length == 0) {
        if (valid)
            return NULL;
        TRY(strbuf_append_fill(&builder->validity, 0, bitmap_bytes(builder->length)));
        if (builder->length > 0)
            bitmap_fill((uint8_t *)builder->validity.data, 0, builder->length, true);
    }
    return append_bit(&builder->validity, builder->length, valid);
}

/* Offsets begin with a 0 before the first row. */
static kith_error *append_offset(struct array_builder *builder)
{
    size_t width = type_layout(&builder->type) == LAYOUT_OFFSETS32 ? sizeof(int32_t) : sizeof(int64_t);
    if (builder->offsets.length == 0)
        TRY(strbuf_append_fill(&builder->offsets, 0, width));
    return strbuf_append(&builder->offsets, &builder->data.length, width);
}

static kith_error *append_null_value(struct array_builder *builder)
{
    switch (type_layout(&builder->type)) {
    case LAYOUT_BITS:
        return append_bit(&builder->values, builder->length, false);
    case LAYOUT_FIXED:
        return strbuf_append_fill(&builder->values, 0, type_width(&builder->type));
    case LAYOUT_VIEW:
        return strbuf_append_fill(&builder->values, 0, sizeof(struct string_view));
    case LAYOUT_OFFSETS32:
    case LAYOUT_OFFSETS64:
        return append_offset(builder);
    case LAYOUT_NULL:
    case LAYOUT_LIST:
    case LAYOUT_STRUCT:
        break;
    }
    return NULL;
}

kith_error *array_builder_append_null(struct array_builder *builder)
{
    TRY(append_null_value(builder));
    if (builder->type.id != TYPE_NULL)
        TRY(append_validity(builder, false));
    builder->length++;
    builder->null_count++;
    return NULL;
}

static kith_error *append_view(struct array_builder *builder, struct str value)
{
    struct string_view view = string_view_make(value, 0, (int32_t)builder->data.length);
    if (value.length > sizeof view.inlined)
        TRY(strbuf_append(&builder->data, value.data, value.length));
    return strbuf_append(&builder->values, &view, sizeof view);
}

kith_error *array_builder_append_string(struct array_builder *builder, struct str value)
{
    enum type_layout layout = type_layout(&builder->type);
    ASSERT(type_is_string(builder->type.id) || type_is_binary(builder->type.id));
    if (layout != LAYOUT_OFFSETS64 && value.length > LIMIT_STRING_BATCH_BYTES - builder->data.length)
        return error_new(KITH_ERROR_LIMIT, "a string column of %zu bytes is larger than STRING_BATCH_BYTES (%d)",
                         builder->data.length + value.length, LIMIT_STRING_BATCH_BYTES);
    if (layout == LAYOUT_FIXED) {
        if (value.length != type_width(&builder->type))
            return error_new(KITH_ERROR_INVALID_ARGUMENT, "%zu bytes for a value of FixedSizeBinary(%d)", value.length,
                             (int)builder->type.byte_width);
        TRY(strbuf_append(&builder->values, value.data, value.length));
    } else if (layout == LAYOUT_VIEW) {
        TRY(append_view(builder, value));
    } else {
        TRY(strbuf_append(&builder->data, value.data, value.length));
        TRY(append_offset(builder));
    }
    TRY(append_validity(builder, true));
    builder->length++;
    return NULL;
}

kith_error *array_builder_append(struct array_builder *builder, const struct scalar *value)
{
    ASSERT(type_equal(&builder->type, &value->type));
    if (value->is_null)
        return array_builder_append_null(builder);
    if (type_is_string(value->type.id) || type_is_binary(value->type.id))
        return array_builder_append_string(builder, value->string);
    if (value->type.id == TYPE_BOOL) {
        TRY(append_bit(&builder->values, builder->length, value->boolean));
    } else {
        uint8_t bytes[16];
        TRY(strbuf_append(&builder->values, bytes, scalar_store(value, bytes)));
    }
    TRY(append_validity(builder, true));
    builder->length++;
    return NULL;
}

kith_error *array_builder_append_int(struct array_builder *builder, int64_t value)
{
    struct scalar scalar = {.type = builder->type};
    if (builder->type.id == TYPE_DECIMAL128)
        scalar.decimal = value;
    else
        scalar.int64 = value;
    return array_builder_append(builder, &scalar);
}

kith_error *array_builder_append_double(struct array_builder *builder, double value)
{
    ASSERT(builder->type.id == TYPE_FLOAT32 || builder->type.id == TYPE_FLOAT64);
    struct scalar scalar = {.type = builder->type};
    if (builder->type.id == TYPE_FLOAT32)
        scalar.float32 = (float)value;
    else
        scalar.float64 = value;
    return array_builder_append(builder, &scalar);
}

/* Copied rather than handed over: a buffer is aligned and padded. */
static kith_error *to_buffer(const struct strbuf *bytes, struct buffer **out)
{
    TRY(buffer_new(bytes->length, out));
    if (bytes->length > 0)
        memcpy((*out)->data, bytes->data, bytes->length);
    return NULL;
}

static kith_error *finish_strings(struct array_builder *builder, struct array *array)
{
    if (builder->offsets.length == 0)
        TRY(buffer_new_zeroed(sizeof(int64_t), &array->offsets));
    else
        TRY(to_buffer(&builder->offsets, &array->offsets));
    return to_buffer(&builder->data, &array->data);
}

static kith_error *finish_views(struct array_builder *builder, struct array *array)
{
    if (builder->data.length > 0) {
        TRY(NEW_ARRAY(&array->variadic, 1));
        TRY(to_buffer(&builder->data, &array->variadic[0]));
        array->variadic_count = 1;
    }
    return to_buffer(&builder->values, &array->values);
}

kith_error *array_builder_finish(struct array_builder *builder, struct array **out)
{
    _cleanup_(array_unref) struct array *array = NULL;
    TRY(array_new(&builder->type, builder->length, &array));
    if (builder->validity.length > 0) {
        TRY(to_buffer(&builder->validity, &array->validity));
        array->null_count = (ptrdiff_t)builder->null_count;
    }
    enum type_layout layout = type_layout(&builder->type);
    if (layout == LAYOUT_OFFSETS32 || layout == LAYOUT_OFFSETS64)
        TRY(finish_strings(builder, array));
    else if (layout == LAYOUT_VIEW)
        TRY(finish_views(builder, array));
    else if (layout != LAYOUT_NULL)
        TRY(to_buffer(&builder->values, &array->values));
    reset(builder);
    *out = TAKE(array);
    return NULL;
}

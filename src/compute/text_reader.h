/*
 * Fast access to the strings of one array, whatever its layout: what array_string does without looking at the type of
 * the array for each row. Borrows the array.
 */
#ifndef KITH_COMPUTE_TEXT_READER_H
#define KITH_COMPUTE_TEXT_READER_H

#include "columnar/array.h"
#include "compute/kernel.h"

struct text_reader {
    enum { TEXT_OFFSETS_32, TEXT_OFFSETS_64, TEXT_VIEWS, TEXT_FIXED } layout;
    const uint8_t *offsets; /* or views; at row 0 */
    const char *data;
    size_t byte_width;
    struct buffer **variadic;
};

/* `array` is text or bytes, without dictionary. */
static inline struct text_reader text_reader_of(const struct array *array)
{
    struct text_reader reader = {.data = array->data != NULL ? (const char *)array->data->data : ""};
    switch ((int)array->type.id) {
    case TYPE_UTF8_VIEW:
    case TYPE_BINARY_VIEW:
        reader.layout = TEXT_VIEWS;
        reader.offsets = array->values->data + array->offset * sizeof(struct string_view);
        reader.variadic = array->variadic;
        break;
    case TYPE_LARGE_UTF8:
    case TYPE_LARGE_BINARY:
        reader.layout = TEXT_OFFSETS_64;
        reader.offsets = array->offsets->data + array->offset * sizeof(int64_t);
        break;
    case TYPE_FIXED_SIZE_BINARY:
        reader.layout = TEXT_FIXED;
        reader.byte_width = (size_t)array->type.byte_width;
        reader.data = (const char *)array->values->data + array->offset * reader.byte_width;
        break;
    default:
        reader.layout = TEXT_OFFSETS_32;
        reader.offsets = array->offsets->data + array->offset * sizeof(int32_t);
        break;
    }
    return reader;
}

static inline struct str text_view_at(const struct text_reader *reader, size_t row)
{
    const uint8_t *at = reader->offsets + row * sizeof(struct string_view);
    struct string_view view;
    memcpy(&view, at, sizeof view);
    size_t length = (size_t)view.length;
    if (length <= sizeof view.inlined)
        return (struct str){(const char *)at + offsetof(struct string_view, inlined), length};
    const uint8_t *data = reader->variadic[view.reference.buffer]->data;
    return (struct str){(const char *)data + view.reference.offset, length};
}

/* For a NULL row some string that may be read. */
static inline struct str text_at(const struct text_reader *reader, size_t row)
{
    switch (reader->layout) {
    case TEXT_OFFSETS_32: {
        const int32_t *offsets = (const void *)reader->offsets;
        return (struct str){reader->data + offsets[row], (size_t)(offsets[row + 1] - offsets[row])};
    }
    case TEXT_OFFSETS_64: {
        const int64_t *offsets = (const void *)reader->offsets;
        return (struct str){reader->data + offsets[row], (size_t)(offsets[row + 1] - offsets[row])};
    }
    case TEXT_VIEWS:
        return text_view_at(reader, row);
    case TEXT_FIXED:
        return (struct str){reader->data + row * reader->byte_width, reader->byte_width};
    }
    UNREACHABLE();
}

#endif

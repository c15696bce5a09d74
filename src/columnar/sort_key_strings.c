/*
 * The part of a sort key that a string has: its bytes with 0x00 escaped as 00 FF, then 00 00. Most columns have no 0x00
 * at all; one search over the bytes of the whole column spares their rows the escaping.
 */
#include "columnar/sort_key_column.h"

/* Values without dictionary encoding, and what is known of them. */
struct strings {
    const struct array *values;
    enum type_layout layout;
    bool plain; /* no 0x00 in any of them */
};

/* True when no byte from the first to the last value is 0x00. Not looked at where that costs more than the rows do. */
static bool is_plain(const struct array *values, size_t rows)
{
    enum type_layout layout = type_layout(&values->type);
    bool contiguous = layout == LAYOUT_OFFSETS32 || layout == LAYOUT_OFFSETS64;
    if (!contiguous || values->length == 0 || rows < values->length / 4)
        return false;
    struct str first = array_string(values, 0), last = array_string(values, values->length - 1);
    return memchr(first.data, 0, (size_t)(last.data + last.length - first.data)) == NULL;
}

static struct strings strings_of(const struct key_column *column)
{
    const struct array *array = column->array;
    const struct array *values = array->dictionary == NULL ? array : array->dictionary;
    return (struct strings){
        .values = values, .layout = type_layout(&values->type), .plain = is_plain(values, column->count)};
}

/* The string of the i-th row to encode; false when it is NULL. */
static inline bool get_string(const struct key_column *column, const struct strings *strings, size_t i, struct str *out)
{
    const struct array *values = strings->values;
    size_t row = key_row(column, i);
    if (array_is_null_itself(column->array, row))
        return false;
    if (values != column->array) {
        row = array_dictionary_index(column->array, row);
        if (array_is_null_itself(values, row))
            return false;
    }
    if (strings->layout != LAYOUT_OFFSETS32) {
        *out = array_string(values, row);
        return true;
    }
    const int32_t *offsets = (const int32_t *)(const void *)values->offsets->data + values->offset + row;
    *out = (struct str){(const char *)values->data->data + offsets[0], (size_t)(offsets[1] - offsets[0])};
    return true;
}

static inline size_t escaped_length(const struct strings *strings, struct str string)
{
    size_t zeros = 0;
    for (size_t i = 0; !strings->plain && i < string.length; i++)
        zeros += string.data[i] == '\0';
    return string.length + zeros + 2;
}

void key_strings_measure(const struct key_column *column, size_t *lengths)
{
    struct strings strings = strings_of(column);
    for (size_t i = 0; i < column->count; i++) {
        struct str string;
        lengths[i] += 1;
        if (get_string(column, &strings, i, &string))
            lengths[i] += escaped_length(&strings, string);
    }
}

/* Two blocks that overlap hold any length between one block and two. */
#define COPY_OVERLAPPING(block)                                            \
    do {                                                                   \
        memcpy(out, bytes, (block));                                       \
        memcpy(out + length - (block), bytes + length - (block), (block)); \
    } while (0)

/* Without a call for what is short, as most strings are. */
static inline void copy_bytes(uint8_t *out, const uint8_t *bytes, size_t length)
{
    if (length > 32) {
        memcpy(out, bytes, length);
    } else if (length >= 16) {
        COPY_OVERLAPPING(16);
    } else if (length >= 8) {
        COPY_OVERLAPPING(8);
    } else if (length >= 4) {
        COPY_OVERLAPPING(4);
    } else {
        for (size_t i = 0; i < length; i++)
            out[i] = bytes[i];
    }
}

static inline void copy(uint8_t *out, const uint8_t *bytes, size_t length, bool descending)
{
    copy_bytes(out, bytes, length);
    for (size_t i = 0; descending && i < length; i++)
        out[i] = (uint8_t)~out[i];
}

/* Gives the end of what it wrote. */
static uint8_t *write_escaped(uint8_t *out, struct str string, bool plain, bool descending)
{
    const uint8_t *bytes = (const uint8_t *)string.data;
    const uint8_t mark = descending ? 0xff : 0;
    size_t left = string.length;
    const uint8_t *zero;
    while (!plain && left > 0 && (zero = memchr(bytes, 0, left)) != NULL) {
        size_t before = (size_t)(zero - bytes);
        copy(out, bytes, before, descending);
        out += before;
        *out++ = mark;
        *out++ = (uint8_t)~mark;
        bytes += before + 1;
        left -= before + 1;
    }
    copy(out, bytes, left, descending);
    out += left;
    out[0] = mark;
    out[1] = mark;
    return out + 2;
}

void key_strings_write(const struct key_column *column, const struct key_target *target)
{
    struct strings strings = strings_of(column);
    for (size_t i = 0; i < column->count; i++) {
        struct str string;
        uint8_t *out = target->bytes + target->cursors[i];
        if (get_string(column, &strings, i, &string)) {
            *out = KEY_VALID;
            out = write_escaped(out + 1, string, strings.plain, column->order.descending);
        } else {
            *out++ = key_null_byte(column);
        }
        target->cursors[i] = (size_t)(out - target->bytes);
    }
}

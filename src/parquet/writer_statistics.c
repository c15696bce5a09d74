#include "base/alloc.h"
#include "parquet/writer_parts.h"

#include <math.h>

enum { BOUND_BYTES = 64 }; /* of a string; longer ones are cut */

static int compare_unsigned(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

static int compare_signed(int64_t a, int64_t b)
{
    return a < b ? -1 : a > b;
}

static uint64_t load_bits(struct str value)
{
    uint64_t bits = 0;
    memcpy(&bits, value.data, value.length);
    return bits;
}

static double load_float(struct str value)
{
    float narrow;
    double wide;
    if (value.length == sizeof wide) {
        memcpy(&wide, value.data, sizeof wide);
        return wide;
    }
    memcpy(&narrow, value.data, sizeof narrow);
    return narrow;
}

/* A binary16 as a number of the same order: both zeros are 0. */
static int float16_rank(struct str value)
{
    int bits = (int)load_bits(value);
    return (bits & 0x8000) != 0 ? -(bits & 0x7FFF) : bits;
}

static bool is_nan(const struct writer_values *values, size_t i)
{
    enum type_id id = values->type->column.type.id;
    if (id == TYPE_FLOAT16)
        return (load_bits(writer_value(values, i)) & 0x7FFF) > 0x7C00;
    return type_is_float(id) && isnan(load_float(writer_value(values, i)));
}

/* Two's complement, big-endian, of equal length. */
static int compare_decimal(struct str a, struct str b)
{
    int order = compare_signed((signed char)a.data[0], (signed char)b.data[0]);
    return order != 0 ? order : memcmp(a.data, b.data, a.length);
}

int writer_compare(const struct writer_values *values, size_t a, size_t b)
{
    struct str left = writer_value(values, a), right = writer_value(values, b);
    enum type_id id = values->type->column.type.id;
    switch (values->type->column.physical) {
    case PARQUET_BOOLEAN:
        return compare_unsigned(load_bits(left), load_bits(right));
    case PARQUET_INT32:
        return id == TYPE_UINT32
                   ? compare_unsigned(load_bits(left), load_bits(right))
                   : compare_signed((int32_t)(uint32_t)load_bits(left), (int32_t)(uint32_t)load_bits(right));
    case PARQUET_INT64:
        return id == TYPE_UINT64 ? compare_unsigned(load_bits(left), load_bits(right))
                                 : compare_signed((int64_t)load_bits(left), (int64_t)load_bits(right));
    case PARQUET_FLOAT:
    case PARQUET_DOUBLE:
        return load_float(left) < load_float(right) ? -1 : load_float(left) > load_float(right);
    case PARQUET_FIXED_LEN_BYTE_ARRAY:
        if (type_is_decimal(id))
            return compare_decimal(left, right);
        if (id == TYPE_FLOAT16)
            return compare_signed(float16_rank(left), float16_rank(right));
        break;
    case PARQUET_BYTE_ARRAY:
    case PARQUET_INT96:
        break;
    }
    return str_compare(left, right);
}

struct writer_bounds writer_bounds_of(const struct writer_values *values, size_t first, size_t end)
{
    struct writer_bounds bounds = {0};
    for (size_t i = first; i < end; i++) {
        if (is_nan(values, i)) {
            bounds.nan_count++;
        } else if (!bounds.has) {
            bounds.has = true;
            bounds.min = bounds.max = i;
        } else if (writer_compare(values, i, bounds.min) < 0) {
            bounds.min = i;
        } else if (writer_compare(values, i, bounds.max) > 0) {
            bounds.max = i;
        }
    }
    bounds.has = bounds.has && values->type->column.order_defined;
    return bounds;
}

void writer_bounds_add(const struct writer_values *values, struct writer_bounds *all, const struct writer_bounds *part)
{
    all->null_count += part->null_count;
    all->nan_count += part->nan_count;
    if (!part->has)
        return;
    if (!all->has || writer_compare(values, part->min, all->min) < 0)
        all->min = part->min;
    if (!all->has || writer_compare(values, part->max, all->max) > 0)
        all->max = part->max;
    all->has = true;
}

/* Where the character that `text` is cut in begins, so that what stays is whole characters. */
static size_t character_start(struct str text, size_t at)
{
    while (at > 0 && ((unsigned char)text.data[at] & 0xC0) == 0x80)
        at--;
    return at;
}

static size_t cut_length(struct str text, bool utf8)
{
    return utf8 ? character_start(text, BOUND_BYTES) : (size_t)BOUND_BYTES;
}

/* The next code point of as many UTF-8 bytes as `bytes` has, in place; false when there is none. */
static bool raise_character(unsigned char *bytes, size_t length)
{
    static const uint32_t last_of_length[] = {0, 0x7F, 0x7FF, 0xFFFF, 0x10FFFF};
    enum { FIRST_SURROGATE = 0xD800, AFTER_SURROGATES = 0xE000 };
    if (length > 4)
        return false;
    uint32_t code = length == 1 ? bytes[0] : bytes[0] & (0x7Fu >> length);
    for (size_t i = 1; i < length; i++)
        code = code << 6 | (bytes[i] & 0x3F);
    if (code >= last_of_length[length])
        return false;
    code = code + 1 == FIRST_SURROGATE ? AFTER_SURROGATES : code + 1;
    for (size_t i = length; i-- > 1; code >>= 6)
        bytes[i] = (unsigned char)(0x80 | (code & 0x3F));
    bytes[0] = (unsigned char)(length == 1 ? code : (0xF00u >> length & 0xFF) | code);
    return true;
}

/* Makes the bytes a string no longer than they are, greater than all strings that begin with them: the last byte (of
 * UTF-8: character) that can be raised is, and what follows goes. Gives the new length; 0 when there is no such string.
 */
static size_t raise(char *text, size_t length, bool utf8)
{
    unsigned char *bytes = (unsigned char *)text;
    while (length > 0) {
        size_t start = utf8 ? character_start((struct str){text, length}, length - 1) : length - 1;
        if (utf8 ? raise_character(bytes + start, length - start) : bytes[start] < 0xFF) {
            bytes[start] = (unsigned char)(bytes[start] + !utf8);
            return length;
        }
        length = start;
    }
    return 0;
}

static kith_error *string_bound(const struct writer_values *values, struct str value, bool is_min,
                                struct strbuf *scratch, bool *exact)
{
    bool utf8 = type_is_string(values->type->column.type.id);
    *exact = value.length <= BOUND_BYTES;
    if (!*exact) {
        char *at;
        size_t length = cut_length(value, utf8);
        TRY(strbuf_reserve(scratch, length, &at));
        memcpy(at, value.data, length);
        if (!is_min)
            length = raise(at, length, utf8);
        scratch->length += length;
        if (length > 0)
            return NULL;
        *exact = true; /* it cannot be cut and stay a bound */
    }
    return strbuf_append(scratch, value.data, value.length);
}

kith_error *writer_bound_text(const struct writer_values *values, size_t i, bool is_min, struct strbuf *scratch,
                              bool *exact)
{
    struct str value = writer_value(values, i);
    enum type_id id = values->type->column.type.id;
    *exact = true;
    if (values->type->column.physical == PARQUET_BYTE_ARRAY)
        return string_bound(values, value, is_min, scratch, exact);
    bool zero = id == TYPE_FLOAT16 ? float16_rank(value) == 0 : type_is_float(id) && load_float(value) == 0;
    TRY(strbuf_append(scratch, value.data, value.length));
    if (zero) {
        char *bytes = scratch->data + scratch->length - value.length;
        memset(bytes, 0, value.length);
        bytes[value.length - 1] = (char)(is_min ? 0x80 : 0); /* the sign is the highest bit */
    }
    return NULL;
}

#include "columnar/scalar.h"

#include "base/alloc.h"
#include "base/clock.h"

/* Sign- or zero-extends a value of 1, 2, 4 or 8 bytes. */
static int64_t load_signed(const uint8_t *bytes, size_t width)
{
    int64_t value = 0;
    memcpy(&value, bytes, width);
    unsigned unused = (unsigned)(8 - width) * 8;
    return (int64_t)((uint64_t)value << unused) >> unused;
}

static uint64_t load_unsigned(const uint8_t *bytes, size_t width)
{
    uint64_t value = 0;
    memcpy(&value, bytes, width);
    return value;
}

static void load_interval(const uint8_t *bytes, struct scalar *scalar)
{
    int32_t parts[2];
    memcpy(parts, bytes, sizeof parts);
    if (scalar->type.id == TYPE_INTERVAL_DAY_TIME) {
        scalar->interval.days = parts[0];
        scalar->interval.nanoseconds = (int64_t)parts[1] * NANOSECONDS_PER_MILLISECOND;
        return;
    }
    scalar->interval.months = parts[0];
    scalar->interval.days = parts[1];
    memcpy(&scalar->interval.nanoseconds, bytes + sizeof parts, sizeof(int64_t));
}

static bool is_unsigned(enum type_id id)
{
    return id == TYPE_FLOAT16 || (type_is_integer(id) && !type_is_signed_integer(id));
}

static bool is_interval(enum type_id id)
{
    return id == TYPE_INTERVAL_DAY_TIME || id == TYPE_INTERVAL_MONTH_DAY_NANO;
}

struct scalar scalar_from_array(const struct array *array, size_t i)
{
    struct scalar scalar = {.type = type_decoded(&array->type), .is_null = array_is_null(array, i)};
    enum type_id id = scalar.type.id;
    if (scalar.is_null)
        return scalar;
    if (array->dictionary != NULL)
        return scalar_from_array(array->dictionary, array_dictionary_index(array, i));
    if (type_is_string(id) || type_is_binary(id)) {
        scalar.string = array_string(array, i);
        return scalar;
    }
    if (id == TYPE_BOOL) {
        scalar.boolean = bitmap_get(array->values->data, array->offset + i);
        return scalar;
    }
    ASSERT(type_layout(&array->type) == LAYOUT_FIXED);
    size_t width = type_width(&array->type);
    const uint8_t *bytes = array->values->data + (array->offset + i) * width;
    if (id == TYPE_FLOAT32)
        memcpy(&scalar.float32, bytes, width);
    else if (id == TYPE_FLOAT64)
        memcpy(&scalar.float64, bytes, width);
    else if (id == TYPE_DECIMAL128)
        memcpy(&scalar.decimal, bytes, width);
    else if (is_interval(id))
        load_interval(bytes, &scalar);
    else if (is_unsigned(id))
        scalar.uint64 = load_unsigned(bytes, width);
    else
        scalar.int64 = load_signed(bytes, width);
    return scalar;
}

size_t scalar_store(const struct scalar *scalar, uint8_t *out)
{
    enum type_id id = scalar->type.id;
    size_t width = type_width(&scalar->type);
    if (id == TYPE_FLOAT32) {
        memcpy(out, &scalar->float32, width);
    } else if (id == TYPE_FLOAT64) {
        memcpy(out, &scalar->float64, width);
    } else if (id == TYPE_DECIMAL128) {
        memcpy(out, &scalar->decimal, width);
    } else if (id == TYPE_INTERVAL_DAY_TIME) {
        int32_t parts[2] = {scalar->interval.days,
                            (int32_t)(scalar->interval.nanoseconds / NANOSECONDS_PER_MILLISECOND)};
        memcpy(out, parts, sizeof parts);
    } else if (id == TYPE_INTERVAL_MONTH_DAY_NANO) {
        memcpy(out, &scalar->interval.months, 4);
        memcpy(out + 4, &scalar->interval.days, 4);
        memcpy(out + 8, &scalar->interval.nanoseconds, 8);
    } else if (is_unsigned(id)) {
        memcpy(out, &scalar->uint64, width);
    } else {
        memcpy(out, &scalar->int64, width);
    }
    return width;
}

static kith_error *store_string(const struct scalar *scalar, struct array *array)
{
    struct str string = scalar->string;
    enum type_layout layout = type_layout(&scalar->type);
    if (layout != LAYOUT_OFFSETS64 && string.length > LIMIT_STRING_BATCH_BYTES)
        return error_new(KITH_ERROR_LIMIT, "a string of %zu bytes is larger than STRING_BATCH_BYTES (%d)",
                         string.length, LIMIT_STRING_BATCH_BYTES);
    if (layout == LAYOUT_VIEW) {
        bool inlined = string.length <= sizeof((struct string_view *)0)->inlined;
        if (!inlined) {
            TRY(NEW_ARRAY(&array->variadic, 1));
            TRY(buffer_new(string.length, &array->variadic[0]));
            array->variadic_count = 1;
            memcpy(array->variadic[0]->data, string.data, string.length);
        }
        TRY(buffer_new(sizeof(struct string_view), &array->values));
        struct string_view view = string_view_make(string, 0, 0);
        memcpy(array->values->data, &view, sizeof view);
        return NULL;
    }
    struct buffer **bytes = layout == LAYOUT_FIXED ? &array->values : &array->data;
    TRY(buffer_new(string.length, bytes));
    if (string.length > 0)
        memcpy((*bytes)->data, string.data, string.length);
    if (layout == LAYOUT_FIXED)
        return NULL;
    size_t width = layout == LAYOUT_OFFSETS32 ? sizeof(int32_t) : sizeof(int64_t);
    TRY(buffer_new_zeroed(2 * width, &array->offsets));
    memcpy(array->offsets->data + width, &string.length, width);
    return NULL;
}

static kith_error *array_of_one(const struct scalar *scalar, struct array **out)
{
    _cleanup_(array_unref) struct array *array = NULL;
    TRY(array_new(&scalar->type, 1, &array));
    if (type_is_string(scalar->type.id) || type_is_binary(scalar->type.id)) {
        TRY(store_string(scalar, array));
    } else if (scalar->type.id == TYPE_BOOL) {
        TRY(buffer_new_zeroed(1, &array->values));
        array->values->data[0] = scalar->boolean;
    } else if (scalar->type.id != TYPE_NULL) {
        TRY(buffer_new(type_width(&scalar->type), &array->values));
        scalar_store(scalar, array->values->data);
    }
    *out = TAKE(array);
    return NULL;
}

kith_error *scalar_to_array(const struct scalar *scalar, size_t length, struct array **out)
{
    if (scalar->is_null)
        return array_new_null(&scalar->type, length, out);
    _cleanup_(array_unref) struct array *one = NULL;
    TRY(array_of_one(scalar, &one));
    _cleanup_free_ uint32_t *rows = NULL;
    TRY(NEW_ARRAY(&rows, length));
    return array_take(one, rows, length, out);
}

kith_error *scalar_copy(const struct scalar *scalar, struct arena *arena, struct scalar *out)
{
    struct scalar copy = *scalar;
    if (!scalar->is_null && (type_is_string(scalar->type.id) || type_is_binary(scalar->type.id))) {
        char *bytes;
        TRY(arena_string(arena, scalar->string.data, scalar->string.length, &bytes));
        copy.string.data = bytes;
    }
    *out = copy;
    return NULL;
}

#define ORDER(a, b) (((a) > (b)) - ((a) < (b)))

static int compare_doubles(double a, double b)
{
    bool a_nan = a != a, b_nan = b != b;
    return a_nan || b_nan ? a_nan - b_nan : ORDER(a, b);
}

double float16_to_double(uint16_t bits)
{
    unsigned exponent = (bits >> 10) & 0x1f;
    double fraction = bits & 0x3ff;
    double magnitude;
    if (exponent == 0)
        magnitude = fraction * 0x1p-24;
    else if (exponent == 0x1f)
        magnitude = fraction == 0 ? __builtin_inf() : __builtin_nan("");
    else
        magnitude = __builtin_ldexp(1024 + fraction, (int)exponent - 25);
    return bits & 0x8000 ? -magnitude : magnitude;
}

int scalar_compare(const struct scalar *a, const struct scalar *b)
{
    enum type_id id = a->type.id;
    ASSERT(id == b->type.id);
    if (type_is_string(id) || type_is_binary(id))
        return str_compare(a->string, b->string);
    if (id == TYPE_BOOL)
        return ORDER(a->boolean, b->boolean);
    if (id == TYPE_FLOAT16)
        return compare_doubles(float16_to_double((uint16_t)a->uint64), float16_to_double((uint16_t)b->uint64));
    if (id == TYPE_FLOAT32)
        return compare_doubles((double)a->float32, (double)b->float32);
    if (id == TYPE_FLOAT64)
        return compare_doubles(a->float64, b->float64);
    if (id == TYPE_DECIMAL128)
        return ORDER(a->decimal, b->decimal);
    if (is_unsigned(id))
        return ORDER(a->uint64, b->uint64);
    ASSERT(!is_interval(id));
    return ORDER(a->int64, b->int64);
}

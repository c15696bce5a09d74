#include "compute/in_list.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/alloc.h"
#include "compute/text_reader.h"

/* Values are looked up as 16-byte integers or as strings: a number's key is its value widened (floats: bits with one
 * zero and one NaN), so that one table serves all types. */
union key {
    __int128 number;
    struct str text;
};

enum { LINEAR_COUNT = 4 };

struct in_set {
    bool is_text, has_null;
    size_t count;
    union key *keys;
    char *text;      /* what text keys point into */
    uint32_t *slots; /* open addressing: index + 1 of a key, 0 = free; NULL for short lists */
    size_t mask;
};

static bool is_text(const struct data_type *type)
{
    return type_is_string(type->id) || type_is_binary(type->id);
}

static uint64_t float_key(double value)
{
    uint64_t bits;
    if (value != value)
        value = __builtin_nan("");
    if (value == 0)
        value = 0;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static __int128 number_key(const struct scalar *value)
{
    switch ((int)value->type.id) {
    case TYPE_BOOL:
        return value->boolean;
    case TYPE_FLOAT16:
        return float_key(float16_to_double((uint16_t)value->uint64));
    case TYPE_FLOAT32:
        return float_key((double)value->float32);
    case TYPE_FLOAT64:
        return float_key(value->float64);
    case TYPE_DECIMAL128:
        return value->decimal;
    case TYPE_UINT8:
    case TYPE_UINT16:
    case TYPE_UINT32:
    case TYPE_UINT64:
        return value->uint64;
    default:
        return value->int64;
    }
}

static uint64_t hash_number(__int128 number)
{
    /* Multiplication by 2^64 / golden ratio and folding: Knuth, The Art of Computer Programming 3, 6.4. */
    uint64_t mixed =
        ((uint64_t)number ^ (uint64_t)(number >> 64) * UINT64_C(0xC2B2AE3D27D4EB4F)) * UINT64_C(0x9E3779B97F4A7C15);
    return mixed ^ mixed >> 32;
}

static uint64_t hash_key(const struct in_set *set, union key key)
{
    return set->is_text ? XXH3_64bits(key.text.data, key.text.length) : hash_number(key.number);
}

static bool keys_equal(const struct in_set *set, union key a, union key b)
{
    return set->is_text ? str_equal(a.text, b.text) : a.number == b.number;
}

static bool contains(const struct in_set *set, union key key)
{
    if (set->slots == NULL) {
        for (size_t i = 0; i < set->count; i++)
            if (keys_equal(set, set->keys[i], key))
                return true;
        return false;
    }
    for (size_t at = hash_key(set, key) & set->mask; set->slots[at] != 0; at = (at + 1) & set->mask)
        if (keys_equal(set, set->keys[set->slots[at] - 1], key))
            return true;
    return false;
}

static kith_error *build_table(struct in_set *set)
{
    size_t capacity = 16;
    if (set->count <= LINEAR_COUNT)
        return NULL;
    /* Most values are not in the list: a sparse table lets them end at a free slot at once. */
    while (capacity < 8 * set->count)
        capacity *= 2;
    TRY(NEW_ARRAY(&set->slots, capacity));
    set->mask = capacity - 1;
    for (size_t i = 0; i < set->count; i++) {
        if (contains(set, set->keys[i]))
            continue;
        size_t at = hash_key(set, set->keys[i]) & set->mask;
        while (set->slots[at] != 0)
            at = (at + 1) & set->mask;
        set->slots[at] = (uint32_t)(i + 1);
    }
    return NULL;
}

kith_error *in_set_new(const struct data_type *type, const struct scalar *values, size_t count, struct in_set **out)
{
    _cleanup_(in_set_free) struct in_set *set = NULL;
    size_t text_bytes = 0, used = 0;
    TRY(NEW(&set));
    set->is_text = is_text(type);
    for (size_t i = 0; i < count && set->is_text; i++)
        text_bytes += values[i].is_null ? 0 : values[i].string.length;
    TRY(NEW_ARRAY(&set->keys, count));
    TRY(alloc_zeroed(text_bytes + 1, 1, &set->text));
    for (size_t i = 0; i < count; i++) {
        if (values[i].is_null) {
            set->has_null = true;
            continue;
        }
        union key *key = &set->keys[set->count++];
        if (!set->is_text) {
            key->number = number_key(&values[i]);
            continue;
        }
        key->text = (struct str){set->text + used, values[i].string.length};
        if (key->text.length > 0)
            memcpy(set->text + used, values[i].string.data, key->text.length);
        used += key->text.length;
    }
    TRY(build_table(set));
    *out = TAKE(set);
    return NULL;
}

void in_set_free(struct in_set *set)
{
    if (set == NULL)
        return;
    free(set->keys);
    free(set->text);
    free(set->slots);
    free(set);
}

static union key key_at(const struct in_set *set, const struct text_reader *reader, const struct array *array,
                        size_t row)
{
    if (set->is_text)
        return (union key){.text = text_at(reader, row)};
    switch ((int)kernel_physical_type(&array->type)) {
    case TYPE_INT32:
        return (union key){.number = ((const int32_t *)array_values(array))[row]};
    case TYPE_INT64:
        return (union key){.number = ((const int64_t *)array_values(array))[row]};
    default: {
        struct scalar value = scalar_from_array(array, row);
        return (union key){.number = number_key(&value)};
    }
    }
}

kith_error *in_set_run(const struct in_set *set, const struct datum *operand, bool negated, size_t rows,
                       const struct selection *selection, struct array **out)
{
    const struct data_type boolean = type_of(TYPE_BOOL);
    const struct array *array = operand->array;
    _cleanup_(array_unref) struct array *result = NULL;
    TRY(kernel_new_result(&boolean, rows, &result));
    bool empty = set->count == 0 && !set->has_null;
    if (empty) {
        memset(result->values->data, negated ? 0xFF : 0, result->values->size);
        *out = TAKE(result);
        return NULL;
    }
    if (array->type.id == TYPE_NULL)
        return kernel_all_null(&boolean, rows, out);
    if (set->has_null || array->validity != NULL)
        TRY(kernel_own_validity(result));
    struct text_reader reader = {0};
    if (set->is_text)
        reader = text_reader_of(array);
    for (size_t k = 0; k < selected_count(selection, rows); k++) {
        size_t row = selected_row(selection, k);
        bool null = datum_is_null(operand, row);
        bool found = !null && contains(set, key_at(set, &reader, array, datum_row(operand, row)));
        bitmap_assign(result->values->data, row, found != negated);
        if (null || (!found && set->has_null))
            bitmap_clear(result->validity->data, row);
    }
    *out = TAKE(result);
    return NULL;
}

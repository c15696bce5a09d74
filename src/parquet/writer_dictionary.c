#include "base/alloc.h"
#include "parquet/writer_parts.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

enum {
    DICTIONARY_BYTES = 1048576, /* past this a reader's cache suffers; other writers end theirs here too */
    EMPTY = 0,                  /* slots hold the number of a distinct value plus one */
    FIRST_SLOTS = 1024
};

struct table {
    uint32_t *slots;
    size_t mask;
};

static void table_reset(struct table *table)
{
    free(table->slots);
}
DEFINE_VALUE_CLEANUP(table_reset, struct table)

static size_t hash(struct str value)
{
    return (size_t)XXH3_64bits(value.data, value.length);
}

/* The slot that holds `value`, or the empty one where it belongs. */
static uint32_t *find(const struct table *table, const struct writer_values *values,
                      const struct writer_dictionary *dictionary, struct str value)
{
    for (size_t at = hash(value) & table->mask;; at = (at + 1) & table->mask) {
        uint32_t *slot = &table->slots[at];
        if (*slot == EMPTY || str_equal(writer_value(values, dictionary->firsts.items[*slot - 1]), value))
            return slot;
    }
}

static kith_error *grow(struct table *table, const struct writer_values *values,
                        const struct writer_dictionary *dictionary)
{
    size_t count = (table->mask + 1) * 2;
    free(table->slots);
    TRY(NEW_ARRAY(&table->slots, count));
    table->mask = count - 1;
    for (size_t i = 0; i < dictionary->firsts.length; i++)
        *find(table, values, dictionary, writer_value(values, dictionary->firsts.items[i])) = (uint32_t)i + 1;
    return NULL;
}

kith_error *writer_dictionary_make(const struct writer_values *values, struct writer_dictionary *out, bool *pays)
{
    _cleanup_(table_reset) struct table table = {.mask = FIRST_SLOTS - 1};
    *pays = false;
    if (values->type->column.physical == PARQUET_BOOLEAN || values->count == 0)
        return NULL;
    TRY(NEW_ARRAY(&table.slots, FIRST_SLOTS));
    TRY(NEW_ARRAY(&out->indices, values->count));
    for (size_t i = 0; i < values->count; i++) {
        struct str value = writer_value(values, i);
        uint32_t *slot = find(&table, values, out, value);
        if (*slot == EMPTY) {
            out->plain_bytes += writer_plain_bytes(values, i, i + 1);
            if (out->plain_bytes > DICTIONARY_BYTES)
                return NULL;
            TRY(vec_push(&out->firsts, (uint32_t)i));
            *slot = (uint32_t)out->firsts.length;
            if (out->firsts.length * 2 > table.mask) {
                TRY(grow(&table, values, out));
                slot = find(&table, values, out, value);
            }
        }
        out->indices[i] = *slot - 1;
    }
    uint64_t index_bytes = (uint64_t)values->count * writer_bit_width(out->firsts.length) / 8;
    *pays = out->plain_bytes + index_bytes < writer_plain_bytes(values, 0, values->count);
    return NULL;
}

void writer_dictionary_reset(struct writer_dictionary *dictionary)
{
    free(dictionary->indices);
    vec_reset(&dictionary->firsts);
}

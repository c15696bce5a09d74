#include "parquet/encoding_delta_strings.h"

#include "base/alloc.h"
#include "base/limits.h"
#include "runtime/coop.h"

enum { SLACK = 64 };

kith_error *delta_strings_init(struct delta_strings_decoder *decoder, const uint8_t *bytes, size_t length)
{
    const uint8_t *suffixes;
    decoder->last_length = 0;
    TRY(delta_init(&decoder->prefixes, bytes, length, 32));
    TRY(delta_find_end(&decoder->prefixes, &suffixes));
    return delta_length_init(&decoder->suffixes, suffixes, (size_t)(bytes + length - suffixes));
}

void delta_strings_reset(struct delta_strings_decoder *decoder)
{
    free(decoder->last);
    free(decoder->values);
    *decoder = (struct delta_strings_decoder){0};
}

static kith_error *reserve(char **memory, size_t *capacity, size_t needed)
{
    if (*memory != NULL && needed <= *capacity)
        return NULL;
    if (needed > LIMIT_STRING_BATCH_BYTES)
        return error_new(KITH_ERROR_LIMIT, "byte arrays of %zu bytes together, above the limit STRING_BATCH_BYTES",
                         needed);
    size_t grown = MAX(needed, MIN(*capacity * 2, (size_t)LIMIT_STRING_BATCH_BYTES));
    TRY(alloc_resize(memory, grown + SLACK, 1));
    *capacity = grown;
    return NULL;
}

/* Total length of the values to come; checks each prefix against the value before it. */
static kith_error *measure(const struct delta_strings_decoder *decoder, const uint32_t *prefixes,
                           const struct str *suffixes, size_t count, size_t *out)
{
    size_t total = 0, before = decoder->last_length;
    for (size_t i = 0; i < count; i++) {
        if (prefixes[i] > before)
            return error_new(KITH_ERROR_CORRUPT, "a byte array shares %d bytes with the one before, which has %zu",
                             (int32_t)prefixes[i], before);
        before = prefixes[i] + suffixes[i].length;
        total += before;
    }
    *out = total;
    return NULL;
}

kith_error *delta_strings_read(struct delta_strings_decoder *decoder, size_t count, struct str *out)
{
    uint32_t prefixes[DELTA_STRINGS_CHUNK];
    struct str suffixes[DELTA_STRINGS_CHUNK];
    ASSERT(count <= DELTA_STRINGS_CHUNK);
    if (count == 0)
        return NULL;
    TRY(delta_read32(&decoder->prefixes, count, prefixes));
    TRY(delta_length_read(&decoder->suffixes, count, suffixes));
    size_t total;
    TRY(measure(decoder, prefixes, suffixes, count, &total));
    TRY(reserve(&decoder->values, &decoder->values_capacity, total));
    const char *before = decoder->last;
    char *value = decoder->values;
    size_t length = 0;
    bool large = total > COOP_CHUNK_BYTES;
    for (size_t i = 0; i < count; i++) {
        length = prefixes[i] + suffixes[i].length;
        TRY(coop_copy(value, before, prefixes[i]));
        TRY(coop_copy(value + prefixes[i], suffixes[i].data, suffixes[i].length));
        if (large)
            TRY(coop_charge_bytes(&decoder->uncharged, length));
        if (out != NULL)
            out[i] = (struct str){value, length};
        before = value;
        value += length;
    }
    TRY(reserve(&decoder->last, &decoder->last_capacity, length));
    TRY(coop_copy(decoder->last, value - length, length));
    decoder->last_length = length;
    return coop_charge_bytes(&decoder->uncharged, large ? 0 : total);
}

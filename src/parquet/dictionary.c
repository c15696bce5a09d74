#include "parquet/dictionary.h"

#include "columnar/gather.h"
#include "parquet/column_output.h"
#include "parquet/value_reader.h"
#include "runtime/coop.h"

enum { FIXED_BYTES_AT_ONCE = 64 * 1024 };

/* Before anything is allocated: that many entries cannot be in fewer bytes. */
static kith_error *check_count(const struct conversion *conversion, size_t count, size_t bytes)
{
    size_t least = conversion->in_width > 0 ? conversion->in_width : 4;
    if (count <= bytes / least)
        return NULL;
    return error_new(KITH_ERROR_CORRUPT, "a dictionary of %zu values in %zu bytes", count, bytes);
}

static kith_error *load_fixed(struct dictionary *dictionary, const struct conversion *conversion,
                              struct value_reader *reader, struct page_buffer *memory)
{
    TRY(page_buffer_reserve(memory, dictionary->count * conversion->out_width));
    dictionary->values = memory->data;
    size_t uncharged = 0, most = MAX(FIXED_BYTES_AT_ONCE / MAX(conversion->in_width, (size_t)1), (size_t)1);
    for (size_t done = 0, taken; conversion->in_width > 0 && done < dictionary->count; done += taken) {
        const uint8_t *values;
        taken = MIN(dictionary->count - done, most);
        TRY(value_reader_fixed(reader, taken, NULL, &values));
        TRY(convert_fixed(conversion, values, taken, memory->data + done * conversion->out_width));
        TRY(coop_charge_bytes(&uncharged, taken * conversion->in_width));
    }
    struct str slices[VALUE_SLICES];
    for (size_t done = 0, taken; conversion->in_width == 0 && done < dictionary->count; done += taken) {
        taken = MIN(dictionary->count - done, (size_t)VALUE_SLICES);
        TRY(coop_charge_bytes(&uncharged, taken * sizeof *slices));
        TRY(value_reader_slices(reader, taken, slices));
        TRY(convert_slices(conversion, slices, taken, memory->data + done * conversion->out_width));
    }
    return NULL;
}

static kith_error *load_strings(struct dictionary *dictionary, const struct data_type *type,
                                struct value_reader *reader)
{
    const struct conversion conversion = {.kind = CONVERT_STRINGS};
    _cleanup_(column_output_reset) struct column_output output = {0};
    struct str slices[VALUE_SLICES];
    TRY(column_output_init(&output, type, &conversion, dictionary->count, 0));
    for (size_t done = 0, taken; done < dictionary->count; done += taken) {
        taken = MIN(dictionary->count - done, (size_t)VALUE_SLICES);
        TRY(value_reader_slices(reader, taken, slices));
        TRY(column_output_append_slices(&output, slices, taken));
        TRY(column_output_end_rows(&output, NULL, taken, taken));
    }
    return column_output_finish(&output, &dictionary->strings);
}

kith_error *dictionary_load(struct dictionary *dictionary, const struct parquet_column *column,
                            const struct conversion *conversion, const struct page_header *header,
                            const struct page_body *body, struct page_buffer *memory)
{
    if (header->encoding != PARQUET_PLAIN && header->encoding != PARQUET_PLAIN_DICTIONARY)
        return error_new(KITH_ERROR_CORRUPT, "a dictionary page in encoding %d", (int)header->encoding);
    if (conversion->kind == CONVERT_BITS)
        return error_new(KITH_ERROR_NOT_IMPLEMENTED, "dictionaries of booleans are not supported");
    if (conversion->kind == CONVERT_NOTHING) {
        dictionary->loaded = true; /* pyarrow writes an empty one for a column of NULLs; nothing refers to it */
        return NULL;
    }
    TRY(check_count(conversion, header->value_count, body->value_bytes));
    struct value_reader reader = {0}; /* PLAIN needs no memory */
    TRY(value_reader_start(&reader, column->physical, conversion->in_width, PARQUET_PLAIN, body->values,
                           body->value_bytes));
    dictionary->count = header->value_count;
    if (conversion->kind == CONVERT_STRINGS)
        TRY(load_strings(dictionary, &column->type, &reader));
    else
        TRY(load_fixed(dictionary, conversion, &reader, memory));
    dictionary->loaded = true;
    return NULL;
}

void dictionary_reset(struct dictionary *dictionary)
{
    array_unref(dictionary->strings);
    *dictionary = (struct dictionary){0};
}

kith_error *dictionary_check(const struct dictionary *dictionary, const uint32_t *indices, size_t count)
{
    if (_likely_(gather_in_range(indices, count, (uint32_t)dictionary->count)))
        return NULL;
    size_t i = 0;
    while (i + 1 < count && indices[i] < dictionary->count)
        i++;
    return error_new(KITH_ERROR_CORRUPT, "dictionary index %u; the dictionary has %zu values", indices[i],
                     dictionary->count);
}

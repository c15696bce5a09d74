/*
 * The dictionary of a column chunk, decoded once: entries in Arrow's memory, ready to be copied by index.
 */
#ifndef KITH_PARQUET_DICTIONARY_H
#define KITH_PARQUET_DICTIONARY_H

#include "columnar/array.h"
#include "parquet/conversion.h"
#include "parquet/page.h"

/* Zero-initialised is empty and not loaded. */
struct dictionary {
    bool loaded;
    size_t count;
    const uint8_t *values; /* fixed width; in memory that was lent */
    struct array *strings; /* strings */
};

/* Decodes the entries of a dictionary page. Those of fixed width go to `memory`, borrowed for the dictionary's life. */
kith_error *dictionary_load(struct dictionary *dictionary, const struct parquet_column *column,
                            const struct conversion *conversion, const struct page_header *header,
                            const struct page_body *body, struct page_buffer *memory) _must_check_;
void dictionary_reset(struct dictionary *dictionary);

/* CORRUPT when one of the indices is not below the dictionary's count. */
kith_error *dictionary_check(const struct dictionary *dictionary, const uint32_t *indices, size_t count) _must_check_;

#endif

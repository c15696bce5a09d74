/*
 * The parts of the writer, one file each. A column chunk goes through them in turn: Arrow values become physical values
 * without nulls (writer_values.c), a dictionary is tried (writer_dictionary.c), pages are encoded and compressed
 * (writer_column.c, writer_rle.c), bounds are taken of each (writer_statistics.c), and what the footer and the page
 * index will say is gathered (writer_metadata.c).
 */
#ifndef KITH_PARQUET_WRITER_PARTS_H
#define KITH_PARQUET_WRITER_PARTS_H

#include "base/vec.h"
#include "columnar/batch.h"
#include "parquet/codec.h"
#include "parquet/schema_element.h"
#include "parquet/writer.h"

/* How a field is stored. */
struct writer_type {
    struct schema_element element;
    struct parquet_column column; /* as it will be read */
    size_t width;                 /* bytes of a value; 0 for byte arrays; booleans take one byte until a page is made */
};

/* NOT_IMPLEMENTED for what the format cannot hold. The element's name is borrowed from the field. */
kith_error *writer_type_of(const struct field *field, struct writer_type *out) _must_check_;

/* Values of a column chunk in the order of its rows, nulls left out. */
struct writer_values {
    const struct writer_type *type;
    size_t count;
    uint8_t *fixed;      /* `count` times the type's width; NULL for byte arrays */
    struct str *strings; /* byte arrays: views of the array they come from */
};

/* `array` has the field's type without dictionary encoding and outlives *out. */
kith_error *writer_values_make(const struct writer_type *type, const struct array *array,
                               struct writer_values *out) _must_check_;
void writer_values_reset(struct writer_values *values);
DEFINE_VALUE_CLEANUP(writer_values_reset, struct writer_values)

static inline struct str writer_value(const struct writer_values *values, size_t i)
{
    if (values->strings != NULL)
        return values->strings[i];
    size_t width = values->type->width;
    return (struct str){(const char *)values->fixed + i * width, width};
}

/* Bytes of values [first, end) in PLAIN encoding. */
uint64_t writer_plain_bytes(const struct writer_values *values, size_t first, size_t end);
kith_error *writer_append_plain(const struct writer_values *values, size_t first, size_t end,
                                struct strbuf *out) _must_check_;

/* The distinct values of a chunk, numbered as they first come. */
struct writer_dictionary {
    uint32_t *indices;    /* one a value of the chunk */
    VEC(uint32_t) firsts; /* of each distinct value: a value of the chunk that is it */
    uint64_t plain_bytes; /* of the distinct values */
};

/* *pays is false when PLAIN would be as small, or the dictionary grows past 1 MiB. */
kith_error *writer_dictionary_make(const struct writer_values *values, struct writer_dictionary *out,
                                   bool *pays) _must_check_;
void writer_dictionary_reset(struct writer_dictionary *dictionary);
DEFINE_VALUE_CLEANUP(writer_dictionary_reset, struct writer_dictionary)

/* Bits that hold every number below `count`, at least 1. */
unsigned writer_bit_width(size_t count);
/* RLE / bit-packed hybrid of `count` values below 2^width (Encodings.md, "Run Length Encoding / Bit-Packing"). */
kith_error *writer_append_rle(const uint32_t *values, size_t count, unsigned width, struct strbuf *out) _must_check_;

/* Which values are smallest and largest, and how many are not there. */
struct writer_bounds {
    bool has; /* false when all values are null or NaN, or the type has no order */
    size_t min, max;
    int64_t null_count, nan_count;
};

/* Of values [first, end). */
struct writer_bounds writer_bounds_of(const struct writer_values *values, size_t first, size_t end);
/* Widens `all` by `part`. */
void writer_bounds_add(const struct writer_values *values, struct writer_bounds *all, const struct writer_bounds *part);
/* <0, 0, >0 in the order of the column; neither is NaN. */
int writer_compare(const struct writer_values *values, size_t a, size_t b);

/* A bound as the file has it: zeros get the sign that covers both, long strings are cut to 64 bytes (the max made
 * larger, so that it stays a bound). *scratch is appended to; `exact` is false for a cut string. */
kith_error *writer_bound_text(const struct writer_values *values, size_t i, bool is_min, struct strbuf *scratch,
                              bool *exact) _must_check_;

/* What is known of a page once it is written. */
struct writer_page {
    uint64_t offset;
    uint32_t bytes; /* header included */
    uint64_t first_row;
    struct writer_bounds bounds;
};

/* What the footer says of a chunk. */
struct writer_chunk {
    uint64_t dictionary_offset; /* 0 = none */
    uint64_t first_page_offset;
    uint64_t compressed_bytes, uncompressed_bytes;
    int64_t value_count;
    size_t page_count;
    struct strbuf statistics;                 /* a Statistics struct; empty = none */
    struct strbuf column_index, offset_index; /* empty = none */
    struct parquet_range column_index_at, offset_index_at;
};
void writer_chunk_reset(struct writer_chunk *chunk);

/* Where pages go, and what is kept from one to the next. */
struct writer_output {
    struct storage_writer *storage;
    struct parquet_write_options options; /* defaults filled in */
    struct codec_context codec;
    struct strbuf body, compressed, header;
};

/* Writes one column of one row group. `array` is not dictionary-encoded. *out is zeroed by the caller, who resets it.
 */
kith_error *writer_write_chunk(struct writer_output *output, const struct writer_type *type, const struct array *array,
                               struct writer_chunk *out) _must_check_;

/* Statistics, column index and offset index of a chunk whose pages are written. */
kith_error *writer_describe_chunk(const struct writer_values *values, const struct writer_page *pages, size_t count,
                                  const struct parquet_write_options *options, struct writer_chunk *out) _must_check_;

struct writer_row_group {
    int64_t row_count;
    struct writer_chunk *chunks; /* one a column */
};

/* The footer without length and magic. */
kith_error *writer_append_footer(const struct schema *schema, const struct writer_type *types,
                                 const struct writer_row_group *groups, size_t group_count, enum parquet_codec codec,
                                 struct strbuf *out) _must_check_;

#endif

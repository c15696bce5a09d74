/*
 * A Parquet file's footer, decoded and checked: schema, row groups, column chunks. All in one arena, immutable, shared
 * by all readers of the file. Enumerations keep the format's own numbers (parquet.thrift).
 *
 * Only flat schemas become readable columns: a leaf below a repeated or group node is listed with `readable` false and
 * the reason, so that the other columns of the file can still be used.
 */
#ifndef KITH_PARQUET_METADATA_H
#define KITH_PARQUET_METADATA_H

#include "base/arena.h"
#include "columnar/schema.h"

enum parquet_type {
    PARQUET_BOOLEAN = 0,
    PARQUET_INT32 = 1,
    PARQUET_INT64 = 2,
    PARQUET_INT96 = 3,
    PARQUET_FLOAT = 4,
    PARQUET_DOUBLE = 5,
    PARQUET_BYTE_ARRAY = 6,
    PARQUET_FIXED_LEN_BYTE_ARRAY = 7
};

enum parquet_codec {
    PARQUET_UNCOMPRESSED = 0,
    PARQUET_SNAPPY = 1,
    PARQUET_GZIP = 2,
    PARQUET_LZO = 3,
    PARQUET_BROTLI = 4,
    PARQUET_LZ4 = 5,
    PARQUET_ZSTD = 6,
    PARQUET_LZ4_RAW = 7
};

enum parquet_encoding {
    PARQUET_PLAIN = 0,
    PARQUET_PLAIN_DICTIONARY = 2,
    PARQUET_RLE = 3,
    PARQUET_BIT_PACKED = 4,
    PARQUET_DELTA_BINARY_PACKED = 5,
    PARQUET_DELTA_LENGTH_BYTE_ARRAY = 6,
    PARQUET_DELTA_BYTE_ARRAY = 7,
    PARQUET_RLE_DICTIONARY = 8,
    PARQUET_BYTE_STREAM_SPLIT = 9
};

/* A leaf of the schema. */
struct parquet_column {
    const char *path; /* names joined by '.' */
    enum parquet_type physical;
    int32_t type_length;   /* fixed-length byte arrays */
    struct data_type type; /* the Arrow type that it is read as */
    uint16_t max_definition_level, max_repetition_level;
    bool nullable;
    bool readable;
    const char *unreadable_reason;
    /* Whether min and max of statistics are ordered as Kith orders values of `type`; false for INT96, unknown column
     * orders of strings, intervals, and the deprecated min/max fields of unsigned or string columns. */
    bool order_defined;
    bool legacy_order_defined; /* the deprecated min and max fields may be used */
};

struct parquet_raw_statistics {
    bool has_min, has_max, has_legacy_min, has_legacy_max, has_null_count, has_nan_count;
    bool min_exact, max_exact; /* true when the file says so, or says nothing and the type is not a string */
    struct str min, max, legacy_min, legacy_max;
    int64_t null_count, nan_count;
};

struct parquet_range {
    uint64_t offset;
    uint64_t length; /* 0 = absent */
};

struct parquet_chunk {
    enum parquet_codec codec;
    int64_t value_count;
    uint64_t uncompressed_bytes;
    struct parquet_range pages; /* dictionary page, if any, and data pages; checked to lie inside the file */
    bool has_dictionary;
    struct parquet_raw_statistics statistics;
    struct parquet_range column_index, offset_index, bloom_filter;
};

struct parquet_row_group {
    int64_t row_count;
    uint64_t first_row; /* in the file */
    uint64_t compressed_bytes;
    struct parquet_chunk *chunks; /* one a column */
};

struct parquet_metadata {
    struct arena arena;
    int32_t version;
    int64_t row_count;
    const char *created_by; /* NULL = not said */
    size_t column_count;
    struct parquet_column *columns;
    size_t row_group_count;
    struct parquet_row_group *row_groups;
    size_t key_value_count;
    struct key_value *key_values;
};

/* `bytes` is the footer without length and magic; `file_size` bounds every offset in it. `name` is for errors. */
kith_error *parquet_metadata_parse(const char *name, const uint8_t *bytes, size_t length, uint64_t file_size,
                                   struct parquet_metadata **out) _must_check_;
void parquet_metadata_free(struct parquet_metadata *metadata);
DEFINE_CLEANUP(parquet_metadata_free, struct parquet_metadata)

#endif

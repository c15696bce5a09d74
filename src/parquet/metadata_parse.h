/*
 * The steps of parquet_metadata_parse, shared by its files: the flattened schema tree (metadata_schema.c), what its
 * annotations mean (metadata_type.c), row groups and column chunks (metadata_chunk.c). Everything they keep goes into
 * the metadata's arena; strings of the input are copied.
 */
#ifndef KITH_PARQUET_METADATA_PARSE_H
#define KITH_PARQUET_METADATA_PARSE_H

#include "parquet/metadata.h"
#include "parquet/thrift_reader.h"

/* What a leaf's bytes stand for. Numbers are the fields of the format's LogicalType union; the older ConvertedType is
 * translated to it (9 is reserved for INTERVAL there, which only a ConvertedType can say so far). */
enum annotation_kind {
    ANNOTATION_NONE = 0,
    ANNOTATION_STRING = 1,
    ANNOTATION_MAP = 2,
    ANNOTATION_LIST = 3,
    ANNOTATION_ENUM = 4,
    ANNOTATION_DECIMAL = 5,
    ANNOTATION_DATE = 6,
    ANNOTATION_TIME = 7,
    ANNOTATION_TIMESTAMP = 8,
    ANNOTATION_INTERVAL = 9,
    ANNOTATION_INTEGER = 10,
    ANNOTATION_NULL = 11,
    ANNOTATION_JSON = 12,
    ANNOTATION_BSON = 13,
    ANNOTATION_UUID = 14,
    ANNOTATION_FLOAT16 = 15,
    ANNOTATION_VARIANT = 16,
    ANNOTATION_GEOMETRY = 17,
    ANNOTATION_GEOGRAPHY = 18,
    ANNOTATION_VECTOR = 19,
    ANNOTATION_UNKNOWN /* of a later format version: the bytes are read as they are, their order is not known */
};

struct annotation {
    enum annotation_kind kind;
    int32_t precision, scale; /* decimals */
    int32_t bit_width;        /* integers */
    bool is_signed;           /* integers */
    bool utc;                 /* timestamps */
    enum time_unit unit;      /* times and timestamps */
};

enum repetition { REPETITION_REQUIRED = 0, REPETITION_OPTIONAL = 1, REPETITION_REPEATED = 2, REPETITION_VECTOR = 3 };

/* A node of the schema tree; nodes are listed depth first. */
struct schema_element {
    struct str name;
    bool has_type; /* a leaf */
    enum parquet_type type;
    int32_t type_length;
    bool has_repetition;
    enum repetition repetition;
    int32_t child_count;
    struct annotation annotation;
};

struct metadata_parser {
    struct thrift_reader reader;
    struct parquet_metadata *metadata;
    uint64_t data_end; /* where the footer begins: no page lies past it */
};

/* metadata_schema.c: reads the list of schema elements and makes metadata->columns from it. */
kith_error *metadata_read_schema(struct metadata_parser *parser, const struct thrift_field *field) _must_check_;

/* metadata_type.c: the annotation that is nearest to a ConvertedType; a number that the format has not is CORRUPT. */
kith_error *annotation_read_converted(struct thrift_reader *reader, const struct thrift_field *field,
                                      struct annotation *out) _must_check_;
kith_error *annotation_read_logical(struct thrift_reader *reader, const struct thrift_field *field,
                                    struct annotation *out) _must_check_;
/* Fills in type, order_defined (as if the column order were the type's) and legacy_order_defined; readable is false
 * with a reason where the annotation does not fit the physical type. */
void column_resolve_type(const struct schema_element *element, struct parquet_column *column);

/* metadata_chunk.c: reads the list of row groups, each checked against the columns. */
kith_error *metadata_read_row_groups(struct metadata_parser *parser, const struct thrift_field *field) _must_check_;

#endif

/*
 * A node of a file's schema tree as the footer lists it, for the reader and the writer of footers.
 */
#ifndef KITH_PARQUET_SCHEMA_ELEMENT_H
#define KITH_PARQUET_SCHEMA_ELEMENT_H

#include "parquet/metadata.h"

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

/* Of a leaf: fills in physical, type_length, type, order_defined (as if the column order were the type's) and
 * legacy_order_defined; readable is false with a reason where the annotation does not fit the physical type. */
void column_resolve_type(const struct schema_element *element, struct parquet_column *column);

#endif

/*
 * Data types of columns: Arrow's, as plain values that are copied freely. Dictionary encoding is a property of
 * a type, not a type of its own: a dictionary-encoded string column has id TYPE_UTF8 and `index` set, so code that
 * asks "is this a string?" is right for both. Nested types take their children from the field (schema.h).
 */
#ifndef KITH_COLUMNAR_TYPE_H
#define KITH_COLUMNAR_TYPE_H

#include "base/error.h"
#include "base/strbuf.h"

#include <stdint.h>

/* Numbers are internal; the wire and C data interface have their own. */
enum type_id {
    TYPE_NULL,
    TYPE_BOOL,
    TYPE_INT8,
    TYPE_INT16,
    TYPE_INT32,
    TYPE_INT64,
    TYPE_UINT8,
    TYPE_UINT16,
    TYPE_UINT32,
    TYPE_UINT64,
    TYPE_FLOAT16,
    TYPE_FLOAT32,
    TYPE_FLOAT64,
    TYPE_DECIMAL64,         /* int64 unscaled */
    TYPE_DECIMAL128,        /* two's complement, 16 bytes, little-endian */
    TYPE_DATE32,            /* days since 1970-01-01 */
    TYPE_DATE64,            /* milliseconds since the epoch, whole days */
    TYPE_TIME32,            /* seconds or milliseconds of the day */
    TYPE_TIME64,            /* micro- or nanoseconds of the day */
    TYPE_TIMESTAMP,         /* int64 in `unit` since the epoch; with a time zone it is an instant in UTC */
    TYPE_DURATION,          /* int64 in `unit` */
    TYPE_INTERVAL_MONTHS,   /* int32 */
    TYPE_INTERVAL_DAY_TIME, /* int32 days, int32 milliseconds */
    TYPE_INTERVAL_MONTH_DAY_NANO,
    TYPE_UTF8,
    TYPE_LARGE_UTF8,
    TYPE_UTF8_VIEW,
    TYPE_BINARY,
    TYPE_LARGE_BINARY,
    TYPE_BINARY_VIEW,
    TYPE_FIXED_SIZE_BINARY, /* `byte_width` bytes each */
    TYPE_LIST,
    TYPE_STRUCT,
    TYPE_MAP,
    TYPE_COUNT
};

enum time_unit { UNIT_SECOND, UNIT_MILLISECOND, UNIT_MICROSECOND, UNIT_NANOSECOND };

enum { TIMEZONE_BYTES = 40, DECIMAL64_MAX_PRECISION = 18, DECIMAL128_MAX_PRECISION = 38 };

struct data_type {
    enum type_id id;
    enum type_id index;  /* integer type of dictionary indices; TYPE_NULL = not dictionary-encoded */
    enum time_unit unit; /* time, timestamp, duration */
    int32_t byte_width;  /* fixed-size binary */
    uint8_t precision;   /* decimals: 1..18 or 1..38 digits */
    int8_t scale;        /* decimals: digits after the point */
    bool dictionary_ordered;
    char timezone[TIMEZONE_BYTES]; /* timestamp: IANA name or offset; "" = without time zone */
};

static inline struct data_type type_of(enum type_id id)
{
    return (struct data_type){.id = id};
}
struct data_type type_timestamp(enum time_unit unit, const char *timezone);
struct data_type type_decimal(uint8_t precision, int8_t scale); /* DECIMAL64 up to 18 digits, else DECIMAL128 */

/* The same type without dictionary encoding. */
struct data_type type_decoded(const struct data_type *type);

/* Parameters that the type does not have are not compared, nor is whether a dictionary is ordered. */
bool type_equal(const struct data_type *a, const struct data_type *b);
/* The same, whatever the encoding: Utf8 equals Dictionary(Int32, Utf8). */
bool type_equal_decoded(const struct data_type *a, const struct data_type *b);

/* Bytes of one value of a fixed-width type (of the index if dictionary-encoded); 0 for bool (one bit), strings, null.
 */
size_t type_width(const struct data_type *type);

/* How the values of an array of this type lie in memory; dictionary indices are LAYOUT_FIXED. */
enum type_layout {
    LAYOUT_NULL,
    LAYOUT_BITS,
    LAYOUT_FIXED,
    LAYOUT_OFFSETS32, /* strings */
    LAYOUT_OFFSETS64,
    LAYOUT_VIEW,
    LAYOUT_LIST, /* lists and maps: 32-bit offsets into one child */
    LAYOUT_STRUCT
};
enum type_layout type_layout(const struct data_type *type);

static inline bool type_is_dictionary(const struct data_type *type)
{
    return type->index != TYPE_NULL;
}
bool type_is_integer(enum type_id id); /* signed or unsigned */
bool type_is_signed_integer(enum type_id id);
bool type_is_float(enum type_id id);
bool type_is_decimal(enum type_id id);
bool type_is_numeric(enum type_id id);
bool type_is_string(enum type_id id); /* UTF8, LARGE_UTF8, UTF8_VIEW */
bool type_is_binary(enum type_id id); /* BINARY, LARGE_BINARY, BINARY_VIEW, FIXED_SIZE_BINARY */
bool type_is_view(enum type_id id);
bool type_is_temporal(enum type_id id);
bool type_is_nested(enum type_id id);

/* Arrow's spelling as DataFusion prints it: "Int64", "Decimal128(15, 2)", "Timestamp(Microsecond, \"UTC\")",
 * "Dictionary(Int32, Utf8)". `out` holds at least 128 bytes; returns `out`. */
char *type_format(const struct data_type *type, char *out, size_t size);

#endif

/*
 * The numbers of Arrow's IPC metadata: field ids of its tables, tags of its unions, values of its enums, as
 * format/Message.fbs and format/Schema.fbs of Apache Arrow define them. A union takes two ids: its tag and its table.
 * For the IPC files only.
 */
#ifndef KITH_COLUMNAR_IPC_FORMAT_H
#define KITH_COLUMNAR_IPC_FORMAT_H

enum ipc_version { IPC_VERSION_4 = 3, IPC_VERSION_5 = 4 };

enum message_field { MESSAGE_VERSION, MESSAGE_HEADER_TYPE, MESSAGE_HEADER, MESSAGE_BODY_LENGTH, MESSAGE_FIELDS };

enum message_header {
    HEADER_SCHEMA = 1,
    HEADER_DICTIONARY_BATCH = 2,
    HEADER_RECORD_BATCH = 3,
    HEADER_TENSOR = 4,
    HEADER_SPARSE_TENSOR = 5
};

enum schema_field { SCHEMA_ENDIANNESS, SCHEMA_COLUMNS, SCHEMA_METADATA, SCHEMA_FIELDS };

enum field_field {
    FIELD_NAME,
    FIELD_NULLABLE,
    FIELD_TYPE_TYPE,
    FIELD_TYPE,
    FIELD_DICTIONARY,
    FIELD_CHILDREN,
    FIELD_METADATA,
    FIELD_FIELDS
};

enum key_value_field { KEY_VALUE_KEY, KEY_VALUE_VALUE, KEY_VALUE_FIELDS };

enum dictionary_field { DICTIONARY_ID, DICTIONARY_INDEX_TYPE, DICTIONARY_ORDERED, DICTIONARY_FIELDS };

enum dictionary_batch_field {
    DICTIONARY_BATCH_ID,
    DICTIONARY_BATCH_DATA,
    DICTIONARY_BATCH_DELTA,
    DICTIONARY_BATCH_FIELDS
};

enum record_batch_field {
    RECORD_BATCH_LENGTH,
    RECORD_BATCH_NODES,
    RECORD_BATCH_BUFFERS,
    RECORD_BATCH_COMPRESSION,
    RECORD_BATCH_VARIADIC_COUNTS,
    RECORD_BATCH_FIELDS
};

enum compression_field { COMPRESSION_CODEC, COMPRESSION_METHOD, COMPRESSION_FIELDS };
enum compression_codec { CODEC_LZ4_FRAME, CODEC_ZSTD };

/* Structs within vectors: FieldNode {length, null count} and Buffer {offset, length}, each of two int64. */
enum { PAIR_BYTES = 16, PAIR_FIRST = 0, PAIR_SECOND = 8 };

/* Tags of the union Type, and the fields of the tables that have any. */
enum ipc_type {
    IPC_TYPE_NULL = 1,
    IPC_TYPE_INT = 2,
    IPC_TYPE_FLOATING_POINT = 3,
    IPC_TYPE_BINARY = 4,
    IPC_TYPE_UTF8 = 5,
    IPC_TYPE_BOOL = 6,
    IPC_TYPE_DECIMAL = 7,
    IPC_TYPE_DATE = 8,
    IPC_TYPE_TIME = 9,
    IPC_TYPE_TIMESTAMP = 10,
    IPC_TYPE_INTERVAL = 11,
    IPC_TYPE_LIST = 12,
    IPC_TYPE_STRUCT = 13,
    IPC_TYPE_UNION = 14,
    IPC_TYPE_FIXED_SIZE_BINARY = 15,
    IPC_TYPE_FIXED_SIZE_LIST = 16,
    IPC_TYPE_MAP = 17,
    IPC_TYPE_DURATION = 18,
    IPC_TYPE_LARGE_BINARY = 19,
    IPC_TYPE_LARGE_UTF8 = 20,
    IPC_TYPE_LARGE_LIST = 21,
    IPC_TYPE_RUN_END_ENCODED = 22,
    IPC_TYPE_BINARY_VIEW = 23,
    IPC_TYPE_UTF8_VIEW = 24,
    IPC_TYPE_LIST_VIEW = 25,
    IPC_TYPE_LARGE_LIST_VIEW = 26
};
enum int_field { INT_BIT_WIDTH, INT_SIGNED, INT_FIELDS };
enum decimal_field { DECIMAL_PRECISION, DECIMAL_SCALE, DECIMAL_BIT_WIDTH, DECIMAL_FIELDS };
enum time_field { TIME_UNIT, TIME_BIT_WIDTH, TIME_FIELDS };
enum timestamp_field { TIMESTAMP_UNIT, TIMESTAMP_TIMEZONE, TIMESTAMP_FIELDS };
enum { DECIMAL_DEFAULT_BIT_WIDTH = 128, TIME_DEFAULT_BIT_WIDTH = 32 };

/* FloatingPoint, Date, Interval, Duration and FixedSizeBinary have one field each, which says it all. */
enum { TYPE_PARAMETER };
enum floating_precision { PRECISION_HALF, PRECISION_SINGLE, PRECISION_DOUBLE };
enum date_unit { DATE_DAY, DATE_MILLISECOND };
enum interval_unit { INTERVAL_YEAR_MONTH, INTERVAL_DAY_TIME, INTERVAL_MONTH_DAY_NANO };
/* TimeUnit has the numbers of enum time_unit. */
enum { IPC_DEFAULT_UNIT = 1 };

#endif

/*
 * Writes a Parquet file of every flat type for writer_interop.py, which makes the same values by the same rule.
 *
 *     usage: writer_sample FILE CODEC ROWS ROW_GROUP_ROWS PAGE_ROWS SHAPE
 * [no_dictionary|no_statistics|no_page_index]...
 *
 * Value and NULL of a row come from one number, SplitMix64 of the column's place and the row; the shape says which row
 * stands for which: "random" itself, "repeated" one of 50, "sorted" ascending integers, "nulls" always NULL.
 */
#include "base/alloc.h"
#include "columnar/builder.h"
#include "parquet/writer.h"

#include <stdio.h>
#include <string.h>

struct sample_column {
    const char *name;
    struct data_type type;
    bool nullable;
};

static struct data_type with_unit(enum type_id id, enum time_unit unit)
{
    struct data_type type = type_of(id);
    type.unit = unit;
    return type;
}

static struct data_type decimal(enum type_id id, uint8_t precision, int8_t scale)
{
    struct data_type type = type_of(id);
    type.precision = precision;
    type.scale = scale;
    return type;
}

static struct data_type fixed(int32_t width)
{
    struct data_type type = type_of(TYPE_FIXED_SIZE_BINARY);
    type.byte_width = width;
    return type;
}

enum { COLUMN_COUNT = 40 };

/* The order and the types are those of writer_interop.py. */
static void fill_columns(struct sample_column *out)
{
    const struct sample_column columns[COLUMN_COUNT] = {
        {"bool", type_of(TYPE_BOOL), true},
        {"int8", type_of(TYPE_INT8), true},
        {"int16", type_of(TYPE_INT16), true},
        {"int32", type_of(TYPE_INT32), true},
        {"int64", type_of(TYPE_INT64), true},
        {"uint8", type_of(TYPE_UINT8), true},
        {"uint16", type_of(TYPE_UINT16), true},
        {"uint32", type_of(TYPE_UINT32), true},
        {"uint64", type_of(TYPE_UINT64), true},
        {"float16", type_of(TYPE_FLOAT16), true},
        {"float32", type_of(TYPE_FLOAT32), true},
        {"float64", type_of(TYPE_FLOAT64), true},
        {"decimal_9_2", decimal(TYPE_DECIMAL64, 9, 2), true},
        {"decimal_18_4", decimal(TYPE_DECIMAL64, 18, 4), true},
        {"decimal_20_0", decimal(TYPE_DECIMAL128, 20, 0), true},
        {"decimal_38_10", decimal(TYPE_DECIMAL128, 38, 10), true},
        {"date32", type_of(TYPE_DATE32), true},
        {"date64", type_of(TYPE_DATE64), true},
        {"time32_s", with_unit(TYPE_TIME32, UNIT_SECOND), true},
        {"time32_ms", with_unit(TYPE_TIME32, UNIT_MILLISECOND), true},
        {"time64_us", with_unit(TYPE_TIME64, UNIT_MICROSECOND), true},
        {"time64_ns", with_unit(TYPE_TIME64, UNIT_NANOSECOND), true},
        {"timestamp_s", type_timestamp(UNIT_SECOND, ""), true},
        {"timestamp_ms", type_timestamp(UNIT_MILLISECOND, ""), true},
        {"timestamp_us", type_timestamp(UNIT_MICROSECOND, ""), true},
        {"timestamp_ns", type_timestamp(UNIT_NANOSECOND, ""), true},
        {"timestamp_us_utc", type_timestamp(UNIT_MICROSECOND, "UTC"), true},
        {"utf8", type_of(TYPE_UTF8), true},
        {"large_utf8", type_of(TYPE_LARGE_UTF8), true},
        {"utf8_view", type_of(TYPE_UTF8_VIEW), true},
        {"binary", type_of(TYPE_BINARY), true},
        {"large_binary", type_of(TYPE_LARGE_BINARY), true},
        {"binary_view", type_of(TYPE_BINARY_VIEW), true},
        {"fixed_5", fixed(5), true},
        {"null", type_of(TYPE_NULL), true},
        {"required_int32", type_of(TYPE_INT32), false},
        {"required_float64", type_of(TYPE_FLOAT64), false},
        {"required_utf8", type_of(TYPE_UTF8), false},
        {"required_bool", type_of(TYPE_BOOL), false},
        {"wide_decimal_9_2", decimal(TYPE_DECIMAL128, 9, 2), true},
    };
    memcpy(out, columns, sizeof columns);
}

/* SplitMix64's output function (Steele, Lea and Flood, 2014). */
static uint64_t mix(uint64_t z)
{
    z += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

static double float_of(uint64_t h)
{
    if (h % 97 == 0)
        return __builtin_nan("");
    return h % 89 == 0 ? -0.0 : (double)((int64_t)(h & 0xFFFFF) - 0x80000) / 16;
}

static uint64_t unit_of(const struct data_type *type)
{
    static const uint64_t units[] = {1, 1000, 1000000, 1000000000};
    return units[type->unit];
}

/* Text of 0 to 210 bytes; every eleventh is longer than the bounds that the writer keeps. */
static struct str text_of(uint64_t h, char *buffer)
{
    size_t length = 0;
    if (h % 11 == 0) {
        for (int i = 0; i < 100; i++) {
            memcpy(buffer + length, "\xC3\xA9", 2);
            length += 2;
        }
    }
    if (h % 13 != 0)
        length += (size_t)snprintf(buffer + length, 8, "v%u", (unsigned)(h % 100000));
    return (struct str){buffer, length};
}

static struct str bytes_of(uint64_t h, size_t length, char *buffer)
{
    uint64_t filler = h;
    for (size_t i = 0; i < length; i += sizeof filler, filler = mix(filler))
        memcpy(buffer + i, &filler, sizeof filler);
    return (struct str){buffer, length};
}

static void set_decimal128(uint64_t h, struct scalar *out)
{
    const int64_t ten_18 = INT64_C(1000000000000000000);
    __int128 high = (int64_t)h % ten_18;
    if (out->type.precision == 9)
        out->decimal = (int64_t)h % 1000000000;
    else
        out->decimal = out->type.precision == 20 ? high * 100 : high * ten_18 + (int64_t)(h % (uint64_t)ten_18);
}

static void set_value(uint64_t h, char *buffer, struct scalar *out)
{
    const struct data_type *type = &out->type;
    enum type_id id = type->id;
    if (id == TYPE_BOOL)
        out->boolean = h & 1;
    else if (id == TYPE_FLOAT16)
        out->uint64 = h & 0xFFFF;
    else if (id == TYPE_FLOAT32)
        out->float32 = (float)float_of(h);
    else if (id == TYPE_FLOAT64)
        out->float64 = float_of(h);
    else if (id == TYPE_DECIMAL64)
        out->int64 = (int64_t)h % (type->precision == 9 ? 1000000000 : INT64_C(1000000000000000000));
    else if (id == TYPE_DECIMAL128)
        set_decimal128(h, out);
    else if (id == TYPE_DATE32)
        out->int64 = (int64_t)(h % 40000) - 10000;
    else if (id == TYPE_DATE64)
        out->int64 = ((int64_t)(h % 40000) - 10000) * 86400000;
    else if (id == TYPE_TIME32 || id == TYPE_TIME64)
        out->int64 = (int64_t)(h % (86400 * unit_of(type)));
    else if (id == TYPE_TIMESTAMP)
        out->int64 = (int64_t)(h % (4000000000 * unit_of(type))) - (int64_t)(1000000000 * unit_of(type));
    else if (type_is_string(id))
        out->string = text_of(h, buffer);
    else if (id == TYPE_FIXED_SIZE_BINARY)
        out->string = bytes_of(h, (size_t)type->byte_width, buffer);
    else if (type_is_binary(id))
        out->string = bytes_of(h, h % 100, buffer);
    else if (type_is_signed_integer(id))
        out->int64 = (int64_t)h >> (64 - 8 * type_width(type));
    else
        out->uint64 = h >> (64 - 8 * type_width(type));
}

struct sample {
    const char *shape;
    struct sample_column columns[COLUMN_COUNT];
};

static kith_error *append(const struct sample *sample, size_t column, uint64_t row, struct array_builder *builder)
{
    const struct sample_column *made = &sample->columns[column];
    uint64_t h = mix(((uint64_t)column << 32) + (strcmp(sample->shape, "repeated") == 0 ? row % 50 : row));
    bool null = (h >> 56) % 5 == 0 || strcmp(sample->shape, "nulls") == 0;
    char buffer[256];
    struct scalar value = {.type = made->type};
    if ((null && made->nullable) || made->type.id == TYPE_NULL)
        return array_builder_append_null(builder);
    if (strcmp(sample->shape, "sorted") == 0)
        h = type_is_integer(made->type.id) ? row << (64 - 8 * type_width(&made->type)) : h;
    set_value(h, buffer, &value);
    return array_builder_append(builder, &value);
}

struct arrays {
    struct array *items[COLUMN_COUNT];
};

static void arrays_reset(struct arrays *arrays)
{
    for (size_t i = 0; i < COLUMN_COUNT; i++) {
        if (arrays->items[i] != NULL)
            array_unref(arrays->items[i]);
    }
}
DEFINE_VALUE_CLEANUP(arrays_reset, struct arrays)

static kith_error *make_batch(const struct sample *sample, struct schema *schema, uint64_t first, size_t rows,
                              struct batch **out)
{
    _cleanup_(arrays_reset) struct arrays arrays = {0};
    for (size_t column = 0; column < COLUMN_COUNT; column++) {
        _cleanup_(array_builder_free) struct array_builder *builder = NULL;
        TRY(array_builder_new(&sample->columns[column].type, &builder));
        for (uint64_t row = first; row < first + rows; row++)
            TRY(append(sample, column, row, builder));
        TRY(array_builder_finish(builder, &arrays.items[column]));
    }
    return batch_new(schema, arrays.items, rows, out);
}

static kith_error *make_schema(const struct sample *sample, struct schema **out)
{
    struct field fields[COLUMN_COUNT] = {0};
    for (size_t i = 0; i < COLUMN_COUNT; i++) {
        fields[i].name = (char *)(uintptr_t)sample->columns[i].name;
        fields[i].type = sample->columns[i].type;
        fields[i].nullable = sample->columns[i].nullable;
    }
    TRY(schema_new(fields, COLUMN_COUNT, out));
    return schema_add_metadata(*out, "made by", "writer_sample");
}

static kith_error *write_sample(const char *path, const struct sample *sample, uint64_t rows,
                                const struct parquet_write_options *options)
{
    _cleanup_(schema_unref) struct schema *schema = NULL;
    _cleanup_(storage_writer_free) struct storage_writer *storage = NULL;
    _cleanup_(parquet_writer_free) struct parquet_writer *writer = NULL;
    TRY(make_schema(sample, &schema));
    TRY(storage_create(path, &storage));
    TRY(parquet_writer_new(storage, schema, options, &writer));
    for (uint64_t row = 0; row < rows;) {
        _cleanup_(batch_unref) struct batch *batch = NULL;
        size_t count = (size_t)MIN(rows - row, (uint64_t)777);
        TRY(make_batch(sample, schema, row, count, &batch));
        TRY(parquet_writer_write(writer, batch));
        row += count;
    }
    TRY(parquet_writer_finish(writer));
    return storage_writer_finish(storage);
}

int main(int argc, char **argv)
{
    if (argc < 7)
        return 2;
    struct parquet_write_options options = {
        .codec = strcmp(argv[2], "zstd") == 0     ? PARQUET_ZSTD
                 : strcmp(argv[2], "snappy") == 0 ? PARQUET_SNAPPY
                                                  : PARQUET_UNCOMPRESSED,
        .row_group_rows = strtoull(argv[4], NULL, 10),
        .page_rows = strtoull(argv[5], NULL, 10),
    };
    for (int i = 7; i < argc; i++) {
        options.no_dictionary |= strcmp(argv[i], "no_dictionary") == 0;
        options.no_statistics |= strcmp(argv[i], "no_statistics") == 0;
        options.no_page_index |= strcmp(argv[i], "no_page_index") == 0;
    }
    struct sample sample = {.shape = argv[6]};
    fill_columns(sample.columns);
    kith_error *error = write_sample(argv[1], &sample, strtoull(argv[3], NULL, 10), &options);
    if (error == NULL)
        return 0;
    char text[1024];
    fprintf(stderr, "writer_sample: %s\n", error_describe(error, text, sizeof text));
    error_free(error);
    return 1;
}

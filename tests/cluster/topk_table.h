/*
 * Random tables for tests of Top-K: keys k1, k2 and k3 of any type that can be sorted, with heavy duplicates, NULLs and
 * the edges of their types, in several files that differ in row groups, pages, statistics and columns. `id` is unique.
 */
#ifndef KITH_TESTS_CLUSTER_TOPK_TABLE_H
#define KITH_TESTS_CLUSTER_TOPK_TABLE_H

#include "columnar/samples.h"
#include "exec/queries.h"
#include "parquet/footer_edit.h"

enum { TOPK_KEYS = 3, TOPK_COLUMNS = TOPK_KEYS + 3, TOPK_POOL = 24, TOPK_TEXT_BYTES = 160, TOPK_MOST_FILES = 8 };

static const char *const topk_names[TOPK_COLUMNS] = {"id", "k1", "k2", "k3", "keep", "label"};

/* Those of sample_types that Parquet has, and widths and units that change how it stores them. */
static const struct data_type topk_types[] = {
    {.id = TYPE_BOOL},
    {.id = TYPE_INT8},
    {.id = TYPE_INT16},
    {.id = TYPE_INT32},
    {.id = TYPE_INT64},
    {.id = TYPE_UINT8},
    {.id = TYPE_UINT16},
    {.id = TYPE_UINT32},
    {.id = TYPE_UINT64},
    {.id = TYPE_FLOAT16},
    {.id = TYPE_FLOAT32},
    {.id = TYPE_FLOAT64},
    {.id = TYPE_DECIMAL64, .precision = 5, .scale = 2},
    {.id = TYPE_DECIMAL64, .precision = 18, .scale = 4},
    {.id = TYPE_DECIMAL128, .precision = 38, .scale = 0},
    {.id = TYPE_DATE32},
    {.id = TYPE_TIME32, .unit = UNIT_MILLISECOND},
    {.id = TYPE_TIME64, .unit = UNIT_MICROSECOND},
    {.id = TYPE_TIME64, .unit = UNIT_NANOSECOND},
    {.id = TYPE_TIMESTAMP, .unit = UNIT_MILLISECOND},
    {.id = TYPE_TIMESTAMP, .unit = UNIT_MICROSECOND, .timezone = "UTC"},
    {.id = TYPE_TIMESTAMP, .unit = UNIT_NANOSECOND},
    {.id = TYPE_TIMESTAMP, .unit = UNIT_NANOSECOND, .timezone = "+02:00"},
    {.id = TYPE_UTF8},
    {.id = TYPE_LARGE_UTF8},
    {.id = TYPE_UTF8_VIEW},
    {.id = TYPE_BINARY},
    {.id = TYPE_LARGE_BINARY},
    {.id = TYPE_BINARY_VIEW},
    {.id = TYPE_FIXED_SIZE_BINARY, .byte_width = 3},
};

/* How the values of a key are spread. */
struct topk_key {
    struct data_type type;
    size_t pool_size;
    struct scalar pool[TOPK_POOL]; /* ascending */
    char texts[TOPK_POOL][TOPK_TEXT_BYTES];
    unsigned nulls;     /* in 16 rows */
    bool follows_place; /* later rows have larger values, so that statistics tell files and row groups apart */
    bool rises_slowly;  /* small values are more frequent than large ones */
    unsigned lacking;   /* bit i: file i has no such column; never all files */
    unsigned required;  /* bit i: file i declares the column as having no NULLs, and has none */
};

struct topk_table {
    size_t file_count, file_rows;
    struct topk_key keys[TOPK_KEYS];
    struct batch *rows; /* all of them, by id, as a plain scan of the files gives them */
};

static inline void topk_table_reset(struct topk_table *table)
{
    batch_unref(table->rows);
}
DEFINE_VALUE_CLEANUP(topk_table_reset, struct topk_table)

static inline uint64_t topk_choice(uint64_t *random, uint64_t choices)
{
    return test_random(random) % choices;
}

static inline int64_t topk_days_part(uint64_t *random, const struct data_type *type)
{
    static const int64_t units[] = {1, 1000, 1000000, 1000000000};
    return (int64_t)topk_choice(random, 86400) * units[type->unit];
}

static inline void topk_long_text(uint64_t *random, struct scalar *value, char *text)
{
    enum { SHARED = 70 };
    char tail[SAMPLE_STRING_BYTES];
    size_t length = value->string.length;
    memcpy(tail, value->string.data, length);
    memset(text, 'p', SHARED);
    text[SHARED / 2] = topk_choice(random, 2) == 0 ? 'p' : 'q';
    memcpy(text + SHARED, tail, length);
    value->string = (struct str){text, SHARED + length};
}

static inline bool topk_is_nan(const struct scalar *value)
{
    return (value->type.id == TYPE_FLOAT32 && value->float32 != value->float32) ||
           (value->type.id == TYPE_FLOAT64 && value->float64 != value->float64);
}

/* Texts and bytes may be longer than what statistics keep of them. */
static inline struct scalar topk_value(uint64_t *random, const struct data_type *type, bool long_texts, char *text)
{
    struct scalar value;
    do
        value = sample_scalar(random, type, text);
    while (value.is_null || (topk_is_nan(&value) && topk_choice(random, 8) > 0));
    if (type->id == TYPE_TIME32 || type->id == TYPE_TIME64)
        value.int64 = topk_days_part(random, type);
    else if (type->id == TYPE_DECIMAL64 && type->precision < 10)
        value.int64 %= 100000;
    else if (type->id == TYPE_DECIMAL64)
        value.int64 %= 1000000000000000000;
    else if (type->id == TYPE_DECIMAL128)
        value.decimal %= (__int128)1000000000000000000 * 100000000000000000;
    else if (long_texts && type->id != TYPE_FIXED_SIZE_BINARY && (type_is_string(type->id) || type_is_binary(type->id)))
        topk_long_text(random, &value, text);
    return value;
}

static inline int topk_compare_values(const void *a, const void *b)
{
    return scalar_compare(a, b);
}

static inline struct data_type topk_type(uint64_t *random)
{
    static const enum type_id tricky[] = {TYPE_FLOAT32, TYPE_FLOAT64, TYPE_FLOAT64, TYPE_UTF8};
    if (topk_choice(random, 4) == 0)
        return type_of(tricky[topk_choice(random, ARRAY_SIZE(tricky))]);
    return topk_types[topk_choice(random, ARRAY_SIZE(topk_types))];
}

static inline void topk_make_key(uint64_t *random, size_t file_count, struct topk_key *key)
{
    static const size_t pool_sizes[] = {1, 2, 5, TOPK_POOL};
    static const unsigned nulls[] = {0, 0, 1, 8, 15};
    bool long_texts = topk_choice(random, 2) == 0;
    *key = (struct topk_key){.type = topk_type(random)};
    key->pool_size = pool_sizes[topk_choice(random, ARRAY_SIZE(pool_sizes))];
    key->nulls = nulls[topk_choice(random, ARRAY_SIZE(nulls))];
    key->follows_place = topk_choice(random, 2) == 0;
    key->rises_slowly = topk_choice(random, 2) == 0;
    for (size_t i = 0; i < key->pool_size; i++)
        key->pool[i] = topk_value(random, &key->type, long_texts, key->texts[i]);
    qsort(key->pool, key->pool_size, sizeof *key->pool, topk_compare_values);
    for (size_t file = 0; file < file_count; file++) {
        key->required |= (unsigned)(topk_choice(random, 3) == 0) << file;
        key->lacking |= (unsigned)(topk_choice(random, 8) == 0) << file;
    }
    key->lacking &= ~(1U << topk_choice(random, file_count));
}

static inline struct scalar topk_pick(uint64_t *random, const struct topk_table *table, size_t number, size_t file,
                                      size_t row)
{
    const struct topk_key *key = &table->keys[number];
    size_t rows = table->file_count * table->file_rows, place = file * table->file_rows + row;
    if ((key->required >> file & 1) == 0 && topk_choice(random, 16) < key->nulls)
        return scalar_null(&key->type);
    size_t at = topk_choice(random, key->pool_size);
    if (key->rises_slowly)
        at = topk_choice(random, at + 1);
    if (key->follows_place)
        at = MIN(key->pool_size * place / rows + topk_choice(random, 2), key->pool_size - 1);
    return key->pool[at];
}

static inline struct scalar topk_cell(uint64_t *random, const struct topk_table *table, size_t column, size_t file,
                                      size_t row, char *text, size_t size)
{
    size_t id = file * table->file_rows + row;
    if (column == 0)
        return (struct scalar){.type = type_of(TYPE_INT64), .int64 = (int64_t)id};
    if (column <= TOPK_KEYS)
        return topk_pick(random, table, column - 1, file, row);
    if (column == TOPK_KEYS + 1)
        return (struct scalar){.type = type_of(TYPE_INT32), .int64 = (int64_t)topk_choice(random, 10)};
    snprintf(text, size, "row %zu, whose label is read late", id);
    return (struct scalar){.type = type_of(TYPE_UTF8), .string = str_of(text)};
}

static inline struct array *topk_column(uint64_t *random, const struct topk_table *table, size_t column, size_t file)
{
    char text[64];
    struct array *array = NULL;
    struct scalar first = topk_cell(random, table, column, file, 0, text, sizeof text);
    _cleanup_(array_builder_free) struct array_builder *builder = NULL;
    assert_ok(array_builder_new(&first.type, &builder));
    for (size_t row = 0; row < table->file_rows; row++) {
        struct scalar value = topk_cell(random, table, column, file, row, text, sizeof text);
        assert_ok(array_builder_append(builder, &value));
    }
    assert_ok(array_builder_finish(builder, &array));
    return array;
}

static inline struct parquet_write_options topk_options(uint64_t *random)
{
    static const size_t row_groups[] = {7, 20, 50, 1000}, pages[] = {1, 5, 13, 1000};
    static const enum parquet_codec codecs[] = {PARQUET_UNCOMPRESSED, PARQUET_SNAPPY, PARQUET_ZSTD};
    return (struct parquet_write_options){
        .codec = codecs[topk_choice(random, ARRAY_SIZE(codecs))],
        .row_group_rows = row_groups[topk_choice(random, ARRAY_SIZE(row_groups))],
        .page_rows = pages[topk_choice(random, ARRAY_SIZE(pages))],
        .no_dictionary = topk_choice(random, 2) == 0,
        .no_statistics = topk_choice(random, 8) == 0,
        .no_page_index = topk_choice(random, 4) == 0,
    };
}

/* As other writers would have left the file. */
static inline void topk_edit_file(uint64_t *random, const char *path)
{
    const struct footer_edit edit = {
        .no_null_counts = topk_choice(random, 2) == 0,
        .no_min = topk_choice(random, 6) == 0,
        .no_max = topk_choice(random, 6) == 0,
        .text_bytes = topk_choice(random, 2) == 0 ? 1 + topk_choice(random, 4) : 0,
        .no_exactness = topk_choice(random, 2) == 0,
        .deprecated = topk_choice(random, 4) == 0,
    };
    edit_footer(path, &edit);
}

static inline void topk_write_file(uint64_t *random, const struct topk_table *table, size_t file)
{
    struct field fields[TOPK_COLUMNS] = {0};
    struct array *columns[TOPK_COLUMNS];
    _cleanup_(schema_unref) struct schema *schema = NULL;
    _cleanup_(batch_unref) struct batch *batch = NULL;
    const struct parquet_write_options options = topk_options(random);
    size_t count = 0;
    char path[32];
    for (size_t i = 0; i < TOPK_COLUMNS; i++) {
        bool is_key = i > 0 && i <= TOPK_KEYS;
        if (is_key && (table->keys[i - 1].lacking >> file & 1) != 0)
            continue;
        columns[count] = topk_column(random, table, i, file);
        fields[count] = (struct field){.name = (char *)(uintptr_t)topk_names[i],
                                       .type = columns[count]->type,
                                       .nullable = is_key && (table->keys[i - 1].required >> file & 1) == 0};
        count++;
    }
    assert_ok(schema_new(fields, count, &schema));
    assert_ok(batch_new(schema, columns, table->file_rows, &batch));
    for (size_t i = 0; i < count; i++)
        array_unref(columns[i]);
    snprintf(path, sizeof path, "t/%zu.parquet", file);
    write_parquet(path, batch, &options);
    if (topk_choice(random, 3) == 0)
        topk_edit_file(random, path);
}

static inline kith_error *topk_keep_rows(struct batch *batch, struct batch **all)
{
    struct batch *both[2] = {*all, batch}, *joined = NULL;
    _cleanup_(batch_unref) struct batch *compact = NULL;
    TRY(batch_compact(batch, &compact));
    if (*all == NULL) {
        *all = TAKE(compact);
        return NULL;
    }
    both[1] = compact;
    TRY(batch_concatenate(batch->schema, both, 2, &joined));
    batch_unref(*all);
    *all = joined;
    return NULL;
}

/* Writes the files of folder t, in place of those there were. */
static inline void topk_table_write(uint64_t *random, struct topk_table *table)
{
    static const size_t rows[] = {1, 12, 60, 150};
    for (size_t file = 0; file < TOPK_MOST_FILES; file++) {
        char path[32];
        snprintf(path, sizeof path, "t/%zu.parquet", file);
        unlink(path);
    }
    *table = (struct topk_table){.file_count = 1 + topk_choice(random, TOPK_MOST_FILES),
                                 .file_rows = rows[topk_choice(random, ARRAY_SIZE(rows))]};
    for (size_t i = 0; i < TOPK_KEYS; i++)
        topk_make_key(random, table->file_count, &table->keys[i]);
    for (size_t file = 0; file < table->file_count; file++)
        topk_write_file(random, table, file);
}

#endif

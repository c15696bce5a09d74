#include "testing.h"

#include "base/alloc.h"
#include "columnar/array.h"
#include "parquet/page_builder.h"

enum { ROWS = 8000, PAGE_ROWS = 4096, VALUE_BYTES = 24, ENTRIES = 40 };

/* What a row has to come back as: the bytes of the Arrow value, or of the string. */
struct row {
    bool null;
    size_t length;
    uint8_t bytes[VALUE_BYTES];
};

/* A kind of column: its types, the encodings its pages may have, and how values are made and written. */
struct column_kind {
    enum parquet_type physical;
    struct data_type type;
    int32_t type_length;
    bool text;
    enum parquet_encoding encodings[4];
    size_t encoding_count;
};

static const struct column_kind kinds[] = {
    {PARQUET_INT32,
     {.id = TYPE_INT32},
     0,
     false,
     {PARQUET_PLAIN, PARQUET_DELTA_BINARY_PACKED, PARQUET_BYTE_STREAM_SPLIT, PARQUET_RLE_DICTIONARY},
     4},
    {PARQUET_INT32,
     {.id = TYPE_INT8},
     0,
     false,
     {PARQUET_PLAIN, PARQUET_DELTA_BINARY_PACKED, PARQUET_BYTE_STREAM_SPLIT, PARQUET_RLE_DICTIONARY},
     4},
    {PARQUET_INT64,
     {.id = TYPE_TIMESTAMP, .unit = UNIT_MICROSECOND},
     0,
     false,
     {PARQUET_PLAIN, PARQUET_DELTA_BINARY_PACKED, PARQUET_BYTE_STREAM_SPLIT, PARQUET_RLE_DICTIONARY},
     4},
    {PARQUET_INT64,
     {.id = TYPE_DECIMAL128, .precision = 18},
     0,
     false,
     {PARQUET_PLAIN, PARQUET_DELTA_BINARY_PACKED, PARQUET_BYTE_STREAM_SPLIT, PARQUET_RLE_DICTIONARY},
     4},
    {PARQUET_BYTE_ARRAY,
     {.id = TYPE_UTF8},
     0,
     true,
     {PARQUET_PLAIN, PARQUET_DELTA_LENGTH_BYTE_ARRAY, PARQUET_DELTA_BYTE_ARRAY, PARQUET_RLE_DICTIONARY},
     4},
    {PARQUET_FIXED_LEN_BYTE_ARRAY,
     {.id = TYPE_FIXED_SIZE_BINARY, .byte_width = 5},
     5,
     false,
     {PARQUET_PLAIN, PARQUET_DELTA_BYTE_ARRAY, PARQUET_BYTE_STREAM_SPLIT, PARQUET_RLE_DICTIONARY},
     4},
    {PARQUET_BOOLEAN, {.id = TYPE_BOOL}, 0, false, {PARQUET_PLAIN, PARQUET_RLE}, 2},
};

/* The value as it is stored, from the value as it is read: the numbers here are small and not negative. */
static struct str physical(const struct column_kind *kind, const struct row *row)
{
    size_t width = kind->physical == PARQUET_INT32 ? 4 : kind->physical == PARQUET_INT64 ? 8 : row->length;
    return (struct str){(const char *)row->bytes, width};
}

static void make_value(const struct column_kind *kind, uint64_t *seed, struct row *out)
{
    uint64_t number = test_random(seed) % 100;
    *out = (struct row){0};
    if (kind->text) {
        out->length = test_random(seed) % 20;
        memset(out->bytes, (int)('a' + number % 5), out->length);
        return;
    }
    out->length = kind->physical == PARQUET_BOOLEAN ? 1 : type_width(&kind->type);
    out->bytes[0] = (uint8_t)(kind->physical == PARQUET_BOOLEAN ? number % 2 : number);
}

static void encode_plain(const struct column_kind *kind, const struct str *values, size_t count, struct strbuf *out)
{
    for (size_t i = 0; i < count; i++) {
        if (kind->text)
            assert_ok(strbuf_append(out, &(uint32_t){(uint32_t)values[i].length}, 4));
        assert_ok(strbuf_append(out, values[i].data, values[i].length));
    }
}

static void encode_booleans(enum parquet_encoding encoding, const struct str *values, size_t count, struct strbuf *out)
{
    uint64_t bits[PAGE_ROWS];
    _cleanup_(strbuf_reset) struct strbuf runs = {0};
    for (size_t i = 0; i < count; i++)
        bits[i] = (uint64_t)values[i].data[0];
    if (encoding == PARQUET_PLAIN) {
        put_packed(out, bits, count, 1);
        return;
    }
    put_rle(&runs, bits, count, 1);
    assert_ok(strbuf_append(out, &(uint32_t){(uint32_t)runs.length}, 4));
    assert_ok(strbuf_append(out, runs.data, runs.length));
}

static void encode(const struct column_kind *kind, enum parquet_encoding encoding, const struct str *values,
                   size_t count, struct strbuf *out)
{
    if (kind->physical == PARQUET_BOOLEAN) {
        encode_booleans(encoding, values, count, out);
    } else if (encoding == PARQUET_DELTA_BINARY_PACKED) {
        int64_t numbers[PAGE_ROWS] = {0};
        for (size_t i = 0; i < count; i++)
            memcpy(&numbers[i], values[i].data, values[i].length);
        put_delta(out, numbers, count, 128, 4, kind->physical == PARQUET_INT32 ? 32 : 64);
    } else if (encoding == PARQUET_DELTA_LENGTH_BYTE_ARRAY) {
        put_delta_length(out, values, count);
    } else if (encoding == PARQUET_DELTA_BYTE_ARRAY) {
        put_delta_strings(out, values, count);
    } else if (encoding == PARQUET_BYTE_STREAM_SPLIT) {
        for (size_t k = 0; count > 0 && k < values[0].length; k++)
            for (size_t i = 0; i < count; i++)
                put_byte(out, (uint8_t)values[i].data[k]);
    } else {
        encode_plain(kind, values, count, out);
    }
}

/* Indices of the entries that the values were copied from, behind their width. */
static void encode_indices(const uint64_t *entries, size_t count, struct strbuf *out)
{
    put_byte(out, bits_needed(ENTRIES - 1));
    put_rle(out, entries, count, bits_needed(ENTRIES - 1));
}

struct table {
    const struct column_kind *kind;
    struct chunk_builder builder;
    struct row dictionary[ENTRIES];
    struct row rows[ROWS + PAGE_ROWS];
    size_t count;
};

static void add_dictionary(struct table *table, uint64_t *seed)
{
    struct str values[ENTRIES];
    _cleanup_(strbuf_reset) struct strbuf bytes = {0};
    for (size_t i = 0; i < ENTRIES; i++) {
        make_value(table->kind, seed, &table->dictionary[i]);
        values[i] = physical(table->kind, &table->dictionary[i]);
    }
    encode_plain(table->kind, values, ENTRIES, &bytes);
    const struct page_options page = {
        .kind = PAGE_DICTIONARY, .encoding = PARQUET_PLAIN, .rows = ENTRIES, .values = &bytes};
    chunk_add_page(&table->builder, &page, NULL);
}

static void add_page(struct table *table, enum page_kind version, bool dictionary_only, uint64_t *seed)
{
    const struct column_kind *kind = table->kind;
    size_t count = test_random(seed) % (test_random(seed) % 4 == 0 ? PAGE_ROWS : 700), present_count = 0;
    unsigned null_of = (unsigned[]){1000000, 2, 10, 1}[test_random(seed) % 4]; /* every n-th is NULL, roughly */
    enum parquet_encoding encoding = kind->encodings[test_random(seed) % kind->encoding_count];
    if (dictionary_only)
        encoding = PARQUET_RLE_DICTIONARY;
    bool present[PAGE_ROWS], optional = table->builder.column.max_definition_level > 0;
    struct str values[PAGE_ROWS];
    uint64_t entries[PAGE_ROWS];
    for (size_t i = 0; i < count; i++) {
        struct row *row = &table->rows[table->count + i];
        uint64_t entry = test_random(seed) % (null_of == 10 ? 1 : ENTRIES); /* sometimes long runs */
        if (encoding == PARQUET_RLE_DICTIONARY)
            *row = table->dictionary[entry];
        else
            make_value(kind, seed, row);
        row->null = optional && test_random(seed) % null_of == 0;
        present[i] = !row->null;
        if (row->null)
            continue;
        entries[present_count] = entry;
        values[present_count++] = physical(kind, row);
    }
    _cleanup_(strbuf_reset) struct strbuf bytes = {0};
    if (encoding == PARQUET_RLE_DICTIONARY)
        encode_indices(entries, present_count, &bytes);
    else
        encode(kind, encoding, values, present_count, &bytes);
    const struct page_options page = {
        .kind = version, .encoding = encoding, .rows = count, .present = optional ? present : NULL, .values = &bytes};
    if (count > 0) /* a page index has no empty pages */
        chunk_add_page(&table->builder, &page, NULL);
    table->count += count;
}

static struct table *make_table(const struct column_kind *kind, bool optional, enum parquet_codec codec,
                                enum page_kind version, bool dictionary_only, uint64_t *seed)
{
    struct table *table = calloc(1, sizeof *table);
    assert_non_null(table);
    table->kind = kind;
    table->builder.chunk.codec = codec;
    table->builder.column = (struct parquet_column){.path = "c",
                                                    .physical = kind->physical,
                                                    .type_length = kind->type_length,
                                                    .type = kind->type,
                                                    .max_definition_level = optional,
                                                    .nullable = optional,
                                                    .readable = true};
    if (kind->physical != PARQUET_BOOLEAN)
        add_dictionary(table, seed);
    while (table->count < ROWS)
        add_page(table, version, dictionary_only, seed);
    chunk_finish(&table->builder);
    return table;
}

static void free_table(struct table *table)
{
    chunk_builder_reset(&table->builder);
    free(table);
}
DEFINE_CLEANUP(free_table, struct table)

static void check_row(const struct table *table, const struct array *array, size_t i, size_t row)
{
    const struct row *expected = &table->rows[row];
    assert_int_equal(array_is_null(array, i), expected->null);
    if (expected->null)
        return;
    if (table->kind->text) {
        assert_true(str_equal(array_string(array, i), (struct str){(const char *)expected->bytes, expected->length}));
    } else if (table->kind->physical == PARQUET_BOOLEAN) {
        assert_int_equal(bitmap_get(array->values->data, array->offset + i), expected->bytes[0]);
    } else {
        const uint8_t *values = array_values(array);
        assert_memory_equal(values + i * expected->length, expected->bytes, expected->length);
    }
}

static struct selection *random_selection(size_t rows, uint64_t *seed)
{
    struct selection *selection;
    unsigned one_of = (unsigned[]){1, 2, 20, 500}[test_random(seed) % 4];
    assert_ok(selection_new(rows, &selection));
    for (uint32_t i = 0; i < rows; i++)
        if (test_random(seed) % one_of == 0)
            selection->rows[selection->count++] = i;
    return selection;
}

/* Reads, skips and selects at random until the rows are used up. */
static void check_reads(const struct table *table, bool with_index, bool keep_dictionary, size_t most, uint64_t *seed)
{
    struct chunk_builder *builder = (struct chunk_builder *)(uintptr_t)&table->builder;
    const struct parquet_read_options options = {.keep_dictionary = keep_dictionary};
    struct parquet_read_metrics metrics = {0};
    _cleanup_(parquet_column_reader_free) struct parquet_column_reader *reader = NULL;
    assert_ok(parquet_column_reader_new(&builder->file, 0, 0, with_index ? &builder->index : NULL, &options, &metrics,
                                        &reader));
    for (size_t at = 0; at < table->count;) {
        size_t rows = MIN(1 + test_random(seed) % most, table->count - at);
        if (test_random(seed) % 4 == 0) {
            parquet_column_reader_skip(reader, rows);
        } else {
            _cleanup_(array_unref) struct array *array = NULL;
            _cleanup_(selection_unref) struct selection *selection = NULL;
            if (test_random(seed) % 2 == 0)
                selection = random_selection(rows, seed);
            assert_ok(parquet_column_reader_read(reader, rows, selection, &array));
            assert_ok(array_validate(array));
            assert_int_equal(array->length, selection != NULL ? selection->count : rows);
            for (size_t i = 0; i < array->length; i++)
                check_row(table, array, i, at + (selection != NULL ? selection->rows[i] : i));
        }
        at += rows;
    }
}

static void columns_of_every_kind_come_back_in_reads_skips_and_selections(void **state)
{
    static const enum parquet_codec codecs[] = {PARQUET_UNCOMPRESSED, PARQUET_SNAPPY, PARQUET_ZSTD};
    uint64_t seed = 11;
    for (size_t k = 0; k < ARRAY_SIZE(kinds); k++) {
        for (unsigned variant = 0; variant < 8; variant++) {
            _cleanup_(free_table) struct table *table =
                make_table(&kinds[k], variant & 1, codecs[variant % 3], variant & 2 ? PAGE_DATA_V2 : PAGE_DATA,
                           (variant & 4) && kinds[k].physical != PARQUET_BOOLEAN, &seed);
            for (size_t most = 1; most <= 8192; most = most * 8 + 1)
                for (unsigned way = 0; way < 4; way++)
                    check_reads(table, way & 1, way & 2, most, &seed);
        }
    }
}

static const struct column_kind *const int32_kind = &kinds[0];
static const struct column_kind *const text_kind = &kinds[4];

static void strings_keep_their_dictionary_until_a_page_has_none(void **state)
{
    uint64_t seed = 12;
    const struct parquet_read_options options = {.keep_dictionary = true};
    struct parquet_read_metrics metrics = {0};
    _cleanup_(free_table) struct table *table =
        make_table(text_kind, true, PARQUET_UNCOMPRESSED, PAGE_DATA, true, &seed);
    _cleanup_(parquet_column_reader_free) struct parquet_column_reader *reader = NULL;
    _cleanup_(array_unref) struct array *first = NULL, *second = NULL;
    assert_ok(parquet_column_reader_new(&table->builder.file, 0, 0, NULL, &options, &metrics, &reader));
    assert_ok(parquet_column_reader_read(reader, 1000, NULL, &first));
    assert_ok(parquet_column_reader_read(reader, 1000, NULL, &second));
    assert_int_equal(first->type.index, TYPE_INT32);
    assert_int_equal(first->dictionary->length, ENTRIES);
    assert_ptr_equal(first->dictionary, second->dictionary);
}

static void pages_without_wanted_rows_are_not_decoded_and_with_an_index_not_read(void **state)
{
    uint64_t seed = 13;
    _cleanup_(free_table) struct table *table =
        make_table(int32_kind, false, PARQUET_UNCOMPRESSED, PAGE_DATA, false, &seed);
    const struct parquet_page_index *index = &table->builder.index;
    size_t last = index->page_count - 1;
    for (unsigned with_index = 0; with_index < 2; with_index++) {
        const struct parquet_read_options options = {0};
        struct parquet_read_metrics metrics = {0};
        _cleanup_(parquet_column_reader_free) struct parquet_column_reader *reader = NULL;
        _cleanup_(array_unref) struct array *array = NULL;
        assert_ok(parquet_column_reader_new(&table->builder.file, 0, 0, with_index ? index : NULL, &options, &metrics,
                                            &reader));
        parquet_column_reader_skip(reader, (size_t)index->pages[last].first_row);
        assert_int_equal(metrics.bytes_read, 0);
        assert_ok(parquet_column_reader_read(reader, 1, NULL, &array));
        check_row(table, array, 0, (size_t)index->pages[last].first_row);
        assert_int_equal(metrics.pages_read, 1);
        assert_int_equal(metrics.pages_skipped, last);
        if (with_index) /* the page, and perhaps the dictionary before the first one */
            assert_true(metrics.bytes_read <= index->pages[last].compressed_bytes + index->pages[0].offset);
    }
}

/* Replaces the bytes of a chunk's only page, or its counts, and expects an error that says where it is. */
static void expect_corrupt(struct chunk_builder *builder, size_t rows, const char *part)
{
    const struct parquet_read_options options = {.verify_checksums = true};
    struct parquet_read_metrics metrics = {0};
    _cleanup_(parquet_column_reader_free) struct parquet_column_reader *reader = NULL;
    _cleanup_(array_unref) struct array *array = NULL;
    chunk_finish(builder);
    kith_error *error = parquet_column_reader_new(&builder->file, 0, 0, NULL, &options, &metrics, &reader);
    if (error == NULL)
        error = parquet_column_reader_read(reader, rows, NULL, &array);
    assert_non_null(error);
    assert_non_null(strstr(kith_error_message(error), "test.parquet: column \"c\", row group 0"));
    assert_fails(error, KITH_ERROR_CORRUPT, part);
}

static void start_column(struct chunk_builder *builder, enum parquet_type physical, enum type_id type, bool optional)
{
    *builder = (struct chunk_builder){.column = {.path = "c",
                                                 .physical = physical,
                                                 .type = {.id = type},
                                                 .max_definition_level = optional,
                                                 .readable = true}};
}

static void counts_that_do_not_fit_are_refused(void **state)
{
    _cleanup_(chunk_builder_reset) struct chunk_builder builder;
    _cleanup_(strbuf_reset) struct strbuf values = {0};
    start_column(&builder, PARQUET_INT32, TYPE_INT32, false);
    assert_ok(strbuf_append_fill(&values, 7, 40));
    chunk_add_page(&builder, &(struct page_options){.kind = PAGE_DATA, .rows = 10, .values = &values}, NULL);

    builder.row_group.row_count = builder.chunk.value_count = 11;
    expect_corrupt(&builder, 11, "the pages end after 10 of 11 rows");
    builder.row_group.row_count = builder.chunk.value_count = 9;
    expect_corrupt(&builder, 9, "a page of 10 rows where the row group has 9 left");
    builder.row_group.row_count = 10;
    expect_corrupt(&builder, 10, "9 values of a column that is not nested in 10 rows");
    builder.chunk.value_count = 10;
    builder.bytes.length -= 1;
    expect_corrupt(&builder, 10, "are left of the column chunk");
}

static void a_page_with_too_few_values_is_refused(void **state)
{
    _cleanup_(chunk_builder_reset) struct chunk_builder builder;
    _cleanup_(strbuf_reset) struct strbuf values = {0};
    const bool present[10] = {true, true, true, false, true, true, true, true, true, true};
    start_column(&builder, PARQUET_INT32, TYPE_INT32, true);
    assert_ok(strbuf_append_fill(&values, 7, 35));
    chunk_add_page(&builder, &(struct page_options){.rows = 10, .present = present, .values = &values}, NULL);
    expect_corrupt(&builder, 10, "page at byte 0: plain values end early: 8 of 9 are there");
}

static void an_index_past_the_dictionary_is_refused(void **state)
{
    for (size_t entries = 0; entries < 2; entries++) {
        _cleanup_(chunk_builder_reset) struct chunk_builder builder;
        _cleanup_(strbuf_reset) struct strbuf dictionary = {0}, indices = {0};
        start_column(&builder, PARQUET_INT32, TYPE_INT32, false);
        assert_ok(strbuf_append_fill(&dictionary, 7, entries * 4));
        chunk_add_page(&builder,
                       &(struct page_options){.kind = PAGE_DICTIONARY, .rows = entries, .values = &dictionary}, NULL);
        encode_indices((const uint64_t[]){0, 1}, 2, &indices);
        chunk_add_page(&builder,
                       &(struct page_options){.encoding = PARQUET_RLE_DICTIONARY, .rows = 2, .values = &indices}, NULL);
        expect_corrupt(&builder, 2, entries == 0 ? "dictionary index 0; the dictionary has 0" : "dictionary index 1;");
    }
}

static void a_dictionary_that_is_not_there_is_missed(void **state)
{
    _cleanup_(chunk_builder_reset) struct chunk_builder builder;
    _cleanup_(strbuf_reset) struct strbuf indices = {0};
    start_column(&builder, PARQUET_INT32, TYPE_INT32, false);
    encode_indices((const uint64_t[]){0, 1}, 2, &indices);
    chunk_add_page(&builder, &(struct page_options){.encoding = PARQUET_RLE_DICTIONARY, .rows = 2, .values = &indices},
                   NULL);
    expect_corrupt(&builder, 2, "without a dictionary");
}

/* pyarrow writes one, empty, for columns of its null type. */
static void the_dictionary_of_a_column_of_nulls_is_passed_over(void **state)
{
    const struct parquet_read_options options = {0};
    const bool present[2] = {false, false};
    struct parquet_read_metrics metrics = {0};
    _cleanup_(chunk_builder_reset) struct chunk_builder builder;
    _cleanup_(strbuf_reset) struct strbuf nothing = {0};
    _cleanup_(parquet_column_reader_free) struct parquet_column_reader *reader = NULL;
    _cleanup_(array_unref) struct array *array = NULL;
    start_column(&builder, PARQUET_INT32, TYPE_NULL, true);
    chunk_add_page(&builder, &(struct page_options){.kind = PAGE_DICTIONARY, .values = &nothing}, NULL);
    chunk_add_page(
        &builder,
        &(struct page_options){.encoding = PARQUET_RLE_DICTIONARY, .rows = 2, .present = present, .values = &nothing},
        NULL);
    chunk_finish(&builder);
    assert_ok(parquet_column_reader_new(&builder.file, 0, 0, NULL, &options, &metrics, &reader));
    assert_ok(parquet_column_reader_read(reader, 2, NULL, &array));
    assert_int_equal(array_null_count(array), 2);
}

static void text_that_is_not_utf8_is_refused(void **state)
{
    for (unsigned dictionary = 0; dictionary < 2; dictionary++) {
        _cleanup_(chunk_builder_reset) struct chunk_builder builder;
        _cleanup_(strbuf_reset) struct strbuf values = {0}, indices = {0};
        start_column(&builder, PARQUET_BYTE_ARRAY, TYPE_UTF8, false);
        /* "ä" cut in two: together they would be well-formed */
        assert_ok(strbuf_append(&values, "\x01\0\0\0\xc3\x01\0\0\0\xa4", 10));
        chunk_add_page(
            &builder,
            &(struct page_options){.kind = dictionary ? PAGE_DICTIONARY : PAGE_DATA, .rows = 2, .values = &values},
            NULL);
        encode_indices((const uint64_t[]){0, 1}, 2, &indices);
        if (dictionary)
            chunk_add_page(&builder,
                           &(struct page_options){.encoding = PARQUET_RLE_DICTIONARY, .rows = 2, .values = &indices},
                           NULL);
        expect_corrupt(&builder, 2, "not UTF-8");
    }
}

static void a_checksum_is_checked_when_that_is_asked_for(void **state)
{
    _cleanup_(chunk_builder_reset) struct chunk_builder builder;
    _cleanup_(strbuf_reset) struct strbuf values = {0};
    start_column(&builder, PARQUET_INT32, TYPE_INT32, false);
    assert_ok(strbuf_append_fill(&values, 7, 8));
    chunk_add_page(&builder, &(struct page_options){.rows = 2, .values = &values}, &(uint32_t){0x12345678});
    expect_corrupt(&builder, 2, "checksum is 12345678");
}

static void pages_cut_anywhere_are_refused(void **state)
{
    uint64_t seed = 14;
    for (size_t k = 0; k < ARRAY_SIZE(kinds); k++) {
        _cleanup_(free_table) struct table *table =
            make_table(&kinds[k], true, PARQUET_UNCOMPRESSED, PAGE_DATA, false, &seed);
        struct strbuf whole = table->builder.bytes;
        for (size_t cut = 0; cut < whole.length; cut += 1 + whole.length / 300) {
            table->builder.bytes = (struct strbuf){
                .data = (char *)exact_copy(&(struct strbuf){.data = whole.data, .length = cut}), .length = cut};
            expect_corrupt(&table->builder, table->count, "");
            strbuf_reset(&table->builder.bytes);
        }
        table->builder.bytes = whole;
    }
}

/* Any byte may be damaged: whatever comes of it, it is an error or an array that holds together. */
static void damaged_bytes_never_give_a_broken_array(void **state)
{
    uint64_t seed = 15;
    for (size_t k = 0; k < ARRAY_SIZE(kinds) * 2; k++) {
        _cleanup_(free_table) struct table *table =
            make_table(&kinds[k / 2], k % 2, PARQUET_UNCOMPRESSED, k % 2 ? PAGE_DATA : PAGE_DATA_V2, false, &seed);
        for (int round = 0; round < 300; round++) {
            const struct parquet_read_options options = {.keep_dictionary = round % 2};
            struct parquet_read_metrics metrics = {0};
            _cleanup_(parquet_column_reader_free) struct parquet_column_reader *reader = NULL;
            _cleanup_(array_unref) struct array *array = NULL;
            char *byte = &table->builder.bytes.data[test_random(&seed) % table->builder.bytes.length], before = *byte;
            *byte = (char)test_random(&seed);
            assert_ok(parquet_column_reader_new(
                &table->builder.file, 0, 0, round % 4 < 2 ? &table->builder.index : NULL, &options, &metrics, &reader));
            kith_error *error = parquet_column_reader_read(reader, table->count, NULL, &array);
            if (error == NULL)
                assert_ok(array_validate(array));
            else
                assert_fails(parquet_column_reader_read(reader, 0, NULL, &array), KITH_ERROR_INTERNAL,
                             "after an error");
            error_free(error);
            *byte = before;
        }
    }
}

static void running_out_of_memory_is_an_error_and_leaks_nothing(void **state)
{
    uint64_t seed = 16;
    for (size_t k = 0; k < ARRAY_SIZE(kinds); k++) {
        _cleanup_(free_table) struct table *table = make_table(&kinds[k], true, PARQUET_ZSTD, PAGE_DATA, false, &seed);
        bool failed = true;
        for (size_t n = 1; failed; n++) {
            const struct parquet_read_options options = {.keep_dictionary = true};
            struct parquet_read_metrics metrics = {0};
            _cleanup_(parquet_column_reader_free) struct parquet_column_reader *reader = NULL;
            _cleanup_(array_unref) struct array *array = NULL;
            alloc_fail_after(n);
            kith_error *error =
                parquet_column_reader_new(&table->builder.file, 0, 0, NULL, &options, &metrics, &reader);
            if (error == NULL)
                error = parquet_column_reader_read(reader, table->count, NULL, &array);
            alloc_fail_after(0);
            failed = error != NULL;
            if (failed)
                assert_int_equal(kith_error_code(error), KITH_ERROR_OUT_OF_MEMORY);
            error_free(error);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_of_every_kind_come_back_in_reads_skips_and_selections),
        cmocka_unit_test(strings_keep_their_dictionary_until_a_page_has_none),
        cmocka_unit_test(pages_without_wanted_rows_are_not_decoded_and_with_an_index_not_read),
        cmocka_unit_test(counts_that_do_not_fit_are_refused),
        cmocka_unit_test(a_page_with_too_few_values_is_refused),
        cmocka_unit_test(an_index_past_the_dictionary_is_refused),
        cmocka_unit_test(a_dictionary_that_is_not_there_is_missed),
        cmocka_unit_test(the_dictionary_of_a_column_of_nulls_is_passed_over),
        cmocka_unit_test(text_that_is_not_utf8_is_refused),
        cmocka_unit_test(a_checksum_is_checked_when_that_is_asked_for),
        cmocka_unit_test(pages_cut_anywhere_are_refused),
        cmocka_unit_test(damaged_bytes_never_give_a_broken_array),
        cmocka_unit_test(running_out_of_memory_is_an_error_and_leaks_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * Texts of a megabyte each, in any encoding: copying and checking them is charged by the chunk, and what is not UTF-8
 * is found across chunks as within one. Pages of a million rows are passed over by the chunk, too.
 */
#include "testing.h"

#include "parquet/page_builder.h"
#include "runtime/chunks.h"
#include "runtime/coop.h"

enum { TEXTS = 24, TEXT_BYTES = 1024 * 1024, CHUNKS = TEXTS * TEXT_BYTES / COOP_CHUNK_BYTES / 2 };

struct reading {
    struct chunk_builder builder;
    size_t rows, skip;
    const char *text; /* of the first row; NULL = not text */
    size_t length;
};

static kith_error *read_column(void *argument)
{
    struct reading *reading = argument;
    struct parquet_read_metrics metrics = {0};
    const struct parquet_read_options options = {0};
    _cleanup_(parquet_column_reader_free) struct parquet_column_reader *reader = NULL;
    _cleanup_(array_unref) struct array *array = NULL;
    TRY(parquet_column_reader_new(&reading->builder.file, 0, 0, NULL, &options, &metrics, &reader));
    parquet_column_reader_skip(reader, reading->skip);
    TRY(parquet_column_reader_read(reader, reading->rows, NULL, &array));
    for (size_t i = 0; reading->text != NULL && i < reading->rows; i++) {
        struct str text = array_string(array, i);
        EXPECT(text.length == reading->length && memcmp(text.data, reading->text, text.length) == 0);
    }
    return NULL;
}

static void start(struct reading *reading, enum parquet_type physical, enum type_id type)
{
    *reading = (struct reading){0};
    reading->builder.chunk.codec = PARQUET_UNCOMPRESSED;
    reading->builder.column =
        (struct parquet_column){.path = "c", .physical = physical, .type = {.id = type}, .readable = true};
}

static void put_plain(struct strbuf *out, struct str value, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        assert_ok(strbuf_append(out, &(uint32_t){(uint32_t)value.length}, 4));
        assert_ok(strbuf_append(out, value.data, value.length));
    }
}

/* A page of TEXTS times the same text, which the dictionary has once. */
static void put_texts(struct reading *reading, enum parquet_encoding encoding, struct str text)
{
    _cleanup_(strbuf_reset) struct strbuf values = {0}, entries = {0};
    struct str texts[TEXTS];
    uint64_t indices[TEXTS] = {0};
    start(reading, PARQUET_BYTE_ARRAY, TYPE_UTF8);
    reading->rows = TEXTS;
    reading->text = text.data;
    reading->length = text.length;
    for (size_t i = 0; i < TEXTS; i++)
        texts[i] = text;
    if (encoding == PARQUET_PLAIN)
        put_plain(&values, text, TEXTS);
    else if (encoding == PARQUET_DELTA_LENGTH_BYTE_ARRAY)
        put_delta_length(&values, texts, TEXTS);
    else if (encoding == PARQUET_DELTA_BYTE_ARRAY)
        put_delta_strings(&values, texts, TEXTS);
    if (encoding == PARQUET_RLE_DICTIONARY) {
        put_plain(&entries, text, 1);
        chunk_add_page(
            &reading->builder,
            &(struct page_options){.kind = PAGE_DICTIONARY, .encoding = PARQUET_PLAIN, .rows = 1, .values = &entries},
            NULL);
        put_byte(&values, 1);
        put_rle(&values, indices, TEXTS, 1);
    }
    chunk_add_page(&reading->builder,
                   &(struct page_options){.kind = PAGE_DATA, .encoding = encoding, .rows = TEXTS, .values = &values},
                   NULL);
    chunk_finish(&reading->builder);
}

static const enum parquet_encoding encodings[] = {PARQUET_PLAIN, PARQUET_DELTA_LENGTH_BYTE_ARRAY,
                                                  PARQUET_DELTA_BYTE_ARRAY, PARQUET_RLE_DICTIONARY};

/* Characters of three bytes, so that no chunk ends where one does. */
static char *make_text(void)
{
    char *text = malloc(TEXT_BYTES);
    assert_non_null(text);
    for (size_t i = 0; i + 1 < TEXT_BYTES; i += 3)
        memcpy(text + i, "\xe2\x82\xac", 3);
    text[TEXT_BYTES - 1] = 'x';
    return text;
}

static void huge_texts_are_copied_and_checked_in_chunks(void **state)
{
    _cleanup_free_ char *text = make_text();
    for (size_t i = 0; i < ARRAY_SIZE(encodings); i++) {
        struct reading reading;
        put_texts(&reading, encodings[i], (struct str){text, TEXT_BYTES});
        check_chunks(read_column, &reading, CHUNKS);
        chunk_builder_reset(&reading.builder);
    }
}

static void a_huge_text_that_is_not_utf8_is_refused_wherever_it_is_wrong(void **state)
{
    _cleanup_free_ char *text = make_text();
    for (size_t i = 0; i < ARRAY_SIZE(encodings); i++) {
        for (size_t at = COOP_CHUNK_BYTES - 3; at < COOP_CHUNK_BYTES + 3; at++) {
            struct reading reading;
            char right = text[at];
            text[at] = (char)0xff;
            put_texts(&reading, encodings[i], (struct str){text, TEXT_BYTES});
            assert_fails(read_column(&reading), KITH_ERROR_CORRUPT, "not UTF-8");
            chunk_builder_reset(&reading.builder);
            text[at] = right;
        }
    }
}

static void rows_of_one_page_are_passed_over_and_read_in_chunks(void **state)
{
    enum { ROWS = 2000000, ROWS_A_CHUNK = 65536 };
    for (int skipping = 0; skipping < 2; skipping++) {
        struct reading reading;
        _cleanup_(strbuf_reset) struct strbuf values = {0};
        start(&reading, PARQUET_INT32, TYPE_INT32);
        for (int32_t i = 0; i < ROWS; i++)
            assert_ok(strbuf_append(&values, &i, sizeof i));
        chunk_add_page(
            &reading.builder,
            &(struct page_options){.kind = PAGE_DATA, .encoding = PARQUET_PLAIN, .rows = ROWS, .values = &values},
            NULL);
        chunk_finish(&reading.builder);
        reading.skip = skipping ? ROWS - 1 : 0;
        reading.rows = ROWS - reading.skip;
        check_chunks(read_column, &reading, ROWS / ROWS_A_CHUNK);
        chunk_builder_reset(&reading.builder);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(huge_texts_are_copied_and_checked_in_chunks),
        cmocka_unit_test(a_huge_text_that_is_not_utf8_is_refused_wherever_it_is_wrong),
        cmocka_unit_test(rows_of_one_page_are_passed_over_and_read_in_chunks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

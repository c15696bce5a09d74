/*
 * Column chunks for tests, page by page, without a writer: pages in any encoding and version, behind headers in
 * Thrift's compact protocol, and a parquet_file around them as if its footer had been read.
 */
#ifndef KITH_TESTS_PARQUET_PAGE_BUILDER_H
#define KITH_TESTS_PARQUET_PAGE_BUILDER_H

#include "parquet/codec.h"
#include "parquet/column_reader.h"
#include "parquet/page.h"

#include "parquet/encoders.h"

enum { CHUNK_PAGES = 200 };

struct chunk_builder {
    struct strbuf bytes;
    struct codec_context context;
    struct parquet_column column;
    struct parquet_chunk chunk;
    struct parquet_row_group row_group;
    struct parquet_metadata metadata;
    struct parquet_page_location pages[CHUNK_PAGES];
    struct parquet_page_index index;
    struct parquet_file file;
};

struct page_options {
    enum page_kind kind;
    enum parquet_encoding encoding;
    size_t rows;         /* NULLs included */
    const bool *present; /* NULL = no levels, for required columns */
    struct strbuf *values;
};

static inline void put_i32_field(struct strbuf *out, unsigned step, int64_t value)
{
    put_byte(out, step << 4 | 5);
    put_zigzag(out, value);
}

static inline void put_levels(struct strbuf *out, const struct page_options *page)
{
    _cleanup_(strbuf_reset) struct strbuf levels = {0};
    uint64_t values[4096];
    assert_true(page->rows <= ARRAY_SIZE(values));
    for (size_t i = 0; i < page->rows; i++)
        values[i] = page->present[i];
    put_rle(&levels, values, page->rows, 1);
    if (page->kind == PAGE_DATA)
        assert_ok(strbuf_append(out, &(uint32_t){(uint32_t)levels.length}, 4));
    assert_ok(strbuf_append(out, levels.data, levels.length));
}

static inline void put_header(struct strbuf *out, const struct page_options *page, size_t uncompressed,
                              const struct strbuf *body, size_t level_bytes, const uint32_t *crc)
{
    put_i32_field(out, 1, page->kind);
    put_i32_field(out, 1, (int64_t)uncompressed);
    put_i32_field(out, 1, (int64_t)body->length);
    if (crc != NULL)
        put_i32_field(out, 1, (int32_t)*crc);
    unsigned before = crc != NULL ? 4 : 3;
    if (page->kind == PAGE_DATA_V2) {
        int64_t nulls = 0;
        for (size_t i = 0; page->present != NULL && i < page->rows; i++)
            nulls += !page->present[i];
        put_byte(out, (8 - before) << 4 | 12);
        put_i32_field(out, 1, (int64_t)page->rows);
        put_i32_field(out, 1, nulls);
        put_i32_field(out, 1, (int64_t)page->rows);
        put_i32_field(out, 1, page->encoding);
        put_i32_field(out, 1, (int64_t)level_bytes);
        put_i32_field(out, 1, 0);
    } else {
        put_byte(out, ((page->kind == PAGE_DATA ? 5 : 7) - before) << 4 | 12);
        put_i32_field(out, 1, (int64_t)page->rows);
        put_i32_field(out, 1, page->encoding);
        if (page->kind == PAGE_DATA) {
            put_i32_field(out, 1, PARQUET_RLE);
            put_i32_field(out, 1, PARQUET_RLE);
        }
    }
    put_byte(out, 0);
    put_byte(out, 0);
}

static inline void chunk_add_page(struct chunk_builder *builder, const struct page_options *page, const uint32_t *crc)
{
    _cleanup_(strbuf_reset) struct strbuf plain = {0}, body = {0};
    size_t level_bytes = 0, start = builder->bytes.length;
    if (page->present != NULL)
        put_levels(page->kind == PAGE_DATA_V2 ? &body : &plain, page);
    level_bytes = body.length;
    assert_ok(strbuf_append(&plain, page->values->data, page->values->length));
    assert_ok(codec_compress(&builder->context, builder->chunk.codec, 0, (const uint8_t *)strbuf_text(&plain),
                             plain.length, &body));
    put_header(&builder->bytes, page, plain.length + level_bytes, &body, level_bytes, crc);
    assert_ok(strbuf_append(&builder->bytes, body.data, body.length));
    if (page->kind == PAGE_DICTIONARY)
        return;
    assert_true(builder->index.page_count < CHUNK_PAGES);
    builder->pages[builder->index.page_count++] = (struct parquet_page_location){
        start, (uint32_t)(builder->bytes.length - start), (uint64_t)builder->row_group.row_count};
    builder->row_group.row_count += (int64_t)page->rows;
    builder->chunk.value_count = builder->row_group.row_count;
}

/* Puts the file together once all pages are there; its bytes are those of the builder. */
static inline void chunk_finish(struct chunk_builder *builder)
{
    builder->chunk.pages = (struct parquet_range){0, builder->bytes.length};
    builder->row_group.chunks = &builder->chunk;
    builder->metadata.column_count = builder->metadata.row_group_count = 1;
    builder->metadata.columns = &builder->column;
    builder->metadata.row_groups = &builder->row_group;
    builder->index.pages = builder->pages;
    builder->file.metadata = &builder->metadata;
    refcount_init(&builder->file.refs); /* never dropped: the file is part of the builder */
    if (builder->file.storage != NULL)
        storage_file_unref(TAKE(builder->file.storage));
    assert_ok(storage_open_memory("test.parquet", strbuf_text(&builder->bytes), builder->bytes.length,
                                  &builder->file.storage));
}

static inline void chunk_builder_reset(struct chunk_builder *builder)
{
    if (builder->file.storage != NULL)
        storage_file_unref(TAKE(builder->file.storage));
    strbuf_reset(&builder->bytes);
    workspace_cache_reset(&builder->file.workspaces);
    codec_context_reset(&builder->context);
}
DEFINE_VALUE_CLEANUP(chunk_builder_reset, struct chunk_builder)

#endif

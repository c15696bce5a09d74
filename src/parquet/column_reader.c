#include "parquet/column_reader.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "parquet/page_cursor.h"
#include "parquet/page_decoder.h"
#include "runtime/fiber.h"

struct parquet_column_reader {
    struct parquet_file *file;
    size_t row_group;
    const struct parquet_column *column;
    struct parquet_read_metrics *metrics; /* borrowed */
    uint64_t rows_left;                   /* of the row group, skipped ones taken off at once */
    uint64_t skip;                        /* rows to pass over before the next one read, not yet applied */
    bool overrun;                         /* more rows were skipped than there are */
    bool failed;                          /* an error left the page half-read */
    bool page_open;
    uint64_t page_rows;          /* of the current page, not yet read or passed over */
    size_t string_bytes;         /* of the last read */
    struct workspace *workspace; /* the file's, for as long as the reader lives */
    struct page_cursor cursor;
    struct page_decoder decoder;
};

static kith_error *in_column(const struct parquet_column_reader *reader, kith_error *take_cause)
{
    return error_wrap(take_cause, "%s: column \"%.100s\", row group %zu", reader->file->storage->path,
                      reader->column->path, reader->row_group);
}

static kith_error *check_chunk(const struct parquet_column *column, const struct parquet_chunk *chunk,
                               const struct parquet_row_group *row_group)
{
    if (!column->readable)
        return error_new(KITH_ERROR_NOT_IMPLEMENTED, "the column cannot be read: %s", column->unreadable_reason);
    if (chunk->value_count != row_group->row_count)
        return error_new(KITH_ERROR_CORRUPT, "%lld values of a column that is not nested in %lld rows",
                         (long long)chunk->value_count, (long long)row_group->row_count);
    return NULL;
}

/* parquet-mr before 1.2.9 left the header of the dictionary page out of a chunk's size (PARQUET-816); no such header is
 * longer than this. */
enum { LEGACY_SLACK = 100 };

static uint64_t chunk_slack(const struct parquet_metadata *metadata)
{
    static const char writer[] = "parquet-mr", version[] = " version ";
    static const long fixed_in[3] = {1, 2, 9};
    const char *at = metadata->created_by;
    if (at == NULL || strncmp(at, writer, strlen(writer)) != 0)
        return 0;
    at += strlen(writer);
    if (strncmp(at, version, strlen(version)) != 0)
        return LEGACY_SLACK;
    at += strlen(version);
    for (size_t i = 0; i < ARRAY_SIZE(fixed_in); i++) {
        char *end;
        long number = strtol(at, &end, 10);
        if (number != fixed_in[i])
            return number < fixed_in[i] ? LEGACY_SLACK : 0;
        at = end + (*end == '.');
    }
    return 0;
}

kith_error *parquet_column_reader_new(struct parquet_file *file, size_t row_group, size_t column,
                                      const struct parquet_page_index *index,
                                      const struct parquet_read_options *options, struct parquet_read_metrics *metrics,
                                      struct parquet_column_reader **out)
{
    const struct parquet_metadata *metadata = file->metadata;
    ASSERT(row_group < metadata->row_group_count && column < metadata->column_count);
    const struct parquet_row_group *group = &metadata->row_groups[row_group];
    const struct parquet_chunk *chunk = &group->chunks[column];
    _cleanup_(parquet_column_reader_free) struct parquet_column_reader *reader = NULL;
    TRY(NEW(&reader));
    reader->file = parquet_file_ref(file);
    reader->row_group = row_group;
    reader->column = &metadata->columns[column];
    reader->metrics = metrics;
    reader->rows_left = (uint64_t)group->row_count;
    TRY(workspace_take(&file->workspaces, &reader->workspace));
    TRY(in_column(reader, check_chunk(reader->column, chunk, group)));
    TRY(in_column(reader, page_decoder_init(&reader->decoder, reader->column, options->keep_dictionary,
                                            &reader->workspace->scratch)));
    page_cursor_init(&reader->cursor, file->storage, chunk, chunk_slack(metadata), reader->rows_left, index,
                     options->verify_checksums, reader->workspace);
    *out = TAKE(reader);
    return NULL;
}

void parquet_column_reader_free(struct parquet_column_reader *reader)
{
    if (reader == NULL)
        return;
    page_decoder_reset(&reader->decoder);
    if (reader->workspace != NULL)
        workspace_give(&reader->file->workspaces, reader->workspace);
    parquet_file_unref(reader->file);
    free(reader);
}

void parquet_column_reader_skip(struct parquet_column_reader *reader, size_t rows)
{
    if (rows > reader->rows_left) {
        reader->overrun = true;
        return;
    }
    reader->rows_left -= rows;
    reader->skip += rows;
}

static kith_error *load_dictionary(struct parquet_column_reader *reader)
{
    struct page_header header;
    struct page_body body;
    TRY(page_cursor_open_dictionary(&reader->cursor, &header, &body));
    return dictionary_load(&reader->decoder.dictionary, reader->column, &reader->decoder.conversion, &header, &body,
                           &reader->workspace->dictionary);
}

/* Goes to the data page of the next row that is wanted. */
static kith_error *next_page(struct parquet_column_reader *reader)
{
    if (!reader->page_open)
        reader->cursor.pages_skipped += reader->cursor.header.value_count > 0;
    reader->page_open = false;
    for (;;) {
        TRY(page_cursor_next(&reader->cursor, &reader->skip));
        if (reader->cursor.header.kind != PAGE_DICTIONARY)
            break;
        if (reader->skip == 0) /* otherwise no page may come to need it */
            TRY(load_dictionary(reader));
    }
    reader->page_rows = reader->cursor.header.value_count;
    reader->decoder.skip = 0;
    return NULL;
}

static kith_error *open_page(struct parquet_column_reader *reader)
{
    struct page_body body;
    TRY(coop_charge(1));
    uint64_t skip = reader->decoder.skip;
    if (page_uses_dictionary(&reader->cursor.header) && !reader->decoder.dictionary.loaded)
        TRY(load_dictionary(reader));
    TRY(page_cursor_open(&reader->cursor, &body));
    TRY(page_decoder_start(&reader->decoder, &reader->cursor.header, &body));
    reader->decoder.skip = skip;
    reader->page_open = true;
    reader->metrics->pages_read++;
    return NULL;
}

static void pass_rows(struct parquet_column_reader *reader, uint64_t *rows)
{
    uint64_t passed = MIN(*rows, reader->page_rows);
    reader->decoder.skip += passed;
    reader->page_rows -= passed;
    *rows -= passed;
}

/* The rows of the request that lie in the current page. */
struct request {
    size_t rows;
    const uint32_t *selected; /* NULL = all rows */
    size_t selected_count;
    size_t at, next; /* first row, and first of `selected`, not yet read */
};

static kith_error *read_from_page(struct parquet_column_reader *reader, struct request *request,
                                  struct column_output *output)
{
    size_t rows = (size_t)MIN((uint64_t)(request->rows - request->at), reader->page_rows), count = rows;
    const uint32_t *selected = NULL;
    if (request->selected != NULL) {
        selected = request->selected + request->next;
        for (count = 0; request->next + count < request->selected_count && selected[count] < request->at + rows;)
            count++;
    }
    if (!reader->page_open)
        TRY(open_page(reader));
    TRY(page_decoder_read(&reader->decoder, rows, selected, count, request->at, output));
    reader->page_rows -= rows;
    request->at += rows;
    request->next += count;
    return NULL;
}

static kith_error *read_rows(struct parquet_column_reader *reader, struct request *request,
                             struct column_output *output)
{
    while (request->at < request->rows) {
        if (request->selected != NULL) {
            size_t to = request->next < request->selected_count ? request->selected[request->next] : request->rows;
            reader->skip += to - request->at;
            request->at = to;
            if (to == request->rows)
                break;
        }
        while (reader->page_rows == 0 || reader->skip > 0) {
            if (reader->page_rows == 0)
                TRY(next_page(reader));
            pass_rows(reader, &reader->skip);
        }
        TRY(read_from_page(reader, request, output));
    }
    return NULL;
}

static kith_error *check_request(const struct parquet_column_reader *reader, size_t rows,
                                 const struct selection *selection)
{
    if (reader->failed)
        return error_new(KITH_ERROR_INTERNAL, "a column reader is used again after an error");
    if (reader->overrun || rows > reader->rows_left)
        return error_new(KITH_ERROR_INTERNAL, "%zu rows are read where the row group has %llu left", rows,
                         (unsigned long long)reader->rows_left);
    if (selection != NULL && selection->count > 0 && selection->rows[selection->count - 1] >= rows)
        return error_new(KITH_ERROR_INTERNAL, "row %u is selected of %zu", selection->rows[selection->count - 1], rows);
    return NULL;
}

static kith_error *read_array(struct parquet_column_reader *reader, size_t rows, const struct selection *selection,
                              struct array **out)
{
    _cleanup_(column_output_reset) struct column_output output = {0};
    size_t capacity = selection != NULL ? selection->count : rows;
    struct request request = {.rows = rows,
                              .selected = selection != NULL ? selection->rows : NULL,
                              .selected_count = selection != NULL ? selection->count : 0};
    TRY(column_output_init(&output, &reader->column->type, &reader->decoder.conversion, capacity,
                           reader->string_bytes + reader->string_bytes / 8));
    TRY(read_rows(reader, &request, &output));
    reader->string_bytes = output.data_length;
    return column_output_finish(&output, out);
}

static kith_error *at_page(const struct parquet_column_reader *reader, kith_error *take_cause)
{
    if (take_cause == NULL || kith_error_code(take_cause) == KITH_ERROR_CANCELLED)
        return take_cause;
    return error_wrap(take_cause, "%s: column \"%.100s\", row group %zu, page at byte %llu",
                      reader->file->storage->path, reader->column->path, reader->row_group,
                      (unsigned long long)reader->cursor.page_offset);
}

kith_error *parquet_column_reader_read(struct parquet_column_reader *reader, size_t rows,
                                       const struct selection *selection, struct array **out)
{
    TRY(in_column(reader, check_request(reader, rows, selection)));
    struct page_cursor *cursor = &reader->cursor;
    int64_t start = clock_monotonic_ns(&system_clock), read_before = cursor->window.read_ns;
    kith_error *error = read_array(reader, rows, selection, out);
    int64_t reading = cursor->window.read_ns - read_before;
    reader->metrics->decode_ns += clock_monotonic_ns(&system_clock) - start - reading;
    reader->metrics->bytes_read += cursor->window.bytes_read;
    reader->metrics->pages_skipped += cursor->pages_skipped;
    cursor->window.bytes_read = 0;
    cursor->pages_skipped = 0;
    reader->failed = error != NULL;
    reader->rows_left -= rows;
    return at_page(reader, error);
}

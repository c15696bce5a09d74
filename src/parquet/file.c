#include "parquet/file.h"

#include "base/alloc.h"
#include "base/limits.h"
#include "runtime/coop.h"

#include <string.h>

enum {
    MAGIC_BYTES = 4,
    TAIL_BYTES = 8,                           /* length of the footer, magic */
    SMALLEST_FILE = MAGIC_BYTES + TAIL_BYTES, /* of which not even the footer is there */
    FIRST_READ_BYTES = 65536                  /* holds the footer of most files */
};

static uint32_t load_u32(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

/* A file that does not end like one: does it at least begin like one? */
static kith_error *not_parquet(struct storage_file *storage)
{
    char magic[MAGIC_BYTES];
    TRY(storage_file_read(storage, 0, sizeof magic, magic));
    if (memcmp(magic, "PAR1", sizeof magic) == 0)
        return error_new(KITH_ERROR_CORRUPT,
                         "%s is truncated or damaged: it begins as a Parquet file but does not end as one",
                         storage->path);
    return error_new(KITH_ERROR_CORRUPT, "%s is not a Parquet file: it ends in other bytes than \"PAR1\"",
                     storage->path);
}

/* Checks the file's last bytes and gives the footer's length. */
static kith_error *read_tail(struct storage_file *storage, const uint8_t *tail, size_t *footer_bytes)
{
    if (memcmp(tail + 4, "PARE", MAGIC_BYTES) == 0)
        return error_new(KITH_ERROR_NOT_IMPLEMENTED, "%s is encrypted, which is not supported", storage->path);
    if (memcmp(tail + 4, "PAR1", MAGIC_BYTES) != 0)
        return not_parquet(storage);
    uint32_t length = load_u32(tail);
    if (length > LIMIT_PARQUET_FOOTER_BYTES)
        return error_new(KITH_ERROR_LIMIT,
                         "%s declares a footer of %u bytes; at most %d are supported (limit PARQUET_FOOTER_BYTES)",
                         storage->path, length, LIMIT_PARQUET_FOOTER_BYTES);
    if (length == 0 || length > storage->size - SMALLEST_FILE)
        return error_new(KITH_ERROR_CORRUPT,
                         "%s is truncated or damaged: it declares a footer of %u bytes in a file of %llu",
                         storage->path, length, (unsigned long long)storage->size);
    *footer_bytes = length;
    return NULL;
}

/* A footer may be as large as the limit says, and copying it out of the page cache takes its time. */
static kith_error *read_in_pieces(struct storage_file *storage, uint64_t offset, size_t length, uint8_t *out)
{
    enum { PIECE_BYTES = 1 << 20 };
    for (size_t done = 0; done < length; done += PIECE_BYTES) {
        TRY(storage_file_read(storage, offset + done, MIN(length - done, (size_t)PIECE_BYTES), out + done));
        TRY(coop_charge(1));
    }
    return NULL;
}

static kith_error *read_metadata(struct storage_file *storage, struct parquet_metadata **out)
{
    if (storage->size < SMALLEST_FILE)
        return error_new(KITH_ERROR_CORRUPT,
                         "%s is not a Parquet file: it has %llu bytes, and the smallest possible has %d", storage->path,
                         (unsigned long long)storage->size, SMALLEST_FILE);
    size_t first = (size_t)MIN(storage->size, (uint64_t)FIRST_READ_BYTES), footer;
    _cleanup_free_ uint8_t *bytes = NULL;
    TRY(alloc_resize(&bytes, first, 1));
    TRY(storage_file_read(storage, storage->size - first, first, bytes));
    TRY(read_tail(storage, bytes + first - TAIL_BYTES, &footer));
    const uint8_t *start = bytes + first - TAIL_BYTES - MIN(footer, first - TAIL_BYTES);
    if (footer > first - TAIL_BYTES) {
        TRY(alloc_resize(&bytes, footer, 1));
        TRY(read_in_pieces(storage, storage->size - TAIL_BYTES - footer, footer, bytes));
        start = bytes;
    }
    return parquet_metadata_parse(storage->path, start, footer, storage->size, out);
}

static kith_error *make_schema(struct parquet_file *file)
{
    const struct parquet_metadata *metadata = file->metadata;
    _cleanup_free_ struct field *fields = NULL;
    size_t count = 0;
    TRY(NEW_ARRAY(&fields, metadata->column_count));
    TRY(NEW_ARRAY(&file->columns, metadata->column_count));
    for (size_t i = 0; i < metadata->column_count; i++) {
        const struct parquet_column *column = &metadata->columns[i];
        if (!column->readable)
            continue;
        /* schema_new copies; the name is not written to. */
        fields[count].name = (char *)(uintptr_t)column->path;
        fields[count].type = column->type;
        fields[count].nullable = column->nullable;
        file->columns[count++] = i;
    }
    return schema_new(fields, count, &file->schema);
}

/* Flags for what reading will teach. */
static kith_error *make_notes(struct parquet_file *file)
{
    const struct parquet_metadata *metadata = file->metadata;
    bool has_floats = false;
    for (size_t i = 0; i < metadata->column_count; i++)
        has_floats = has_floats || type_is_float(metadata->columns[i].type.id);
    return has_floats ? alloc_zeroed(metadata->row_group_count, metadata->column_count, &file->no_nan) : NULL;
}

/* Relaxed: a flag guards no other memory, and being late by one reader costs only time. */
void parquet_file_note_no_nan(struct parquet_file *file, size_t row_group, size_t column)
{
    if (file->no_nan != NULL)
        atomic_store_explicit(&file->no_nan[row_group * file->metadata->column_count + column], 1,
                              memory_order_relaxed);
}

bool parquet_file_has_no_nan(const struct parquet_file *file, size_t row_group, size_t column)
{
    return file->no_nan != NULL &&
           atomic_load_explicit(&file->no_nan[row_group * file->metadata->column_count + column], memory_order_relaxed);
}

static void file_free(struct parquet_file *file)
{
    if (file->schema != NULL)
        schema_unref(file->schema);
    if (file->metadata != NULL)
        parquet_metadata_free(file->metadata);
    if (file->storage != NULL)
        storage_file_unref(file->storage);
    workspace_cache_reset(&file->workspaces);
    free(file->no_nan);
    free(file->columns);
    free(file);
}
DEFINE_CLEANUP(file_free, struct parquet_file)

kith_error *parquet_file_open(struct storage_file *storage, struct parquet_file **out)
{
    _cleanup_(file_free) struct parquet_file *file = NULL;
    TRY(NEW(&file));
    refcount_init(&file->refs);
    file->storage = storage_file_ref(storage);
    TRY(read_metadata(storage, &file->metadata));
    TRY(make_schema(file));
    TRY(make_notes(file));
    *out = TAKE(file);
    return NULL;
}

struct parquet_file *parquet_file_ref(struct parquet_file *file)
{
    refcount_take(&file->refs);
    return file;
}

void parquet_file_unref(struct parquet_file *file)
{
    if (file != NULL && refcount_drop(&file->refs))
        file_free(file);
}

#include "frontends/bench/plain_loop.h"

#include "base/alloc.h"
#include "base/vec.h"
#include "parquet/file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* A column chunk in a file, and where the values of its pages lie in it. */
struct loop_chunk {
    uint64_t offset, length;
    size_t page_count;
    size_t *values;   /* of each page: where its values begin in the chunk */
    size_t *row_ends; /* of each page: the row group's row after its last one */
};

struct loop_group {
    int fd;
    struct loop_chunk score, excluded;
};

struct plain_loop {
    VEC(int) fds;
    VEC(struct loop_group) groups;
    uint8_t *score_bytes, *excluded_bytes; /* room for the largest chunk */
    size_t score_capacity, excluded_capacity;
};

static size_t score_size(size_t rows)
{
    return rows * sizeof(int64_t);
}

static size_t excluded_size(size_t rows)
{
    return (rows + 7) / 8;
}

/* A page ends with its values: there are no levels in columns without NULLs. */
static kith_error *find_pages(struct parquet_file *file, size_t row_group, const char *name, size_t (*size)(size_t),
                              struct loop_chunk *out)
{
    _cleanup_(parquet_page_index_free) struct parquet_page_index *index = NULL;
    const struct parquet_row_group *group = &file->metadata->row_groups[row_group];
    size_t column = file->columns[schema_find(file->schema, name)];
    uint64_t bytes_read = 0;
    TRY(parquet_page_index_read(file, row_group, column, &bytes_read, &index));
    if (index == NULL || group->chunks[column].codec != PARQUET_UNCOMPRESSED)
        return error_new(KITH_ERROR_NOT_IMPLEMENTED, "the plain loop reads uncompressed files with a page index only");
    *out =
        (struct loop_chunk){.offset = group->chunks[column].pages.offset, .length = group->chunks[column].pages.length};
    TRY(NEW_ARRAY(&out->values, index->page_count));
    TRY(NEW_ARRAY(&out->row_ends, index->page_count));
    for (; out->page_count < index->page_count; out->page_count++) {
        const struct parquet_page_location *page = &index->pages[out->page_count];
        bool last = out->page_count + 1 == index->page_count;
        size_t row_end = (size_t)(last ? (uint64_t)group->row_count : page[1].first_row);
        out->row_ends[out->page_count] = row_end;
        out->values[out->page_count] =
            (size_t)(page->offset + page->compressed_bytes - out->offset) - size(row_end - (size_t)page->first_row);
    }
    return NULL;
}

static kith_error *add_group(struct plain_loop *loop, struct parquet_file *file, size_t row_group, int fd)
{
    TRY(vec_push(&loop->groups, ((struct loop_group){.fd = fd})));
    struct loop_group *group = &loop->groups.items[loop->groups.length - 1];
    TRY(find_pages(file, row_group, fixture_column_names[FIXTURE_SCORE], score_size, &group->score));
    TRY(find_pages(file, row_group, fixture_column_names[FIXTURE_EXCLUDED], excluded_size, &group->excluded));
    loop->score_capacity = MAX(loop->score_capacity, (size_t)group->score.length);
    loop->excluded_capacity = MAX(loop->excluded_capacity, (size_t)group->excluded.length);
    return NULL;
}

static kith_error *add_file(struct plain_loop *loop, const char *path)
{
    _cleanup_(storage_file_unref) struct storage_file *storage = NULL;
    _cleanup_(parquet_file_unref) struct parquet_file *file = NULL;
    TRY(storage_open(path, &storage));
    TRY(parquet_file_open(storage, &file));
    TRY(vec_reserve(&loop->fds, 1));
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return error_from_errno(errno, "cannot open \"%s\"", path);
    loop->fds.items[loop->fds.length++] = fd;
    for (size_t i = 0; i < file->metadata->row_group_count; i++)
        TRY(add_group(loop, file, i, fd));
    return NULL;
}

kith_error *plain_loop_new(const struct fixture *fixture, size_t files, struct plain_loop **out)
{
    _cleanup_(plain_loop_free) struct plain_loop *loop = NULL;
    TRY(NEW(&loop));
    for (size_t i = 0; i < files; i++) {
        char path[512];
        TRY(fixture_path(fixture, i, 0, path));
        TRY(add_file(loop, path));
    }
    TRY(NEW_ARRAY(&loop->score_bytes, loop->score_capacity));
    TRY(NEW_ARRAY(&loop->excluded_bytes, loop->excluded_capacity));
    *out = TAKE(loop);
    return NULL;
}

static void free_chunk(struct loop_chunk *chunk)
{
    free(chunk->values);
    free(chunk->row_ends);
}

void plain_loop_free(struct plain_loop *loop)
{
    if (loop == NULL)
        return;
    for (size_t i = 0; i < loop->groups.length; i++) {
        free_chunk(&loop->groups.items[i].score);
        free_chunk(&loop->groups.items[i].excluded);
    }
    for (size_t i = 0; i < loop->fds.length; i++)
        close(loop->fds.items[i]);
    vec_reset(&loop->groups);
    vec_reset(&loop->fds);
    free(loop->score_bytes);
    free(loop->excluded_bytes);
    free(loop);
}

static kith_error *read_chunk(int fd, const struct loop_chunk *chunk, uint8_t *out)
{
    ssize_t n = pread(fd, out, chunk->length, (off_t)chunk->offset);
    return n == (ssize_t)chunk->length ? NULL : error_from_errno(errno, "the plain loop cannot read");
}

struct best {
    int64_t *scores;
    size_t count, limit;
    int64_t worst; /* rows must be above it */
};

static void insert(struct best *best, int64_t score)
{
    size_t at = best->count < best->limit ? best->count++ : best->limit - 1;
    for (; at > 0 && best->scores[at - 1] < score; at--)
        best->scores[at] = best->scores[at - 1];
    best->scores[at] = score;
    if (best->count == best->limit)
        best->worst = best->scores[best->limit - 1];
}

/* `rows` rows whose excluded flags begin at bit `bit`. */
static void scan_rows(struct best *best, const uint8_t *scores, const uint8_t *excluded, size_t bit, size_t rows)
{
    for (size_t i = 0; i < rows; i++) {
        int64_t score;
        memcpy(&score, scores + i * sizeof score, sizeof score);
        if (_unlikely_(score > best->worst) && !(excluded[(bit + i) / 8] >> (bit + i) % 8 & 1))
            insert(best, score);
    }
}

static void scan_group(const struct plain_loop *loop, const struct loop_group *group, struct best *best)
{
    size_t row = 0, score_start = 0, excluded_start = 0, flag_page = 0;
    for (size_t page = 0; page < group->score.page_count; score_start = group->score.row_ends[page++]) {
        while (row < group->score.row_ends[page]) {
            if (row == group->excluded.row_ends[flag_page])
                excluded_start = group->excluded.row_ends[flag_page++];
            size_t end = MIN(group->score.row_ends[page], group->excluded.row_ends[flag_page]);
            scan_rows(best, loop->score_bytes + group->score.values[page] + score_size(row - score_start),
                      loop->excluded_bytes + group->excluded.values[flag_page], row - excluded_start, end - row);
            row = end;
        }
    }
}

kith_error *plain_loop_run(struct plain_loop *loop, size_t limit, int64_t *scores, size_t *count)
{
    struct best best = {.scores = scores, .limit = limit, .worst = INT64_MIN};
    for (size_t i = 0; i < loop->groups.length; i++) {
        const struct loop_group *group = &loop->groups.items[i];
        TRY(read_chunk(group->fd, &group->score, loop->score_bytes));
        TRY(read_chunk(group->fd, &group->excluded, loop->excluded_bytes));
        scan_group(loop, group, &best);
    }
    *count = best.count;
    return NULL;
}

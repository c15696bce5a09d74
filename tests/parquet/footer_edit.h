/*
 * Changes to the statistics of a Parquet file that was written as Kith writes them: what other writers leave out, cut
 * short, or put into the fields that the format has deprecated. Pages stay as they are.
 */
#ifndef KITH_TESTS_PARQUET_FOOTER_EDIT_H
#define KITH_TESTS_PARQUET_FOOTER_EDIT_H

#include "temporary.h"
#include "testing.h"

#include "parquet/metadata.h"
#include "parquet/thrift_writer.h"

struct footer_edit {
    bool no_null_counts; /* neither of row groups nor of pages */
    bool no_min, no_max; /* of row groups */
    bool no_exactness;   /* whether a bound is a value is not said */
    size_t text_bytes;   /* bounds of texts are cut to so many bytes, the upper one rounded up; 0 = as they are */
    bool deprecated;     /* bounds of row groups are in the fields without a defined order; those of bytes are wrong */
};

/* Where a struct is on the way from the footer to statistics; the rest is copied. */
enum edit_level { EDIT_FOOTER, EDIT_ROW_GROUP, EDIT_CHUNK, EDIT_CHUNK_METADATA, EDIT_STATISTICS };

struct footer_editor {
    const struct footer_edit *edit;
    uint8_t *file; /* page indexes are changed in it */
    struct thrift_reader reader;
    struct strbuf out;
    /* Of the column chunk at hand: */
    uint64_t index_at;
    enum parquet_type physical;
};

static inline void edit_put(struct strbuf *out, const void *bytes, size_t length)
{
    assert_ok(strbuf_append(out, bytes, length));
}

static inline void edit_put_varint(struct strbuf *out, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        edit_put(out, &(uint8_t){(uint8_t)(value | 0x80)}, 1);
    edit_put(out, &(uint8_t){(uint8_t)value}, 1);
}

static inline void edit_put_field(struct strbuf *out, int16_t *latest, const struct thrift_field *field)
{
    assert_true(field->id > *latest && field->id - *latest <= 15);
    edit_put(out, &(uint8_t){(uint8_t)((field->id - *latest) << 4 | field->type)}, 1);
    *latest = field->id;
}

/* The field's value, as it is. */
static inline void edit_copy(struct thrift_reader *reader, const struct thrift_field *field, struct strbuf *out)
{
    const uint8_t *start = reader->at;
    assert_ok(thrift_skip(reader, field));
    edit_put(out, start, (size_t)(reader->at - start));
}

enum { NOT_SAID = -1 };

static inline kith_error *edit_read_exactness(struct thrift_reader *reader, const struct thrift_field *field, int *out)
{
    bool exact;
    TRY(thrift_read_bool(reader, field, &exact));
    *out = exact;
    return NULL;
}

struct edited_statistics {
    struct str min, max; /* without data = absent */
    int64_t null_count;
    int exact[2]; /* of the maximum, of the minimum */
    char room[2][64];
};

static inline void edit_read_statistics(struct thrift_reader *reader, struct edited_statistics *out)
{
    struct thrift_field field = {0};
    *out = (struct edited_statistics){.null_count = NOT_SAID, .exact = {NOT_SAID, NOT_SAID}};
    for (;;) {
        assert_ok(thrift_next_field(reader, &field));
        if (field.type == THRIFT_STOP)
            return;
        if (field.id == 3)
            assert_ok(thrift_read_i64(reader, &field, &out->null_count));
        else if (field.id == 5 || field.id == 6)
            assert_ok(thrift_read_binary(reader, &field, field.id == 5 ? &out->max : &out->min));
        else if (field.id == 7 || field.id == 8)
            assert_ok(edit_read_exactness(reader, &field, &out->exact[field.id - 7]));
        else
            assert_ok(thrift_skip(reader, &field));
    }
}

/* Makes the bound shorter, in `room`. False where no shorter one lies above it. */
static inline bool edit_cut(const struct footer_edit *edit, struct str *bound, bool upper, char *room)
{
    size_t length = edit->text_bytes;
    assert_true(length <= sizeof((struct edited_statistics *)0)->room[0]);
    if (bound->length <= length)
        return true;
    memcpy(room, bound->data, length);
    *bound = (struct str){room, length};
    while (upper && bound->length > 0 && (uint8_t)room[bound->length - 1] == 0xFF)
        bound->length--;
    if (upper && bound->length > 0)
        room[bound->length - 1]++;
    return bound->length > 0;
}

static inline void edit_change(const struct footer_editor *editor, struct edited_statistics *statistics)
{
    const struct footer_edit *edit = editor->edit;
    bool bytes = editor->physical == PARQUET_BYTE_ARRAY || editor->physical == PARQUET_FIXED_LEN_BYTE_ARRAY;
    bool cut = editor->physical == PARQUET_BYTE_ARRAY && edit->text_bytes > 0;
    if (edit->no_max || (cut && !edit_cut(edit, &statistics->max, true, statistics->room[0])))
        statistics->max.data = NULL;
    if (edit->no_min || (cut && !edit_cut(edit, &statistics->min, false, statistics->room[1])))
        statistics->min.data = NULL;
    if (edit->no_null_counts)
        statistics->null_count = NOT_SAID;
    if (edit->no_exactness || cut)
        statistics->exact[0] = statistics->exact[1] = NOT_SAID;
    if (edit->deprecated && bytes && statistics->min.data != NULL)
        statistics->min = statistics->max;
}

static inline void edit_statistics(struct footer_editor *editor)
{
    struct thrift_writer writer = thrift_writer_make(&editor->out);
    struct edited_statistics statistics;
    bool deprecated = editor->edit->deprecated;
    edit_read_statistics(&editor->reader, &statistics);
    edit_change(editor, &statistics);
    if (deprecated && statistics.max.data != NULL)
        thrift_write_binary(&writer, 1, statistics.max);
    if (deprecated && statistics.min.data != NULL)
        thrift_write_binary(&writer, 2, statistics.min);
    if (statistics.null_count != NOT_SAID)
        thrift_write_i64(&writer, 3, statistics.null_count);
    if (!deprecated && statistics.max.data != NULL)
        thrift_write_binary(&writer, 5, statistics.max);
    if (!deprecated && statistics.min.data != NULL)
        thrift_write_binary(&writer, 6, statistics.min);
    for (int i = 0; i < 2; i++)
        if (!deprecated && statistics.exact[i] != NOT_SAID)
            thrift_write_bool(&writer, (int16_t)(7 + i), statistics.exact[i] == 1);
    thrift_end_struct(&writer);
    assert_ok(thrift_writer_finish(&writer));
}

/* The lists of a column index but for the counts of NULL, in its place; it becomes shorter. */
static inline void edit_column_index(struct footer_editor *editor, size_t length)
{
    struct thrift_reader reader = thrift_reader_make("", "column index", editor->file + editor->index_at, length, 0);
    _cleanup_(strbuf_reset) struct strbuf out = {0};
    struct thrift_field field = {0};
    int16_t latest = 0;
    for (;;) {
        assert_ok(thrift_next_field(&reader, &field));
        if (field.type == THRIFT_STOP)
            break;
        if (field.id == 5) {
            assert_ok(thrift_skip(&reader, &field));
            continue;
        }
        edit_put_field(&out, &latest, &field);
        edit_copy(&reader, &field, &out);
    }
    edit_put(&out, "", 1);
    assert_true(out.length <= length);
    memcpy(editor->file + editor->index_at, out.data, out.length);
}

static inline void edit_struct(struct footer_editor *editor, enum edit_level level);

static inline void edit_list(struct footer_editor *editor, const struct thrift_field *field, enum edit_level level)
{
    size_t count;
    assert_ok(thrift_read_list(&editor->reader, field, THRIFT_STRUCT, &count));
    if (count < 15) {
        edit_put(&editor->out, &(uint8_t){(uint8_t)(count << 4 | THRIFT_STRUCT)}, 1);
    } else {
        edit_put(&editor->out, &(uint8_t){0xF0 | THRIFT_STRUCT}, 1);
        edit_put_varint(&editor->out, count);
    }
    for (size_t i = 0; i < count; i++)
        edit_struct(editor, level);
}

/* The page index's place in the file; true once both parts of it are known. */
static inline bool edit_note_index(struct footer_editor *editor, const struct thrift_field *field, size_t *length)
{
    struct thrift_reader ahead = editor->reader;
    int64_t offset = 0;
    int32_t bytes = 0;
    if (field->id == 6) {
        assert_ok(thrift_read_i64(&ahead, field, &offset));
        editor->index_at = (uint64_t)offset;
    }
    if (field->id == 7)
        assert_ok(thrift_read_i32(&ahead, field, &bytes));
    *length = (size_t)bytes;
    return field->id == 7;
}

static inline void edit_note_type(struct footer_editor *editor, const struct thrift_field *field)
{
    struct thrift_reader ahead = editor->reader;
    int32_t type;
    assert_ok(thrift_read_i32(&ahead, field, &type));
    editor->physical = (enum parquet_type)type;
}

static inline void edit_struct(struct footer_editor *editor, enum edit_level level)
{
    static const int16_t next_field[] = {4, 1, 3, 12}; /* row_groups, columns, meta_data, statistics */
    struct thrift_field field = {0};
    int16_t latest = 0;
    size_t index_length;
    if (level == EDIT_STATISTICS) {
        edit_statistics(editor);
        return;
    }
    for (;;) {
        assert_ok(thrift_next_field(&editor->reader, &field));
        if (field.type == THRIFT_STOP)
            break;
        edit_put_field(&editor->out, &latest, &field);
        if (level == EDIT_CHUNK_METADATA && field.id == 1)
            edit_note_type(editor, &field);
        if (level == EDIT_CHUNK && edit_note_index(editor, &field, &index_length) && editor->edit->no_null_counts)
            edit_column_index(editor, index_length);
        if (field.id != next_field[level])
            edit_copy(&editor->reader, &field, &editor->out);
        else if (field.type == THRIFT_LIST)
            edit_list(editor, &field, level + 1);
        else
            edit_struct(editor, level + 1);
    }
    edit_put(&editor->out, "", 1);
}

static inline void edit_footer(const char *path, const struct footer_edit *edit)
{
    enum { TAIL = 8, MOST_BYTES = 1 << 24 };
    _cleanup_free_ uint8_t *file = malloc(MOST_BYTES);
    uint32_t length;
    FILE *input = fopen(path, "rb");
    assert_non_null(input);
    size_t size = fread(file, 1, MOST_BYTES, input);
    fclose(input);
    assert_true(size > TAIL && size < MOST_BYTES);
    memcpy(&length, file + size - TAIL, sizeof length);
    size_t footer_at = size - TAIL - length;
    struct footer_editor editor = {
        .edit = edit,
        .file = file,
        .reader = thrift_reader_make(path, "footer", file + footer_at, length, footer_at),
    };
    edit_struct(&editor, EDIT_FOOTER);
    _cleanup_(strbuf_reset) struct strbuf bytes = {0};
    edit_put(&bytes, file, footer_at);
    edit_put(&bytes, editor.out.data, editor.out.length);
    edit_put(&bytes, &(uint32_t){(uint32_t)editor.out.length}, sizeof length);
    edit_put(&bytes, "PAR1", 4);
    assert_int_equal(temporary_file(path, bytes.data, bytes.length), 0);
    strbuf_reset(&editor.out);
}

#endif

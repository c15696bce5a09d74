/*
 * An ArrowArrayStream as a source of batches.
 */
#include "columnar/c_data.h"

#include "base/alloc.h"

#include <errno.h>

struct c_stream_reader {
    struct ArrowArrayStream stream; /* ours to release */
    struct schema *schema;
    bool validate;
    bool ended;
};

/* What a stream's callbacks return are errno values; the text, if the producer has one, says more. */
static kith_error *stream_error(struct ArrowArrayStream *stream, int number, const char *doing)
{
    const char *text = stream->get_last_error == NULL ? NULL : stream->get_last_error(stream);
    if (text != NULL && text[0] != '\0')
        return error_new(number == ENOMEM ? KITH_ERROR_OUT_OF_MEMORY : KITH_ERROR_IO, "%s: %s", doing, text);
    return error_from_errno(number, "%s", doing);
}

static kith_error *read_schema(struct c_stream_reader *reader)
{
    struct ArrowSchema schema = {0};
    int number = reader->stream.get_schema(&reader->stream, &schema);
    if (number != 0)
        return stream_error(&reader->stream, number, "reading the schema of an Arrow stream");
    if (schema.release == NULL)
        return error_new(KITH_ERROR_CORRUPT, "an Arrow stream gave a schema that is released already");
    kith_error *error = c_data_import_schema(&schema, &reader->schema);
    schema.release(&schema);
    return error;
}

kith_error *c_data_import_stream(struct ArrowArrayStream *take_stream, bool validate, struct c_stream_reader **out)
{
    struct ArrowArrayStream stream = *take_stream;
    _cleanup_(c_stream_reader_free) struct c_stream_reader *reader = NULL;
    take_stream->release = NULL;
    if (stream.release == NULL || stream.get_schema == NULL || stream.get_next == NULL)
        return error_new(KITH_ERROR_INVALID_ARGUMENT, "the Arrow stream is released or incomplete");
    kith_error *error = NEW(&reader);
    if (error != NULL) {
        stream.release(&stream);
        return error;
    }
    reader->stream = stream;
    reader->validate = validate;
    TRY(read_schema(reader));
    *out = TAKE(reader);
    return NULL;
}

struct schema *c_stream_reader_schema(const struct c_stream_reader *reader)
{
    return reader->schema;
}

kith_error *c_stream_reader_next(struct c_stream_reader *reader, struct batch **out)
{
    struct ArrowArray array = {0};
    *out = NULL;
    if (reader->ended)
        return NULL;
    reader->ended = true;
    int number = reader->stream.get_next(&reader->stream, &array);
    if (number != 0)
        return stream_error(&reader->stream, number, "reading an Arrow stream");
    if (array.release == NULL)
        return NULL;
    TRY(c_data_import_batch(&array, reader->schema, reader->validate, out));
    reader->ended = false;
    return NULL;
}

void c_stream_reader_free(struct c_stream_reader *reader)
{
    if (reader == NULL)
        return;
    reader->stream.release(&reader->stream);
    schema_unref(reader->schema);
    free(reader);
}

/*
 * A source of batches as an ArrowArrayStream.
 */
#include "columnar/c_data.h"

#include "base/alloc.h"

#include <errno.h>

struct stream {
    struct c_stream_source source;
    char error[1024]; /* of the last call; "" after success */
    bool ended;       /* also after an error: a source is not asked again */
};

static int errno_of(enum kith_code code)
{
    if (code == KITH_ERROR_OUT_OF_MEMORY)
        return ENOMEM;
    if (code == KITH_ERROR_CANCELLED)
        return ECANCELED;
    if (code == KITH_ERROR_NOT_IMPLEMENTED)
        return ENOSYS;
    return code == KITH_ERROR_IO || code == KITH_ERROR_UNAVAILABLE ? EIO : EINVAL;
}

/* Keeps the text for get_last_error and gives the number for the caller; 0 without error. */
static int finish(struct stream *stream, kith_error *take_error)
{
    stream->error[0] = '\0';
    if (take_error == NULL)
        return 0;
    int number = errno_of(kith_error_code(take_error));
    error_describe(take_error, stream->error, sizeof stream->error);
    error_free(take_error);
    return number;
}

static int stream_get_schema(struct ArrowArrayStream *self, struct ArrowSchema *out)
{
    struct stream *stream = self->private_data;
    return finish(stream, c_data_export_schema(stream->source.schema, out));
}

static kith_error *next(struct stream *stream, struct ArrowArray *out)
{
    out->release = NULL;
    if (stream->ended)
        return NULL;
    _cleanup_(batch_unref) struct batch *batch = NULL;
    stream->ended = true;
    TRY(stream->source.next(stream->source.context, &batch));
    if (batch == NULL)
        return NULL;
    TRY(c_data_export_batch(batch, out));
    stream->ended = false;
    return NULL;
}

static int stream_get_next(struct ArrowArrayStream *self, struct ArrowArray *out)
{
    struct stream *stream = self->private_data;
    return finish(stream, next(stream, out));
}

static const char *stream_get_last_error(struct ArrowArrayStream *self)
{
    const struct stream *stream = self->private_data;
    return stream->error[0] == '\0' ? NULL : stream->error;
}

static void stream_release(struct ArrowArrayStream *self)
{
    struct stream *stream = self->private_data;
    if (stream->source.free != NULL)
        stream->source.free(stream->source.context);
    free(stream);
    self->release = NULL;
}

kith_error *c_data_export_stream(const struct c_stream_source *source, struct ArrowArrayStream *out)
{
    struct stream *stream = NULL;
    TRY(NEW(&stream));
    stream->source = *source;
    *out = (struct ArrowArrayStream){.get_schema = stream_get_schema,
                                     .get_next = stream_get_next,
                                     .get_last_error = stream_get_last_error,
                                     .release = stream_release,
                                     .private_data = stream};
    return NULL;
}

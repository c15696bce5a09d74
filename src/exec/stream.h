/*
 * Streams: pull sources of batches. `next` gives a batch, the end, or an error, and may suspend the fiber. A stream
 * belongs to one fiber at a time. After the end or an error it gives the end for ever. Freeing it early is allowed and
 * stops all work below it.
 */
#ifndef KITH_EXEC_STREAM_H
#define KITH_EXEC_STREAM_H

#include "columnar/batch.h"

struct stream;

struct stream_ops {
    /* *out = NULL at the end. */
    kith_error *(*next)(struct stream *stream, struct batch **out);
    void (*free)(struct stream *stream);
};

/* First member of every stream's own struct. */
struct stream {
    const struct stream_ops *ops;
    struct schema *schema; /* borrowed from the plan */
    bool ended;            /* for stream_next */
};

static inline kith_error *_must_check_ stream_next(struct stream *stream, struct batch **out)
{
    *out = NULL;
    if (stream->ended)
        return NULL;
    kith_error *error = stream->ops->next(stream, out);
    stream->ended = error != NULL || *out == NULL;
    return error;
}

static inline void stream_free(struct stream *stream)
{
    if (stream != NULL)
        stream->ops->free(stream);
}
DEFINE_CLEANUP(stream_free, struct stream)

#endif

/*
 * Streams: pull sources of batches. `next` gives a batch, the end, or an error, and may suspend the fiber. A stream
 * belongs to one fiber at a time. After the end or an error it gives the end for ever. Freeing it early is allowed and
 * stops all work below it.
 *
 * Cooperation is in stream_next. A stream that hands out what it did not get from an input in the same pull (a source,
 * an exchange, a private buffer) says so in its operations, and each of its batches is charged to the budget; a stream
 * that passes on what it pulls, changed or not, charges nothing, since its input has. Work between two batches that
 * pulls nothing is charged where it is done, by coop_charge.
 */
#ifndef KITH_EXEC_STREAM_H
#define KITH_EXEC_STREAM_H

#include "columnar/batch.h"
#include "runtime/coop.h"
#include "runtime/turns.h"

struct stream;

struct stream_ops {
    /* *out = NULL at the end. */
    kith_error *(*next)(struct stream *stream, struct batch **out);
    void (*free)(struct stream *stream);
    bool hands_out; /* each batch is charged */
};

/* First member of every stream's own struct. */
struct stream {
    const struct stream_ops *ops;
    struct schema *schema; /* borrowed from the plan */
    bool ended;            /* for stream_next, as is `coop` */
    struct coop coop;
    struct turn_account *turns; /* of the operator, set by operator_execute; NULL: its pulls count as the consumer's */
};

/* One batch of a stream that hands out, with its unit. */
kith_error *stream_hand_out(struct stream *stream, struct batch **out) _must_check_;

static inline kith_error *_must_check_ stream_next(struct stream *stream, struct batch **out)
{
    *out = NULL;
    if (stream->ended)
        return NULL;
    struct turn_account *consumers = stream->turns == NULL ? NULL : fiber_enter(stream->turns);
    kith_error *error = stream->ops->hands_out ? stream_hand_out(stream, out) : stream->ops->next(stream, out);
    if (stream->turns != NULL)
        fiber_leave(consumers);
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

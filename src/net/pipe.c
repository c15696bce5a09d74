#include "net/pipe.h"

#include "base/alloc.h"
#include "base/refcount.h"
#include "runtime/fiber.h"
#include "runtime/mutex.h"
#include "runtime/sync.h"

#include <stdio.h>
#include <string.h>

/* One direction: a ring of bytes. */
struct pipe {
    size_t capacity;
    size_t first;
    size_t count;
    bool write_ended; /* readers see the end once it is empty */
    bool read_ended;  /* writers fail */
    struct wait_list readers;
    struct wait_list writers;
    uint8_t *bytes;
};

/* Both directions, shared by the ends. */
struct pipe_pair {
    struct refcount refs;
    pthread_mutex_t mutex;
    struct pipe pipes[2];
};

struct pipe_end {
    struct transport base;
    struct pipe_pair *pair; /* a reference */
    struct pipe *inbound;
    struct pipe *outbound;
};

static void pair_unref(struct pipe_pair *pair)
{
    if (!refcount_drop(&pair->refs))
        return;
    for (size_t i = 0; i < ARRAY_SIZE(pair->pipes); i++)
        free(pair->pipes[i].bytes);
    pthread_mutex_destroy(&pair->mutex);
    free(pair);
}
DEFINE_CLEANUP(pair_unref, struct pipe_pair)

static size_t ring_take(struct pipe *pipe, uint8_t *out, size_t size)
{
    size_t n = MIN(size, pipe->count);
    size_t until_wrap = MIN(n, pipe->capacity - pipe->first);
    memcpy(out, pipe->bytes + pipe->first, until_wrap);
    if (n > until_wrap)
        memcpy(out + until_wrap, pipe->bytes, n - until_wrap);
    pipe->first = (pipe->first + n) % pipe->capacity;
    pipe->count -= n;
    return n;
}

static size_t ring_put(struct pipe *pipe, const uint8_t *bytes, size_t size)
{
    size_t n = MIN(size, pipe->capacity - pipe->count);
    size_t end = (pipe->first + pipe->count) % pipe->capacity;
    size_t until_wrap = MIN(n, pipe->capacity - end);
    memcpy(pipe->bytes + end, bytes, until_wrap);
    if (n > until_wrap)
        memcpy(pipe->bytes, bytes + until_wrap, n - until_wrap);
    pipe->count += n;
    return n;
}

static kith_error *end_read(struct transport *transport, void *out, size_t size, int64_t deadline_ns, size_t *got)
{
    struct pipe_end *end = CONTAINER_OF(transport, struct pipe_end, base);
    struct pipe *pipe = end->inbound;
    TRY(coop_charge(1));
    HOLD_MUTEX(&end->pair->mutex);
    while (pipe->count == 0 && !pipe->write_ended && !pipe->read_ended)
        TRY(wait_list_wait(&pipe->readers, &end->pair->mutex, deadline_ns));
    *got = ring_take(pipe, out, size);
    wait_list_wake_one(&pipe->writers);
    return NULL;
}

static kith_error *write_piece(struct pipe_end *end, const uint8_t *bytes, size_t size, int64_t deadline_ns)
{
    struct pipe *pipe = end->outbound;
    HOLD_MUTEX(&end->pair->mutex);
    while (size > 0) {
        if (pipe->read_ended || pipe->write_ended)
            return error_new(KITH_ERROR_UNAVAILABLE, "the connection to %s was lost", end->base.peer);
        size_t n = ring_put(pipe, bytes, size);
        bytes += n;
        size -= n;
        if (n > 0)
            wait_list_wake_one(&pipe->readers);
        else
            TRY(wait_list_wait(&pipe->writers, &end->pair->mutex, deadline_ns));
    }
    return NULL;
}

static kith_error *end_write(struct transport *transport, struct iovec *pieces, size_t count, int64_t deadline_ns)
{
    struct pipe_end *end = CONTAINER_OF(transport, struct pipe_end, base);
    TRY(coop_charge(1));
    for (size_t i = 0; i < count; i++)
        TRY(write_piece(end, pieces[i].iov_base, pieces[i].iov_len, deadline_ns));
    return NULL;
}

static void end_shutdown(struct transport *transport, enum transport_side side)
{
    struct pipe_end *end = CONTAINER_OF(transport, struct pipe_end, base);
    HOLD_MUTEX(&end->pair->mutex);
    end->inbound->read_ended = true;
    if (side == TRANSPORT_BOTH)
        end->outbound->write_ended = true;
    for (size_t i = 0; i < ARRAY_SIZE(end->pair->pipes); i++) {
        wait_list_wake_all(&end->pair->pipes[i].readers);
        wait_list_wake_all(&end->pair->pipes[i].writers);
    }
}

static void end_free(struct transport *transport)
{
    struct pipe_end *end = CONTAINER_OF(transport, struct pipe_end, base);
    end_shutdown(transport, TRANSPORT_BOTH);
    pair_unref(end->pair);
    free(end);
}

static const struct transport_ops pipe_ops = {
    .read = end_read,
    .write = end_write,
    .shutdown = end_shutdown,
    .free = end_free,
};

static kith_error *end_new(struct pipe_pair *pair, size_t side, const char *name, struct transport **out)
{
    struct pipe_end *end = NULL;
    TRY(NEW(&end));
    refcount_take(&pair->refs);
    end->base.ops = &pipe_ops;
    snprintf(end->base.peer, sizeof end->base.peer, "%s", name);
    end->pair = pair;
    end->inbound = &pair->pipes[side];
    end->outbound = &pair->pipes[1 - side];
    *out = &end->base;
    return NULL;
}

kith_error *pipe_pair_new(size_t capacity, const char *name, struct transport **out_a, struct transport **out_b)
{
    ASSERT(capacity > 0);
    _cleanup_(pair_unref) struct pipe_pair *pair = NULL;
    TRY(NEW(&pair));
    refcount_init(&pair->refs);
    pthread_mutex_init(&pair->mutex, NULL);
    for (size_t i = 0; i < ARRAY_SIZE(pair->pipes); i++) {
        pair->pipes[i].capacity = capacity;
        TRY(NEW_ARRAY(&pair->pipes[i].bytes, capacity));
    }
    _cleanup_(transport_free) struct transport *a = NULL;
    TRY(end_new(pair, 0, name, &a));
    TRY(end_new(pair, 1, name, out_b));
    *out_a = TAKE(a);
    return NULL;
}

/*
 * A bounded queue of pointers between fibers: any number of senders and receivers. Sending to a full channel and
 * receiving from an empty one suspend the fiber. Closing wakes everyone: what is queued can still be received.
 * Thread-safe; reference-counted. Usable from threads outside the runtime only through the try_ calls.
 */
#ifndef KITH_RUNTIME_CHANNEL_H
#define KITH_RUNTIME_CHANNEL_H

#include "base/error.h"
#include "runtime/fiber_errno.h"

#include <stdint.h>

struct channel;

/* `free_item` frees items that are never received; NULL when they own nothing. */
kith_error *channel_new(size_t capacity, void (*free_item)(void *item), struct channel **out) _must_check_;
struct channel *channel_ref(struct channel *channel);
void channel_unref(struct channel *channel);
DEFINE_CLEANUP(channel_unref, struct channel)

/* Takes the item on success. *sent is false when the channel is closed; then, and on error, the caller keeps the item.
 */
kith_error *channel_send(struct channel *channel, void *take_item, bool *sent) _must_check_;

/* *out is NULL when the channel is closed and empty. */
kith_error *channel_recv(struct channel *channel, void **out) _must_check_;

/* As channel_recv, but gives TIMEOUT at `deadline_ns` of the runtime's monotonic clock. */
kith_error *channel_recv_until(struct channel *channel, int64_t deadline_ns, void **out) _must_check_;

/* Never wait. False when full or closed; false when empty. */
bool channel_try_send(struct channel *channel, void *take_item);
bool channel_try_recv(struct channel *channel, void **out);

/* No more sends. With an error, receivers get a copy of it once the queue is drained. Idempotent: the first wins. */
void channel_close(struct channel *channel, kith_error *take_error);
bool channel_is_closed(const struct channel *channel);

#endif

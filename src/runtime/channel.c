#include "runtime/channel.h"

#include "base/alloc.h"
#include "base/refcount.h"
#include "runtime/mutex.h"
#include "runtime/sync.h"

struct channel {
    struct refcount refs;
    void (*free_item)(void *item);
    size_t capacity;

    pthread_mutex_t mutex; /* guards the rest */
    struct wait_list senders;
    struct wait_list receivers;
    bool closed;
    kith_error *error; /* what receivers are told at the end; NULL for an ordinary end */
    size_t first;      /* index of the oldest item */
    size_t count;
    void *items[]; /* a ring */
};

kith_error *channel_new(size_t capacity, void (*free_item)(void *item), struct channel **out)
{
    ASSERT(capacity > 0);
    size_t bytes;
    if (__builtin_mul_overflow(capacity, sizeof(void *), &bytes) ||
        __builtin_add_overflow(bytes, sizeof(struct channel), &bytes))
        return error_out_of_memory();
    struct channel *channel = NULL;
    TRY(alloc_zeroed(1, bytes, &channel));
    refcount_init(&channel->refs);
    channel->free_item = free_item;
    channel->capacity = capacity;
    pthread_mutex_init(&channel->mutex, NULL);
    *out = channel;
    return NULL;
}

struct channel *channel_ref(struct channel *channel)
{
    refcount_take(&channel->refs);
    return channel;
}

void channel_unref(struct channel *channel)
{
    if (channel == NULL || !refcount_drop(&channel->refs))
        return;
    for (size_t i = 0; i < channel->count && channel->free_item != NULL; i++)
        channel->free_item(channel->items[(channel->first + i) % channel->capacity]);
    error_free(channel->error);
    pthread_mutex_destroy(&channel->mutex);
    free(channel);
}

/* These two have the mutex held and room, or an item. */

static void put(struct channel *channel, void *item)
{
    channel->items[(channel->first + channel->count) % channel->capacity] = item;
    channel->count++;
    wait_list_wake_one(&channel->receivers);
}

static void *get(struct channel *channel)
{
    void *item = channel->items[channel->first];
    channel->first = (channel->first + 1) % channel->capacity;
    channel->count--;
    wait_list_wake_one(&channel->senders);
    return item;
}

kith_error *channel_send(struct channel *channel, void *take_item, bool *sent)
{
    *sent = false;
    HOLD_MUTEX(&channel->mutex);
    while (channel->count == channel->capacity && !channel->closed)
        TRY(wait_list_wait(&channel->senders, &channel->mutex, WAIT_FOREVER));
    if (channel->closed)
        return NULL;
    put(channel, take_item);
    *sent = true;
    return NULL;
}

kith_error *channel_recv(struct channel *channel, void **out)
{
    return channel_recv_until(channel, WAIT_FOREVER, out);
}

kith_error *channel_recv_until(struct channel *channel, int64_t deadline_ns, void **out)
{
    *out = NULL;
    HOLD_MUTEX(&channel->mutex);
    while (channel->count == 0 && !channel->closed)
        TRY(wait_list_wait(&channel->receivers, &channel->mutex, deadline_ns));
    if (channel->count == 0)
        return error_copy(channel->error);
    *out = get(channel);
    return NULL;
}

bool channel_try_send(struct channel *channel, void *take_item)
{
    HOLD_MUTEX(&channel->mutex);
    if (channel->closed || channel->count == channel->capacity)
        return false;
    put(channel, take_item);
    return true;
}

bool channel_try_recv(struct channel *channel, void **out)
{
    HOLD_MUTEX(&channel->mutex);
    if (channel->count == 0)
        return false;
    *out = get(channel);
    return true;
}

void channel_close(struct channel *channel, kith_error *take_error)
{
    _cleanup_(error_free) kith_error *error = take_error;
    HOLD_MUTEX(&channel->mutex);
    if (channel->closed)
        return;
    channel->closed = true;
    channel->error = TAKE(error);
    wait_list_wake_all(&channel->senders);
    wait_list_wake_all(&channel->receivers);
}

bool channel_is_closed(const struct channel *channel)
{
    struct channel *locked = (struct channel *)(uintptr_t)channel; /* its mutex is not part of its value */
    HOLD_MUTEX(&locked->mutex);
    return channel->closed;
}

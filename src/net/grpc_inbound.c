#include "net/grpc_inbound.h"

#include "base/alloc.h"
#include "base/limits.h"

#include <string.h>

enum {
    SMALL_MESSAGE = 4096,
    SMALL_SEGMENT = 16384,
    /* A message is given so much at first, and more as it comes, so that a length is not believed before its bytes. */
    FIRST_CAPACITY = 4 * 1024 * 1024,
};

/* One large message, or several small ones with their prefixes, the last of them perhaps incomplete. */
struct inbound_segment {
    struct link link;
    size_t length;   /* bytes that have come */
    size_t credited; /* of them, given as credit in advance */

    struct buffer *message; /* NULL for small ones */
    size_t message_size;

    size_t position; /* of the oldest small message that was not taken; an emptied segment stays while it is alone */
    uint8_t bytes[];
};

static void segment_free(struct inbound_segment *segment)
{
    buffer_unref(segment->message);
    free(segment);
}
DEFINE_CLEANUP(segment_free, struct inbound_segment)

static size_t declared_size(const uint8_t *prefix)
{
    return (size_t)prefix[1] << 24 | (size_t)prefix[2] << 16 | (size_t)prefix[3] << 8 | prefix[4];
}

static struct inbound_segment *segment_of(struct link *link)
{
    return link == NULL ? NULL : CONTAINER_OF(link, struct inbound_segment, link);
}

static void remove_first(struct grpc_inbound *inbound)
{
    segment_free(segment_of(list_remove_first(&inbound->segments)));
}

static kith_error *check_prefix(const struct grpc_inbound *inbound, size_t size)
{
    size_t limit = inbound->message_limit == 0 ? LIMIT_GRPC_MESSAGE_BYTES : inbound->message_limit;
    if (inbound->prefix[0] == 1)
        return error_new(KITH_ERROR_NOT_IMPLEMENTED, "a compressed gRPC message came, only identity is supported");
    if (inbound->prefix[0] != 0)
        return error_new(KITH_ERROR_PROTOCOL, "a gRPC message begins with the byte %u, expected 0", inbound->prefix[0]);
    if (size > limit)
        return error_new(KITH_ERROR_LIMIT, "a gRPC message of %zu bytes is larger than %zu (limit GRPC_MESSAGE_BYTES)",
                         size, limit);
    return NULL;
}

/* Grows the buffer of a large message to hold `needed` bytes. */
static kith_error *grow(struct inbound_segment *segment, size_t needed)
{
    size_t capacity = segment->message == NULL ? 0 : segment->message->size;
    if (needed <= capacity)
        return NULL;
    capacity = MIN(segment->message_size, MAX(capacity * 2, (size_t)FIRST_CAPACITY));
    capacity = MAX(capacity, needed);
    struct buffer *larger;
    TRY(buffer_new(capacity, &larger));
    if (segment->message != NULL)
        memcpy(larger->data, segment->message->data, segment->length);
    buffer_unref(segment->message);
    segment->message = larger;
    return NULL;
}

static kith_error *begin_large(struct grpc_inbound *inbound, size_t size)
{
    _cleanup_(segment_free) struct inbound_segment *segment = NULL;
    TRY(NEW(&segment));
    segment->message_size = size;
    TRY(grow(segment, MIN(size, (size_t)FIRST_CAPACITY)));
    const struct inbound_segment *last = segment_of(inbound->segments.last);
    if (last != NULL && last->message == NULL && last->length == 0)
        remove_first(inbound);
    list_append(&inbound->segments, &TAKE(segment)->link);
    return NULL;
}

/* Makes the last segment one with room for a small message; begins it with its prefix. */
static kith_error *begin_small(struct grpc_inbound *inbound, size_t size)
{
    struct inbound_segment *last = segment_of(inbound->segments.last);
    if (last == NULL || last->message != NULL || last->length + GRPC_PREFIX_BYTES + size > SMALL_SEGMENT) {
        TRY(alloc_zeroed(1, sizeof *last + SMALL_SEGMENT, &last));
        list_append(&inbound->segments, &last->link);
    }
    memcpy(last->bytes + last->length, inbound->prefix, GRPC_PREFIX_BYTES);
    last->length += GRPC_PREFIX_BYTES;
    return NULL;
}

static kith_error *begin_message(struct grpc_inbound *inbound)
{
    size_t size = declared_size(inbound->prefix);
    TRY(check_prefix(inbound, size));
    TRY(size <= SMALL_MESSAGE ? begin_small(inbound, size) : begin_large(inbound, size));
    inbound->missing = size;
    return NULL;
}

static kith_error *add_payload(struct grpc_inbound *inbound, const uint8_t *bytes, size_t size)
{
    struct inbound_segment *segment = segment_of(inbound->segments.last);
    uint8_t *to = segment->bytes;
    if (segment->message != NULL) {
        TRY(grow(segment, segment->length + size));
        to = segment->message->data;
    }
    memcpy(to + segment->length, bytes, size);
    segment->length += size;
    inbound->missing -= size;
    return NULL;
}

kith_error *grpc_inbound_feed(struct grpc_inbound *inbound, const uint8_t *bytes, size_t size)
{
    inbound->held += size;
    while (size > 0) {
        if (inbound->prefix_length < GRPC_PREFIX_BYTES) {
            inbound->prefix[inbound->prefix_length++] = *bytes++;
            size--;
            if (inbound->prefix_length < GRPC_PREFIX_BYTES)
                continue;
            TRY(begin_message(inbound));
        }
        size_t n = MIN(size, inbound->missing);
        if (n > 0)
            TRY(add_payload(inbound, bytes, n));
        bytes += n;
        size -= n;
        if (inbound->missing == 0) {
            inbound->prefix_length = 0;
            inbound->ready++;
        }
    }
    return NULL;
}

static kith_error *take_small(struct grpc_inbound *inbound, struct buffer **out)
{
    struct inbound_segment *segment = segment_of(inbound->segments.first);
    const uint8_t *at = segment->bytes + segment->position;
    size_t size = declared_size(at);
    TRY(buffer_new(size, out));
    if (size > 0)
        memcpy((*out)->data, at + GRPC_PREFIX_BYTES, size);
    segment->position += GRPC_PREFIX_BYTES + size;
    if (segment->position < segment->length)
        return NULL;
    if (segment->link.next != NULL)
        remove_first(inbound);
    else
        segment->position = segment->length = 0; /* kept for the next ones */
    return NULL;
}

kith_error *grpc_inbound_take(struct grpc_inbound *inbound, struct buffer **out, size_t *credit)
{
    ASSERT(inbound->ready > 0);
    struct inbound_segment *segment = segment_of(inbound->segments.first);
    size_t credited = 0;
    if (segment->message != NULL) {
        credited = segment->credited;
        segment->message->size = segment->message_size;
        *out = TAKE(segment->message);
        remove_first(inbound);
    } else {
        TRY(take_small(inbound, out));
    }
    inbound->ready--;
    *credit = GRPC_PREFIX_BYTES + (*out)->size - credited;
    inbound->held -= *credit;
    return NULL;
}

size_t grpc_inbound_advance_credit(struct grpc_inbound *inbound)
{
    struct inbound_segment *segment = segment_of(inbound->segments.last);
    if (segment == NULL || segment->message == NULL || inbound->missing == 0)
        return 0;
    size_t credit = segment->length - segment->credited;
    segment->credited = segment->length;
    inbound->held -= credit;
    return credit;
}

bool grpc_inbound_is_partial(const struct grpc_inbound *inbound)
{
    return inbound->prefix_length > 0;
}

void grpc_inbound_reset(struct grpc_inbound *inbound)
{
    while (!list_is_empty(&inbound->segments))
        remove_first(inbound);
    inbound->ready = 0;
    inbound->held = 0;
}

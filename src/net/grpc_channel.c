#include "net/grpc_channel.h"

#include "net/socket.h"

static const int64_t default_connect_timeout_ns = 2 * NANOSECONDS_PER_SECOND;

/* A connection with the fiber that serves it. */
struct channel_link {
    struct channel_link *next;
    struct http2_connection *connection;
    struct fiber *fiber;
    atomic_bool ended; /* the fiber is about to end: joining it takes no time */
};

static kith_error *dial_socket(void *context, const char *target, int64_t deadline_ns, struct transport **out)
{
    return socket_connect(target, deadline_ns, out);
}

static void channel_free(struct grpc_channel *channel)
{
    pthread_mutex_destroy(&channel->mutex);
    cancel_token_unref(channel->service);
    free(channel->target);
    free(channel);
}
DEFINE_CLEANUP(channel_free, struct grpc_channel)

kith_error *grpc_channel_open(struct runtime *runtime, const char *target, const struct grpc_channel_options *options,
                              struct grpc_channel **out)
{
    _cleanup_(channel_free) struct grpc_channel *channel = NULL;
    TRY(NEW(&channel));
    refcount_init(&channel->refs);
    pthread_mutex_init(&channel->mutex, NULL);
    channel->runtime = runtime;
    if (options != NULL)
        channel->options = *options;
    if (channel->options.connect_timeout_ns == 0)
        channel->options.connect_timeout_ns = default_connect_timeout_ns;
    if (channel->options.dial == NULL)
        channel->options.dial = dial_socket;
    struct http2_options *http2 = &channel->options.http2;
    http2->server = false;
    http2->accept = NULL;
    http2->settle = NULL;
    if (http2->peer_noun == NULL)
        http2->peer_noun = "worker";
    TRY(alloc_string(target, strlen(target), &channel->target));
    TRY(cancel_token_new(NULL, &channel->service));
    *out = TAKE(channel);
    return NULL;
}

struct grpc_channel *grpc_channel_ref(struct grpc_channel *channel)
{
    refcount_take(&channel->refs);
    return channel;
}

const char *grpc_channel_target(const struct grpc_channel *channel)
{
    return channel->target;
}

int64_t grpc_channel_now(const struct grpc_channel *channel)
{
    return clock_monotonic_ns(runtime_clock(channel->runtime));
}

static kith_error *serve_link(void *argument)
{
    struct channel_link *link = argument;
    /* Whoever waits on a stream has been told why the connection ended. */
    error_free(http2_connection_run(link->connection));
    atomic_store(&link->ended, true);
    return NULL;
}

static void link_free(struct channel_link *link)
{
    if (link->fiber != NULL)
        error_free(fiber_join(link->fiber));
    http2_connection_unref(link->connection);
    free(link);
}

/* Takes the links whose connections are over out of the list. */
static struct channel_link *take_ended(struct grpc_channel *channel)
{
    struct channel_link *ended = NULL;
    struct channel_link **at = &channel->links;
    while (*at != NULL) {
        struct channel_link *link = *at;
        if (!atomic_load(&link->ended)) {
            at = &link->next;
            continue;
        }
        *at = link->next;
        link->next = ended;
        ended = link;
    }
    return ended;
}

static void free_links(struct channel_link *links)
{
    while (links != NULL) {
        struct channel_link *next = links->next;
        link_free(links);
        links = next;
    }
}

static kith_error *dial(struct grpc_channel *channel, int64_t deadline_ns, struct transport **out)
{
    int64_t until = grpc_channel_now(channel) + channel->options.connect_timeout_ns;
    if (deadline_ns >= 0)
        until = MIN(until, deadline_ns);
    kith_error *error = channel->options.dial(channel->options.dial_context, channel->target, until, out);
    if (error == NULL)
        return NULL;
    const char *noun = channel->options.http2.peer_noun;
    enum kith_code code = kith_error_code(error);
    if (code != KITH_ERROR_UNAVAILABLE && code != KITH_ERROR_TIMEOUT)
        return error;
    /* A peer that does not answer is not there, whatever the caller's own deadline is. */
    char why[512];
    error_describe(error, why, sizeof why);
    error_free(error);
    return error_hint(error_new(KITH_ERROR_UNAVAILABLE, "%s %s cannot be reached: %s", noun, channel->target, why),
                      "is it running, and is this its address?");
}

static kith_error *make_link(struct grpc_channel *channel, int64_t deadline_ns, struct channel_link **out)
{
    _cleanup_(transport_free) struct transport *transport = NULL;
    TRY(dial(channel, deadline_ns, &transport));
    _cleanup_free_ struct channel_link *link = NULL;
    TRY(NEW(&link));
    _cleanup_(http2_connection_unref) struct http2_connection *connection = NULL;
    TRY(http2_connection_new(transport, &channel->options.http2, &connection));
    transport = NULL;
    link->connection = connection;
    struct fiber_options options = {.name = "grpc channel", .cancel = channel->service};
    TRY(fiber_spawn(channel->runtime, &options, serve_link, link, &link->fiber));
    connection = NULL;
    *out = TAKE(link);
    return NULL;
}

static kith_error *is_closed(const struct grpc_channel *channel)
{
    return error_new(KITH_ERROR_UNAVAILABLE, "the channel to %s %s has been closed", channel->options.http2.peer_noun,
                     channel->target);
}

/* Waits while another caller connects. *out is NULL when the caller is to connect. */
static kith_error *current_connection(struct grpc_channel *channel, int64_t deadline_ns, struct http2_connection **out,
                                      struct channel_link **out_ended)
{
    HOLD_MUTEX(&channel->mutex);
    for (;;) {
        if (channel->closed)
            return is_closed(channel);
        if (channel->current != NULL && http2_connection_usable(channel->current->connection)) {
            *out = http2_connection_ref(channel->current->connection);
            return NULL;
        }
        channel->current = NULL;
        if (!channel->connecting) {
            channel->connecting = true;
            *out_ended = take_ended(channel);
            return NULL;
        }
        TRY(wait_list_wait(&channel->connected, &channel->mutex, deadline_ns));
    }
}

kith_error *grpc_channel_connection(struct grpc_channel *channel, int64_t deadline_ns, struct http2_connection **out)
{
    struct channel_link *ended = NULL;
    *out = NULL;
    TRY(current_connection(channel, deadline_ns, out, &ended));
    free_links(ended);
    if (*out != NULL)
        return NULL;

    struct channel_link *link = NULL;
    kith_error *error = make_link(channel, deadline_ns, &link);
    HOLD_MUTEX(&channel->mutex);
    channel->connecting = false;
    wait_list_wake_all(&channel->connected);
    TRY(error);
    link->next = channel->links;
    channel->links = link;
    if (channel->closed) {
        http2_connection_shutdown(link->connection, NULL);
        return is_closed(channel);
    }
    channel->current = link;
    *out = http2_connection_ref(link->connection);
    return NULL;
}

kith_error *grpc_channel_connect(struct grpc_channel *channel)
{
    _cleanup_(http2_connection_unref) struct http2_connection *connection = NULL;
    return grpc_channel_connection(channel, WAIT_FOREVER, &connection);
}

/* Marks it closed, and takes all links, which are told to end. */
static struct channel_link *close_links(struct grpc_channel *channel)
{
    HOLD_MUTEX(&channel->mutex);
    channel->closed = true;
    channel->current = NULL;
    wait_list_wake_all(&channel->connected);
    for (struct channel_link *link = channel->links; link != NULL; link = link->next)
        http2_connection_shutdown(link->connection, NULL);
    return TAKE(channel->links);
}

void grpc_channel_close(struct grpc_channel *channel)
{
    free_links(close_links(channel));
}

void grpc_channel_unref(struct grpc_channel *channel)
{
    if (channel == NULL || !refcount_drop(&channel->refs))
        return;
    grpc_channel_close(channel);
    channel_free(channel);
}

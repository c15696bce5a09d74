#include "net/grpc_server.h"

#include "base/limits.h"
#include "base/log.h"
#include "net/socket.h"

struct server_listener {
    struct server_listener *next;
    struct grpc_server *server;
    struct listener *listener;
    struct fiber *fiber;
};

static void server_release(struct grpc_server *server)
{
    cancel_token_unref(server->calls);
    cancel_token_unref(server->service);
    pthread_mutex_destroy(&server->mutex);
    free(server->methods);
    free(server);
}
DEFINE_CLEANUP(server_release, struct grpc_server)

kith_error *grpc_server_new(struct runtime *runtime, const struct grpc_server_options *options,
                            struct grpc_server **out)
{
    _cleanup_(server_release) struct grpc_server *server = NULL;
    TRY(NEW(&server));
    pthread_mutex_init(&server->mutex, NULL);
    server->runtime = runtime;
    server->max_connections = options->max_connections == 0 ? LIMIT_CONNECTIONS : options->max_connections;
    server->http2 = options->http2;
    server->http2.server = true;
    if (server->http2.peer_noun == NULL)
        server->http2.peer_noun = "client";
    if (server->http2.max_streams == 0)
        server->http2.max_streams = LIMIT_HTTP2_STREAMS;
    TRY(NEW_ARRAY(&server->methods, options->method_count));
    for (size_t i = 0; i < options->method_count; i++)
        server->methods[i] = options->methods[i];
    server->method_count = options->method_count;
    TRY(cancel_token_new(NULL, &server->service));
    TRY(cancel_token_new(NULL, &server->calls));
    *out = TAKE(server);
    return NULL;
}

const struct grpc_method *grpc_server_find_method(const struct grpc_server *server, struct str path)
{
    for (size_t i = 0; i < server->method_count; i++)
        if (str_equal(path, str_of(server->methods[i].path)))
            return &server->methods[i];
    return NULL;
}

/* ---- Connections ---- */

static void connection_free(struct server_connection *connection)
{
    if (connection->fiber != NULL)
        error_free(fiber_join(connection->fiber));
    if (connection->http2 != NULL)
        http2_connection_unref(connection->http2);
    free(connection);
}
DEFINE_CLEANUP(connection_free, struct server_connection)

static void free_connections(struct server_connection *connections)
{
    while (connections != NULL) {
        struct server_connection *next = connections->next;
        connection_free(connections);
        connections = next;
    }
}

static kith_error *serve_connection(void *argument)
{
    struct server_connection *connection = argument;
    kith_error *error = http2_connection_run(connection->http2);
    if (error != NULL) {
        char text[512];
        log_info("%s", error_describe(error, text, sizeof text));
        error_free(error);
    }
    grpc_server_join_calls(connection);
    atomic_store(&connection->ended, true);
    return NULL;
}

/* Takes the connections that are over out of the list. */
static struct server_connection *take_ended(struct grpc_server *server)
{
    HOLD_MUTEX(&server->mutex);
    struct server_connection *ended = NULL;
    struct server_connection **at = &server->connections;
    while (*at != NULL) {
        struct server_connection *connection = *at;
        if (!atomic_load(&connection->ended)) {
            at = &connection->next;
            continue;
        }
        *at = connection->next;
        server->connection_count--;
        connection->next = ended;
        ended = connection;
    }
    return ended;
}

/* The list's mutex is held while the fiber starts, so that closing the server sees either both or none. */
static kith_error *start_connection(struct grpc_server *server, struct server_connection *connection)
{
    HOLD_MUTEX(&server->mutex);
    if (server->closing)
        return error_new(KITH_ERROR_UNAVAILABLE, "the server is closing");
    if (server->connection_count >= server->max_connections)
        return error_new(KITH_ERROR_LIMIT, "%s is one connection more than %zu (limit CONNECTIONS)",
                         http2_connection_peer(connection->http2), server->max_connections);
    struct fiber_options options = {.name = "grpc connection", .cancel = server->service};
    TRY(fiber_spawn(server->runtime, &options, serve_connection, connection, &connection->fiber));
    connection->next = server->connections;
    server->connections = connection;
    server->connection_count++;
    return NULL;
}

kith_error *grpc_server_serve(struct grpc_server *server, struct transport *take_transport)
{
    _cleanup_(transport_free) struct transport *transport = take_transport;
    free_connections(take_ended(server));
    _cleanup_(connection_free) struct server_connection *connection = NULL;
    TRY(NEW(&connection));
    connection->server = server;
    struct http2_options options = server->http2;
    options.accept = grpc_server_accept_call;
    options.settle = grpc_server_settle;
    options.context = connection;
    TRY(http2_connection_new(transport, &options, &connection->http2));
    transport = NULL;
    TRY(start_connection(server, connection));
    connection = NULL;
    return NULL;
}

/* ---- Listening ---- */

static void warn(const struct server_listener *listener, kith_error *take_error)
{
    char text[512];
    log_warn("%s: %s", listener_address(listener->listener), error_describe(take_error, text, sizeof text));
    error_free(take_error);
}

static kith_error *accept_loop(void *argument)
{
    struct server_listener *listener = argument;
    for (;;) {
        struct transport *transport = NULL;
        kith_error *error = listener_accept(listener->listener, &transport);
        if (error != NULL && kith_error_code(error) == KITH_ERROR_CANCELLED)
            return error;
        if (error == NULL)
            error = grpc_server_serve(listener->server, transport);
        else
            TRY(sleep_until(clock_monotonic_ns(runtime_clock(listener->server->runtime)) + NANOSECONDS_PER_SECOND));
        if (error != NULL && kith_error_code(error) != KITH_ERROR_UNAVAILABLE)
            warn(listener, error);
        else
            error_free(error);
    }
}

static void server_listener_free(struct server_listener *listener)
{
    if (listener->fiber != NULL)
        error_free(fiber_join(listener->fiber));
    if (listener->listener != NULL)
        listener_free(listener->listener);
    free(listener);
}
DEFINE_CLEANUP(server_listener_free, struct server_listener)

kith_error *grpc_server_listen(struct grpc_server *server, const char *address, const char **out_address)
{
    _cleanup_(server_listener_free) struct server_listener *listener = NULL;
    TRY(NEW(&listener));
    listener->server = server;
    TRY(listener_open(address, &listener->listener));
    struct fiber_options options = {.name = "grpc listener", .cancel = server->service};
    HOLD_MUTEX(&server->mutex);
    TRY(fiber_spawn(server->runtime, &options, accept_loop, listener, &listener->fiber));
    if (out_address != NULL)
        *out_address = listener_address(listener->listener);
    listener->next = server->listeners;
    server->listeners = TAKE(listener);
    return NULL;
}

/* ---- Ending ---- */

size_t grpc_server_live_calls(struct grpc_server *server)
{
    return atomic_load(&server->live_calls);
}

/* Stops listening. The listeners stay, for their addresses, until the server is freed. */
static void end_listeners(struct grpc_server *server)
{
    HOLD_MUTEX(&server->mutex);
    for (struct server_listener *listener = server->listeners; listener != NULL; listener = listener->next)
        listener_shutdown(listener->listener);
}

static size_t drain_connections(struct grpc_server *server)
{
    HOLD_MUTEX(&server->mutex);
    size_t busy = 0;
    for (struct server_connection *c = server->connections; c != NULL; c = c->next) {
        http2_connection_drain(c->http2);
        busy += http2_connection_streams(c->http2);
    }
    return busy + atomic_load(&server->live_calls);
}

kith_error *grpc_server_drain(struct grpc_server *server, int64_t deadline_ns)
{
    static const int64_t look_again_ns = 10 * NANOSECONDS_PER_MILLISECOND;
    const struct clock *clock = runtime_clock(server->runtime);
    end_listeners(server);
    for (;;) {
        if (drain_connections(server) == 0)
            return NULL;
        int64_t now = clock_monotonic_ns(clock);
        if (deadline_ns >= 0 && now >= deadline_ns)
            return error_new(KITH_ERROR_TIMEOUT, "%zu calls did not end in time", grpc_server_live_calls(server));
        TRY(sleep_until(now + look_again_ns));
    }
}

static struct server_connection *end_connections(struct grpc_server *server)
{
    HOLD_MUTEX(&server->mutex);
    server->closing = true;
    for (struct server_connection *c = server->connections; c != NULL; c = c->next)
        http2_connection_shutdown(c->http2, error_new(KITH_ERROR_UNAVAILABLE, "the server is closing"));
    return TAKE(server->connections);
}

void grpc_server_free(struct grpc_server *server)
{
    if (server == NULL)
        return;
    end_listeners(server);
    cancel_token_cancel(server->calls, error_new(KITH_ERROR_UNAVAILABLE, "the server is closing"));
    free_connections(end_connections(server));
    while (server->listeners != NULL) {
        struct server_listener *next = server->listeners->next;
        server_listener_free(server->listeners);
        server->listeners = next;
    }
    server_release(server);
}

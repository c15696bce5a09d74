#include "cluster/cluster.h"

#include "base/alloc.h"
#include "base/limits.h"
#include "net/address.h"
#include "net/grpc.h"
#include "runtime/fiber.h"
#include "wire/worker_messages.h"
#include "wire/worker_status.h"

#include <inttypes.h>

struct cluster_worker {
    char *address;
    struct grpc_channel *channel;
    uint64_t capabilities;
    size_t processors;
};

struct cluster {
    size_t count;
    struct cluster_worker *workers;
};

struct joining {
    struct runtime *runtime;
    const struct settings *settings;
    kith_error *(*dial)(void *context, const char *target, int64_t deadline_ns, struct transport **out);
    void *dial_context;
    struct cluster_worker *worker;
    struct fiber *fiber;
};

/* The transport's errors say who cannot be reached and why. */
static kith_error *not_there(const struct cluster_worker *worker, kith_error *take_cause)
{
    enum kith_code code = take_cause == NULL ? KITH_OK : kith_error_code(take_cause);
    if (code != KITH_ERROR_UNAVAILABLE && code != KITH_ERROR_TIMEOUT && code != KITH_ERROR_NOT_FOUND)
        return take_cause;
    return error_hint(take_cause, "Is `kith worker --listen %s` running?", worker->address);
}

static kith_error *open_channel(const struct joining *joining)
{
    const struct settings *settings = joining->settings;
    const struct grpc_channel_options options = {
        .connect_timeout_ns = settings_get(settings, SETTING_CONNECT_TIMEOUT) * NANOSECONDS_PER_MILLISECOND,
        .http2 = {.keepalive_ns = settings_get(settings, SETTING_KEEPALIVE) * NANOSECONDS_PER_MILLISECOND},
        .dial = joining->dial,
        .dial_context = joining->dial_context,
    };
    TRY(grpc_channel_open(joining->runtime, joining->worker->address, &options, &joining->worker->channel));
    return not_there(joining->worker, grpc_channel_connect(joining->worker->channel));
}

static kith_error *ask(const struct joining *joining, struct buffer **out)
{
    const struct cluster_worker *worker = joining->worker;
    int64_t deadline = clock_monotonic_ns(runtime_clock(joining->runtime)) +
                       settings_get(joining->settings, SETTING_CONNECT_TIMEOUT) * NANOSECONDS_PER_MILLISECOND;
    kith_error *error = grpc_call_unary(worker->channel, WORKER_PATH_GET_WORKER_INFO, NULL, deadline, NULL, 0, out);
    enum kith_code code = error == NULL ? KITH_OK : kith_error_code(error);
    if (code == KITH_ERROR_NOT_IMPLEMENTED || code == KITH_ERROR_PROTOCOL)
        return error_wrap(error, "%s is no Kith worker", worker->address);
    if (code == KITH_ERROR_TIMEOUT)
        return error_wrap(error, "%s takes connections but does not answer as a Kith worker would", worker->address);
    return not_there(worker, error);
}

static kith_error *check(struct cluster_worker *worker, const struct worker_info *info)
{
    if (info->protocol_version != WORKER_PROTOCOL_VERSION)
        return error_hint(error_new(KITH_ERROR_UNAVAILABLE,
                                    "worker %s (Kith %s) speaks version %" PRIu32
                                    " of the worker protocol, this program (Kith %s) version %d",
                                    worker->address, info->version, info->protocol_version, KITH_VERSION,
                                    WORKER_PROTOCOL_VERSION),
                          "Run the same version of Kith on all machines of a cluster.");
    worker->capabilities = info->capabilities;
    worker->processors = info->processors;
    return NULL;
}

static kith_error *join(void *argument)
{
    const struct joining *joining = argument;
    _cleanup_(arena_reset) struct arena arena = {0};
    _cleanup_(buffer_unref) struct buffer *answer = NULL;
    struct worker_info info;
    TRY(open_channel(joining));
    TRY(ask(joining, &answer));
    TRY(error_wrap(worker_info_decode((struct str){(const char *)answer->data, answer->size}, &arena, &info),
                   "%s is no Kith worker", joining->worker->address));
    return check(joining->worker, &info);
}

/* The first error in the order of addresses, after all have been heard. */
static kith_error *join_all(struct joining *joinings, size_t count)
{
    kith_error *error = NULL;
    const struct fiber_options options = {.name = "connect to worker"};
    for (size_t i = 0; i < count && error == NULL; i++)
        error = fiber_spawn(joinings[i].runtime, &options, join, &joinings[i], &joinings[i].fiber);
    for (size_t i = 0; i < count; i++) {
        kith_error *join_error = joinings[i].fiber == NULL ? NULL : fiber_join(joinings[i].fiber);
        if (error == NULL)
            error = join_error;
        else
            error_free(join_error);
    }
    return error;
}

kith_error *cluster_connect_by(struct runtime *runtime, const char *const *addresses, size_t count,
                               const struct settings *settings,
                               kith_error *(*dial)(void *context, const char *target, int64_t deadline_ns,
                                                   struct transport **out),
                               void *dial_context, struct cluster **out)
{
    _cleanup_(cluster_free) struct cluster *cluster = NULL;
    _cleanup_free_ struct joining *joinings = NULL;
    if (count > LIMIT_CONNECTIONS)
        return error_new(KITH_ERROR_LIMIT, "%zu workers are more than the limit CONNECTIONS of %d", count,
                         LIMIT_CONNECTIONS);
    TRY(NEW(&cluster));
    TRY(NEW_ARRAY(&cluster->workers, count));
    TRY(NEW_ARRAY(&joinings, count));
    for (; cluster->count < count; cluster->count++) {
        struct address parsed;
        struct cluster_worker *worker = &cluster->workers[cluster->count];
        TRY(address_parse(addresses[cluster->count], &parsed));
        TRY(alloc_string(addresses[cluster->count], strlen(addresses[cluster->count]), &worker->address));
        joinings[cluster->count] = (struct joining){
            .runtime = runtime, .settings = settings, .dial = dial, .dial_context = dial_context, .worker = worker};
    }
    TRY(join_all(joinings, count));
    *out = TAKE(cluster);
    return NULL;
}

kith_error *cluster_connect(struct runtime *runtime, const char *const *addresses, size_t count,
                            const struct settings *settings, struct cluster **out)
{
    return cluster_connect_by(runtime, addresses, count, settings, NULL, NULL, out);
}

void cluster_free(struct cluster *cluster)
{
    if (cluster == NULL)
        return;
    for (size_t i = 0; i < cluster->count; i++) {
        if (cluster->workers[i].channel != NULL)
            grpc_channel_close(cluster->workers[i].channel);
        grpc_channel_unref(cluster->workers[i].channel);
        free(cluster->workers[i].address);
    }
    free(cluster->workers);
    free(cluster);
}

kith_error *cluster_ask_status(const struct cluster *cluster, size_t number, int64_t deadline_ns, struct arena *arena,
                               struct worker_status *out)
{
    const struct cluster_worker *worker = &cluster->workers[number];
    _cleanup_(buffer_unref) struct buffer *answer = NULL;
    kith_error *error =
        grpc_call_unary(worker->channel, WORKER_PATH_GET_WORKER_STATUS, NULL, deadline_ns, NULL, 0, &answer);
    if (error != NULL && kith_error_code(error) == KITH_ERROR_NOT_IMPLEMENTED)
        return error_wrap(error, "worker %s is too old to count what it does", worker->address);
    TRY(error_wrap(error, "worker %s", worker->address));
    return error_wrap(worker_status_decode((struct str){(const char *)answer->data, answer->size}, arena, out),
                      "worker %s", worker->address);
}

size_t cluster_worker_count(const struct cluster *cluster)
{
    return cluster->count;
}

const char *cluster_worker_address(const struct cluster *cluster, size_t worker)
{
    return cluster->workers[worker].address;
}

struct grpc_channel *cluster_worker_channel(const struct cluster *cluster, size_t worker)
{
    return cluster->workers[worker].channel;
}

uint64_t cluster_worker_capabilities(const struct cluster *cluster, size_t worker)
{
    return cluster->workers[worker].capabilities;
}

size_t cluster_worker_processors(const struct cluster *cluster, size_t worker)
{
    return cluster->workers[worker].processors;
}

#include "cluster/worker.h"

#include "base/alloc.h"
#include "base/settings.h"
#include "cluster/task.h"
#include "plan/file_cache.h"

struct worker {
    struct worker_tasks tasks;
    struct grpc_server *server;
};

static kith_error *serve_control(struct grpc_call *call, void *context)
{
    return task_control_serve(context, call);
}

static kith_error *serve_execute(struct grpc_call *call, void *context)
{
    return task_execute_serve(context, call);
}

static kith_error *serve_info(struct grpc_call *call, void *context)
{
    const struct worker_tasks *tasks = context;
    _cleanup_(strbuf_reset) struct strbuf bytes = {0};
    const struct worker_info info = {.version = KITH_VERSION,
                                     .protocol_version = WORKER_PROTOCOL_VERSION,
                                     .capabilities = tasks->capabilities,
                                     .processors = (uint32_t)runtime_threads(tasks->runtime)};
    TRY(worker_info_encode(&info, &bytes));
    struct slice slice = slice_of_bytes(bytes.data, bytes.length);
    return grpc_call_send(call, &slice, 1);
}

static kith_error *serve_status(struct grpc_call *call, void *context)
{
    struct worker_status status;
    _cleanup_(strbuf_reset) struct strbuf bytes = {0};
    worker_tasks_read_status(context, &status);
    TRY(worker_status_encode(&status, &bytes));
    struct slice slice = slice_of_bytes(bytes.data, bytes.length);
    return grpc_call_send(call, &slice, 1);
}

kith_error *worker_new(struct runtime *runtime, const struct worker_options *options, struct worker **out)
{
    _cleanup_(worker_free) struct worker *worker = NULL;
    TRY(NEW(&worker));
    pthread_mutex_init(&worker->tasks.mutex, NULL);
    worker->tasks.runtime = runtime;
    worker->tasks.started_ns = clock_monotonic_ns(runtime_clock(runtime));
    worker->tasks.capabilities = CAPABILITIES_ALL & ~options->without;
    TRY(memory_pool_new((size_t)options->memory_limit, &worker->tasks.pool));
    TRY(file_cache_new(&worker->tasks.files));
    const struct grpc_method methods[] = {
        {WORKER_PATH_COORDINATOR_CHANNEL, serve_control, &worker->tasks},
        {WORKER_PATH_EXECUTE_TASK, serve_execute, &worker->tasks},
        {WORKER_PATH_GET_WORKER_INFO, serve_info, &worker->tasks},
        {WORKER_PATH_GET_WORKER_STATUS, serve_status, &worker->tasks},
    };
    int64_t keepalive_ms =
        options->keepalive_ms > 0 ? options->keepalive_ms : setting_infos[SETTING_KEEPALIVE].default_value;
    const struct grpc_server_options server = {
        .methods = methods,
        .method_count = ARRAY_SIZE(methods),
        .http2 = {.peer_noun = "coordinator", .keepalive_ns = keepalive_ms * NANOSECONDS_PER_MILLISECOND},
    };
    TRY(grpc_server_new(runtime, &server, &worker->server));
    *out = TAKE(worker);
    return NULL;
}

kith_error *worker_listen(struct worker *worker, const char *address, const char **out_address)
{
    return grpc_server_listen(worker->server, address, out_address);
}

kith_error *worker_serve(struct worker *worker, struct transport *take_transport)
{
    return grpc_server_serve(worker->server, take_transport);
}

void worker_read_status(struct worker *worker, struct worker_status *out)
{
    worker_tasks_read_status(&worker->tasks, out);
}

size_t worker_live_tasks(const struct worker *worker)
{
    return atomic_load_explicit(&worker->tasks.live, memory_order_relaxed);
}

void worker_free(struct worker *worker)
{
    if (worker == NULL)
        return;
    grpc_server_free(worker->server);
    free(worker->tasks.tasks);
    file_cache_free(worker->tasks.files);
    memory_pool_free(worker->tasks.pool);
    pthread_mutex_destroy(&worker->tasks.mutex);
    free(worker);
}

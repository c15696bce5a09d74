/*
 * The workers that a coordinator may send stages to: their addresses and a gRPC channel each. Any process can be a
 * coordinator; a worker knows none. Thread-safe.
 */
#ifndef KITH_CLUSTER_CLUSTER_H
#define KITH_CLUSTER_CLUSTER_H

#include "base/settings.h"
#include "runtime/runtime.h"

struct cluster;
struct grpc_channel;
struct transport;

/* Connects to every address (HOST:PORT) and checks protocol version and capabilities. A worker that is not there, is no
 * Kith worker, or speaks another version is an error that names it. From a fiber. */
kith_error *cluster_connect(struct runtime *runtime, const char *const *addresses, size_t count,
                            const struct settings *settings, struct cluster **out) _must_check_;

/* The same, over transports that `dial` makes; NULL = sockets. For tests and simulation. */
kith_error *cluster_connect_by(struct runtime *runtime, const char *const *addresses, size_t count,
                               const struct settings *settings,
                               kith_error *(*dial)(void *context, const char *target, int64_t deadline_ns,
                                                   struct transport **out),
                               void *dial_context, struct cluster **out) _must_check_;

/* Closes the channels. From a fiber. */
void cluster_free(struct cluster *cluster);
DEFINE_CLEANUP(cluster_free, struct cluster)

/* What the worker has done since it started; its texts live in `arena`. From a fiber. */
struct worker_status;
struct arena;
kith_error *cluster_ask_status(const struct cluster *cluster, size_t worker, int64_t deadline_ns, struct arena *arena,
                               struct worker_status *out) _must_check_;

size_t cluster_worker_count(const struct cluster *cluster);
const char *cluster_worker_address(const struct cluster *cluster, size_t worker);
struct grpc_channel *cluster_worker_channel(const struct cluster *cluster, size_t worker); /* borrowed */
uint64_t cluster_worker_capabilities(const struct cluster *cluster, size_t worker);
size_t cluster_worker_processors(const struct cluster *cluster, size_t worker); /* 0 = it did not say */

#endif

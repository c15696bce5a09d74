/*
 * Inside the runtime only: threads for calls that block (io.h's offload). Started when first needed, up to a limit;
 * jobs beyond it queue in order.
 */
#ifndef KITH_RUNTIME_OFFLOAD_H
#define KITH_RUNTIME_OFFLOAD_H

#include "base/error.h"
#include "base/list.h"

#include <pthread.h>

struct offload_pool {
    pthread_mutex_t mutex; /* guards the rest */
    pthread_cond_t work;
    pthread_t *threads;
    size_t limit;
    size_t started;
    size_t idle;   /* threads waiting for work */
    size_t queued; /* jobs no thread has taken yet */
    struct list queue;
    bool stopping;
};

void offload_pool_init(struct offload_pool *pool, size_t limit);
/* Stops the threads; no job is left. */
void offload_pool_destroy(struct offload_pool *pool);

#endif

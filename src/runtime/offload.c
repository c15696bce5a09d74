#include "runtime/offload.h"

#include "base/alloc.h"
#include "runtime/io.h"
#include "runtime/mutex.h"
#include "runtime/scheduler.h"
#include "runtime/thread.h"

/* Lives on the stack of the fiber that waits for it. Guarded by the pool's mutex. */
struct offload_job {
    struct link link;
    kith_error *(*function)(void *argument);
    void *argument;
    kith_error *result;
    bool done;
    struct wait_list waiting;
};

static void *offload_main(void *argument)
{
    struct offload_pool *pool = argument;
    HOLD_MUTEX(&pool->mutex);
    for (;;) {
        while (list_is_empty(&pool->queue) && !pool->stopping) {
            pool->idle++;
            pthread_cond_wait(&pool->work, &pool->mutex);
            pool->idle--;
        }
        if (list_is_empty(&pool->queue))
            return NULL;
        struct offload_job *job = CONTAINER_OF(list_remove_first(&pool->queue), struct offload_job, link);
        pool->queued--;

        pthread_mutex_unlock(&pool->mutex);
        kith_error *result = job->function(job->argument);
        pthread_mutex_lock(&pool->mutex);
        job->result = result;
        job->done = true;
        wait_list_wake_all(&job->waiting);
    }
}

void offload_pool_init(struct offload_pool *pool, size_t limit)
{
    *pool = (struct offload_pool){.limit = limit};
    pthread_mutex_init(&pool->mutex, NULL);
    pthread_cond_init(&pool->work, NULL);
}

void offload_pool_destroy(struct offload_pool *pool)
{
    pthread_mutex_lock(&pool->mutex);
    pool->stopping = true;
    pthread_cond_broadcast(&pool->work);
    pthread_mutex_unlock(&pool->mutex);
    for (size_t i = 0; i < pool->started; i++)
        pthread_join(pool->threads[i], NULL);
    free(pool->threads);
    pthread_cond_destroy(&pool->work);
    pthread_mutex_destroy(&pool->mutex);
}

/* Makes sure that a thread will come for one more job. The mutex is held. */
static kith_error *engage_thread(struct offload_pool *pool)
{
    if (pool->queued < pool->idle) {
        pthread_cond_signal(&pool->work);
        return NULL;
    }
    if (pool->started == pool->limit)
        return NULL;
    if (pool->threads == NULL)
        TRY(NEW_ARRAY(&pool->threads, pool->limit));
    kith_error *error = thread_start(&pool->threads[pool->started], "kith-offload", offload_main, pool);
    if (error == NULL) {
        pool->started++;
    } else if (pool->started > 0) {
        error_free(error); /* the others will come to it */
        return NULL;
    }
    return error;
}

kith_error *offload(kith_error *(*function)(void *argument), void *argument)
{
    struct runtime *runtime = runtime_current();
    if (runtime == NULL)
        return function(argument);

    struct offload_pool *pool = &runtime->offload;
    struct offload_job job = {.function = function, .argument = argument};
    HOLD_MUTEX(&pool->mutex);
    TRY(engage_thread(pool));
    list_append(&pool->queue, &job.link);
    pool->queued++;
    while (!job.done) {
        kith_error *error = waiter_wait(&job.waiting, &pool->mutex, WAIT_FOREVER, WAIT_SHIELDED);
        ASSERT(error == NULL); /* nothing but the job's end ends this wait */
    }
    return job.result;
}

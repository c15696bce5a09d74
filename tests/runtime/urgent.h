/*
 * An urgent fiber that waits until it is woken: for tests of who makes way for it, and when.
 */
#ifndef KITH_TESTS_RUNTIME_URGENT_H
#define KITH_TESTS_RUNTIME_URGENT_H

#include "fibers.h"

#include "runtime/sync.h"

#include <pthread.h>

struct urgent_test {
    pthread_mutex_t mutex;
    struct wait_list waiting;
    bool woken, served;
};

static inline kith_error *serve_urgently(void *argument)
{
    struct urgent_test *test = argument;
    fiber_make_urgent();
    pthread_mutex_lock(&test->mutex);
    kith_error *error = NULL;
    while (!test->woken && error == NULL)
        error = wait_list_wait(&test->waiting, &test->mutex, WAIT_FOREVER);
    test->served = true;
    pthread_mutex_unlock(&test->mutex);
    return error;
}

static inline void wake_urgent(struct urgent_test *test)
{
    pthread_mutex_lock(&test->mutex);
    test->woken = true;
    wait_list_wake_all(&test->waiting);
    pthread_mutex_unlock(&test->mutex);
}

#endif

/*
 * A pthread mutex held to the end of a scope: `HOLD_MUTEX(&pool->mutex);`. Only for a few instructions: nobody may
 * wait while holding one, other than on a wait list that it guards.
 */
#ifndef KITH_RUNTIME_MUTEX_H
#define KITH_RUNTIME_MUTEX_H

#include "base/macros.h"

#include <pthread.h>

#define HOLD_MUTEX(mutex) \
    _cleanup_(mutex_release) __attribute__((unused)) pthread_mutex_t *held_mutex = mutex_hold(mutex)

static inline pthread_mutex_t *mutex_hold(pthread_mutex_t *mutex)
{
    pthread_mutex_lock(mutex);
    return mutex;
}

static inline void mutex_release(pthread_mutex_t *mutex)
{
    pthread_mutex_unlock(mutex);
}
DEFINE_CLEANUP(mutex_release, pthread_mutex_t)

#endif

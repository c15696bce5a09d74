/*
 * Starting the runtime's own threads. They block every signal but faults, so that signals reach the
 * program's threads.
 */
#ifndef KITH_RUNTIME_THREAD_H
#define KITH_RUNTIME_THREAD_H

#include "base/error.h"

#include <pthread.h>

/* `name` has at most 15 characters. */
kith_error *thread_start(pthread_t *out, const char *name, void *(*function)(void *argument),
                         void *argument) _must_check_;

#endif

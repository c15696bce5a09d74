/*
 * Calls on a large stack: for other people's code that recurses deeper than a fiber's stack, or a thread's, allows. The
 * function runs on the calling thread, to its end: it must not wait, yield or spawn. In a runtime a few stacks are kept
 * for the next calls, with little of their memory; outside one a stack is mapped for each call. Thread-safe.
 */
#ifndef KITH_RUNTIME_LARGE_STACK_H
#define KITH_RUNTIME_LARGE_STACK_H

#include "base/error.h"

/* Address space; memory is touched only as deep as the function goes. */
enum { LARGE_STACK_BYTES = 256 << 20 };

/* Gives the function's error, or why there is no stack for it. */
kith_error *call_on_large_stack(kith_error *(*function)(void *argument), void *argument) _must_check_;

#endif

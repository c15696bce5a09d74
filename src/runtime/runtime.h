/*
 * The runtime: a fixed set of worker threads that run fibers. Code in a fiber waits by suspending the fiber
 * (channel.h, sync.h, io.h); a worker thread never blocks. One process normally has one runtime.
 *
 * Fibers are created on the spawning thread's own queue and stolen by idle threads. A runtime of one thread and with a
 * clock other than the machine's runs them in the same order every time, as long as they wait neither for descriptors
 * nor for offloaded calls.
 */
#ifndef KITH_RUNTIME_RUNTIME_H
#define KITH_RUNTIME_RUNTIME_H

#include "base/clock.h"
#include "base/error.h"

struct runtime;

struct runtime_options {
    size_t threads;            /* 0 = one a processor that this process may use */
    size_t offload_threads;    /* for calls that block (io.h); 0 = 4 */
    const struct clock *clock; /* NULL = system_clock */
};

kith_error *runtime_new(const struct runtime_options *options, struct runtime **out) _must_check_;

/* Waits for every fiber to end, then stops the threads. Call from outside the runtime. */
void runtime_free(struct runtime *runtime);
DEFINE_CLEANUP(runtime_free, struct runtime)

size_t runtime_threads(const struct runtime *runtime);
const struct clock *runtime_clock(const struct runtime *runtime);

/* With a clock other than system_clock deadlines do not pass by themselves: its owner calls this, from any thread,
 * after moving it. */
void runtime_clock_advanced(struct runtime *runtime);

/* The runtime whose fiber is running on this thread, or NULL outside any. */
struct runtime *runtime_current(void);

/* Runs `main_function(argument)` as a fiber and blocks the calling (non-runtime) thread until it has ended;
 * returns its error. This is how a program enters the runtime. */
kith_error *runtime_run(struct runtime *runtime, kith_error *(*main_function)(void *argument),
                        void *argument) _must_check_;

/* Fibers that have not ended; for tests that nothing is left behind. */
size_t runtime_live_fibers(const struct runtime *runtime);

#endif

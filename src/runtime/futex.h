/*
 * Blocking a thread on a 32-bit word (futex(2)): what an idle worker and a thread outside the runtime wait with.
 * Wake-ups may be spurious; test the word in a loop.
 */
#ifndef KITH_RUNTIME_FUTEX_H
#define KITH_RUNTIME_FUTEX_H

#include "base/clock.h"

#include <errno.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Blocks while *word is `expected`, until woken or until `deadline_ns` of CLOCK_MONOTONIC (negative: none). False when
 * the deadline has passed. */
static inline bool futex_wait(atomic_uint *word, unsigned expected, int64_t deadline_ns)
{
    struct timespec deadline = {.tv_sec = deadline_ns / NANOSECONDS_PER_SECOND,
                                .tv_nsec = deadline_ns % NANOSECONDS_PER_SECOND};
    long result = syscall(SYS_futex, word, FUTEX_WAIT_BITSET_PRIVATE, expected, deadline_ns < 0 ? NULL : &deadline,
                          NULL, FUTEX_BITSET_MATCH_ANY);
    return result == 0 || errno != ETIMEDOUT;
}

/* Wakes the thread that waits on `word`, if any. */
static inline void futex_wake(atomic_uint *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

#endif

/*
 * What every test file includes: cmocka with the headers it needs, checks for Kith's errors, random numbers, and
 * failing each allocation of some work in turn.
 */
#ifndef KITH_TESTS_TESTING_H
#define KITH_TESTS_TESTING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"

/* The call must succeed; otherwise the test fails with the error's text. */
#define assert_ok(call)                                                       \
    do {                                                                      \
        kith_error *assert_error_ = (call);                                   \
        if (assert_error_ != NULL) {                                          \
            char assert_text_[1024];                                          \
            error_describe(assert_error_, assert_text_, sizeof assert_text_); \
            error_free(assert_error_);                                        \
            fail_msg("%s: %s", #call, assert_text_);                          \
        }                                                                     \
    } while (0)

/* The call must fail with `expected_code`, and the text with its causes must contain `part`. */
#define assert_fails(call, expected_code, part)                                                                 \
    do {                                                                                                        \
        kith_error *assert_error_ = (call);                                                                     \
        if (assert_error_ == NULL)                                                                              \
            fail_msg("%s: succeeded, expected %s", #call, error_code_name(expected_code));                      \
        char assert_text_[1024];                                                                                \
        error_describe(assert_error_, assert_text_, sizeof assert_text_);                                       \
        enum kith_code assert_code_ = kith_error_code(assert_error_);                                           \
        error_free(assert_error_);                                                                              \
        if (assert_code_ != (expected_code) || strstr(assert_text_, (part)) == NULL)                            \
            fail_msg("%s: %s: %s; expected %s with \"%s\"", #call, error_code_name(assert_code_), assert_text_, \
                     error_code_name(expected_code), (part));                                                   \
    } while (0)

/* A small generator for random tests: the same seed gives the same numbers on every machine
 * (Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators", 2014: SplitMix64). */
static inline uint64_t test_random(uint64_t *state)
{
    uint64_t z = (*state += UINT64_C(0x9E3779B97F4A7C15));
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

/* Runs `attempt` again and again, its first allocation failing, then its second, and so on until none is left to fail:
 * each run must end with OUT_OF_MEMORY, the last one well. *count is how many there were to fail. Only allocations of
 * the calling thread fail. What is wrong is returned, not asserted, so that fibers can call this; leaks are for
 * sanitizers to find. */
static inline kith_error *_must_check_ fail_each_allocation(kith_error *(*attempt)(void *state), void *state,
                                                            size_t *count)
{
    for (size_t n = 1;; n++) {
        alloc_fail_after(n);
        kith_error *error = attempt(state);
        bool failed = alloc_fail_after(0) == 0;
        *count = n - 1;
        if (!failed)
            return error;
        if (error == NULL)
            return error_new(KITH_ERROR_INTERNAL, "nobody was told that allocation %zu failed", n);
        if (kith_error_code(error) != KITH_ERROR_OUT_OF_MEMORY)
            return error_wrap(error, "after allocation %zu failed", n);
        error_free(error);
    }
}

/* `attempt` must survive the failure of each of its allocations, of which there are at least `least`. */
#define assert_survives_without_memory(attempt, state, least)                \
    do {                                                                     \
        size_t assert_count_ = 0;                                            \
        assert_ok(fail_each_allocation((attempt), (state), &assert_count_)); \
        assert_in_range(assert_count_, (least), SIZE_MAX);                   \
    } while (0)

#endif

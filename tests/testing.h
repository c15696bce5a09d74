/*
 * What every test file includes: cmocka with the headers it needs, and checks for Kith's errors.
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

#include "base/error.h"

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

#endif

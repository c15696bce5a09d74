/*
 * What a fuzzer and its two drivers agree on. A fuzzer feeds any bytes to a part of Kith that reads bytes from outside,
 * and checks what must hold whatever they are; it keeps nothing from one call to the next. libFuzzer searches for
 * inputs that break it, and replay.c runs it over the known ones as a test.
 */
#ifndef KITH_TESTS_FUZZ_FUZZ_H
#define KITH_TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>

/* Named by libFuzzer. Always returns 0; a broken expectation aborts. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif

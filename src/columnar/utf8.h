/*
 * Whether bytes are well-formed UTF-8 (Unicode 15, table 3-7): no overlong forms, no surrogates, nothing past U+10FFFF.
 */
#ifndef KITH_COLUMNAR_UTF8_H
#define KITH_COLUMNAR_UTF8_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

bool utf8_is_valid(const void *bytes, size_t length);

/* The same of any number of bytes: they are charged to the fiber's turn by the chunk, and errors are those of
 * coop_charge. `*uncharged` is coop_charge_bytes' count. */
kith_error *utf8_check(const void *bytes, size_t length, size_t *uncharged, bool *valid) _must_check_;

/* A byte that continues a character: text must not be cut before one. */
static inline bool utf8_is_continuation(uint8_t byte)
{
    return (byte & 0xc0) == 0x80;
}

#endif

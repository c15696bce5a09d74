/*
 * Whether bytes are well-formed UTF-8 (Unicode 15, table 3-7): no overlong forms, no surrogates, nothing past U+10FFFF.
 */
#ifndef KITH_COLUMNAR_UTF8_H
#define KITH_COLUMNAR_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

bool utf8_is_valid(const void *bytes, size_t length);

/* A byte that continues a character: text must not be cut before one. */
static inline bool utf8_is_continuation(uint8_t byte)
{
    return (byte & 0xc0) == 0x80;
}

#endif

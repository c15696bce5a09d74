/*
 * Upper and lower case of UTF-8 text, each code point by itself (simple case mapping of utf8proc's Unicode tables), so
 * that the number of characters stays: upper case of "ß" is "ẞ" (DuckDB; DataFusion gives "SS"). No locale.
 */
#ifndef KITH_COMPUTE_TEXT_CASE_H
#define KITH_COMPUTE_TEXT_CASE_H

#include "base/strbuf.h"

#include <stdint.h>

kith_error *text_append_lower(struct str text, struct strbuf *out) _must_check_;
kith_error *text_append_upper(struct str text, struct strbuf *out) _must_check_;

/* The lower case of one character of up to four bytes; bytes that are no UTF-8 are negative numbers of their own. */
int32_t text_lower_character(struct str character);

#endif

/*
 * Matching one component of a path (no '/') against a shell pattern: * ? [set] and \ before a literal character, as
 * POSIX describes them (Shell Command Language, 2.13), over UTF-8 characters. Character classes ([:alpha:]) are not
 * known. The time is bounded by the product of the two lengths.
 */
#ifndef KITH_STORAGE_PATTERN_H
#define KITH_STORAGE_PATTERN_H

#include <stdbool.h>

/* Whether `text` has any of the characters that make it a pattern. */
bool pattern_is_glob(const char *text);

/* A name that begins with "." is matched only by a pattern that does. */
bool pattern_matches(const char *pattern, const char *name);

#endif

/*
 * LIKE and ILIKE: `%` stands for any text, `_` for one character (a UTF-8 code point), a backslash makes the next
 * character literal; a backslash at the end stands for itself (DataFusion; PostgreSQL raises an error). ILIKE compares
 * code points by their lower case. Matching takes time proportional to text times pattern at worst and no memory.
 */
#ifndef KITH_COMPUTE_LIKE_H
#define KITH_COMPUTE_LIKE_H

#include "compute/kernel.h"

/* A pattern that was looked at once. Immutable; may be used by any number of threads. */
struct like_pattern;

kith_error *like_compile(struct str pattern, bool case_insensitive, struct like_pattern **out) _must_check_;
void like_pattern_free(struct like_pattern *pattern);
DEFINE_CLEANUP(like_pattern_free, struct like_pattern)

bool like_matches(const struct like_pattern *pattern, struct str text);

/* The constant text before the first wildcard, for pruning by prefix; borrowed from the pattern. `*whole` is set when
 * there is no wildcard at all, so that LIKE is equality. Empty for case-insensitive patterns. */
struct str like_prefix(const struct like_pattern *pattern, bool *whole);

/* text LIKE pattern for each row, the pattern compiled. */
kith_error *like_run(const struct datum *text, const struct like_pattern *pattern, bool negated, size_t rows,
                     const struct selection *selection, struct array **out) _must_check_;

/* The same with a pattern for each row. */
kith_error *like_run_patterns(const struct datum *text, const struct datum *patterns, bool case_insensitive,
                              bool negated, size_t rows, const struct selection *selection,
                              struct array **out) _must_check_;

#endif

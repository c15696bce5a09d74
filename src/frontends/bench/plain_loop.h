/*
 * What a plain C loop takes for the control case: it reads the score and excluded columns of uncompressed files as
 * their writer laid them out, chunk by chunk, and keeps the best rows. It knows where each page's values lie and does
 * nothing for safety or generality: a yardstick on one thread, for files that this program has written itself.
 */
#ifndef KITH_FRONTENDS_BENCH_PLAIN_LOOP_H
#define KITH_FRONTENDS_BENCH_PLAIN_LOOP_H

#include "frontends/bench/fixture.h"

struct plain_loop;

/* Opens the first `files` files and finds their pages. NOT_IMPLEMENTED for compressed ones. From a fiber. */
kith_error *plain_loop_new(const struct fixture *fixture, size_t files, struct plain_loop **out) _must_check_;
void plain_loop_free(struct plain_loop *loop);
DEFINE_CLEANUP(plain_loop_free, struct plain_loop)

/* The best scores of rows that are not excluded, falling; *count of them, at most `limit`. */
kith_error *plain_loop_run(struct plain_loop *loop, size_t limit, int64_t *scores, size_t *count) _must_check_;

#endif

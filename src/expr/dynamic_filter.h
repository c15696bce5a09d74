/*
 * A dynamic filter: the Top-K bound as a predicate that tightens while the query runs. It has three slots that are
 * AND-ed: the `planned` bound, which statistics proved before anything was read; the `local` one, set by the Top-K of
 * this task; and the `remote` one, received from siblings through the coordinator. A received bound never enters the
 * local slot, so it cannot be published again (no echo).
 *
 * A bound is a sort key that at least K rows are no worse than. Where somebody holds such rows, a row can be skipped
 * unless its key is strictly smaller; a planned bound is `inclusive`: the rows that prove it are still to be read, so
 * those that equal it are kept. That is all a bound is for: skipping. It never decides the result.
 *
 * Thread-safe. Readers take a snapshot (one atomic load when nothing changed); bounds are immutable and
 * reference-counted.
 */
#ifndef KITH_EXPR_DYNAMIC_FILTER_H
#define KITH_EXPR_DYNAMIC_FILTER_H

#include "base/limits.h"
#include "base/memory_pool.h"
#include "base/refcount.h"
#include "columnar/batch.h"
#include "expr/expr.h"
#include "expr/statistics.h"

struct bound {
    struct refcount refs;
    size_t value_count;
    struct scalar *values; /* of the first value_count sort expressions; strings owned by the bound */
    bool inclusive;        /* rows that equal it are kept */
    size_t key_length;
    uint8_t *key;     /* sort_key_encode_scalars of the values */
    int64_t found_ns; /* monotonic time of discovery or arrival, for telemetry */
};

kith_error *bound_new(const struct scalar *values, const struct sort_order *orders, size_t count, int64_t found_ns,
                      struct bound **out) _must_check_;
struct bound *bound_ref(struct bound *bound);
void bound_unref(struct bound *bound);
DEFINE_CLEANUP(bound_unref, struct bound)
/* About what it takes, for whoever accounts for it. */
size_t bound_memory_bytes(const struct bound *bound);
/* The bound that says so much of the first sort expression alone, and keeps what equals it. */
kith_error *bound_new_planned(const struct scalar *value, struct sort_order order, struct bound **out) _must_check_;
/* <0 when `a` is stronger (excludes more). Both of the same sort. */
int bound_compare(const struct bound *a, const struct bound *b);
/* Whether a bound of all sort expressions, with that key and not inclusive, would be stronger than this one. */
bool bound_is_beaten_by(const struct bound *bound, struct str key);
/* Whether a row with that key of all sort expressions is worse than the bound, and so beyond K rows. */
bool bound_is_ahead_of(const struct bound *bound, struct str key);

/* So many rows of somebody's are no worse than `bound`, which is of all sort expressions. Not a bound of the sort
 * unless they are K. */
struct bound_rank {
    struct bound *bound;
    uint64_t rows;
};

/* In the order in which what they rule out is counted: "remote" means what no other bound had ruled out. */
enum bound_origin { BOUND_PLANNED, BOUND_LOCAL, BOUND_REMOTE, BOUND_ORIGINS };

struct dynamic_filter_counters {
    uint64_t produced; /* local bounds that were stronger than the local one before */
    uint64_t received; /* remote bounds that arrived */
    uint64_t applied;  /* remote bounds that were stronger than both slots when they arrived */
};

struct dynamic_filter;

/* `exprs` are over the columns of the consumer (the scan's schema), all in the caller's arena, which must outlive the
 * filter. `id` is unique in the query and names the filter on the wire. */
kith_error *dynamic_filter_new(uint64_t id, const struct sort_expr *exprs, size_t count,
                               struct dynamic_filter **out) _must_check_;
struct dynamic_filter *dynamic_filter_ref(struct dynamic_filter *filter);
void dynamic_filter_unref(struct dynamic_filter *filter);
DEFINE_CLEANUP(dynamic_filter_unref, struct dynamic_filter)

uint64_t dynamic_filter_id(const struct dynamic_filter *filter);
size_t dynamic_filter_exprs(const struct dynamic_filter *filter, const struct sort_expr **out);

/* Keeps the bound (takes a reference) if it is stronger than the slot's. *stronger tells. Then tells the watchers. */
void dynamic_filter_offer(struct dynamic_filter *filter, enum bound_origin origin, struct bound *bound, bool *stronger);

/* Is told, outside of locks and by whoever made the change, that the slot has a stronger bound, and of the best of new
 * ranks (NULL: wants not to be). Stays in its place until no more bounds are offered. */
struct dynamic_filter_watcher {
    void (*changed)(struct dynamic_filter_watcher *watcher, enum bound_origin origin, struct bound *bound);
    void (*ranked)(struct dynamic_filter_watcher *watcher, struct bound *best);
    struct dynamic_filter_watcher *next; /* the filter's */
};
void dynamic_filter_watch(struct dynamic_filter *filter, struct dynamic_filter_watcher *watcher);

/* Ranks (expr/bound_ranks.h): what several Top-Ks hold together, as the partitions of a task do, may prove a local
 * bound that none of them has, and is passed on for the same purpose.
 *
 * Before the filter is used: that `holders` Top-Ks keep up to `wanted` rows each, and that ranks are of use which speak
 * of `least` rows at least. What is kept of them is reserved from `pool`. */
kith_error *dynamic_filter_collect_ranks(struct dynamic_filter *filter, size_t holders, uint64_t wanted, uint64_t least,
                                         struct memory_pool *pool) _must_check_;
/* A number for one more Top-K that tightens the filter, from 0. */
size_t dynamic_filter_add_holder(struct dynamic_filter *filter);
uint64_t dynamic_filter_least_rank(const struct dynamic_filter *filter);
uint64_t dynamic_filter_wanted(const struct dynamic_filter *filter); /* as given then; 0 = ranks are not collected */
/* Only ranks whose first value is as good as this are of use, or none is. */
void dynamic_filter_limit_ranks(struct dynamic_filter *filter, bool wanted, struct bound *floor);
struct bound *dynamic_filter_ranks_floor(struct dynamic_filter *filter); /* a new reference; NULL = none */
/* Whether a row with this key is of use in a rank. */
bool dynamic_filter_wants_rank(struct dynamic_filter *filter, struct str key);
/* All that the holder has to say now, best first. Then tells the watchers. Without room in the pool nothing is kept. */
void dynamic_filter_offer_ranks(struct dynamic_filter *filter, size_t holder, const struct bound_rank *list,
                                size_t count);
/* What the holders say together. New references. */
size_t dynamic_filter_ranks(struct dynamic_filter *filter, struct bound_rank out[LIMIT_BOUND_RANKS]);

/* Number of changes so far: cheap test whether a snapshot is still current. */
uint64_t dynamic_filter_generation(const struct dynamic_filter *filter);

/* The strongest of all slots and whose it is; NULL while there is none. A new reference. */
struct bound *dynamic_filter_bound(struct dynamic_filter *filter, enum bound_origin *origin);
/* The bound of one slot; NULL while there is none. A new reference. */
struct bound *dynamic_filter_slot(struct dynamic_filter *filter, enum bound_origin origin);

void dynamic_filter_counters(struct dynamic_filter *filter, struct dynamic_filter_counters *out);

/* The best value, NULL included, that a column can have in a container: what sorts first. False when nothing can be
 * said. */
bool statistics_best_value(const struct column_statistics *statistics, const struct data_type *type,
                           struct sort_order order, struct scalar *out);

/* The worst value that a column can have in a container: what sorts last. False when nothing can be said, as where NULL
 * or NaN may sort last. */
bool statistics_worst_value(const struct column_statistics *statistics, struct sort_order order, struct scalar *out);

/* True when no row of the container can be strictly better than the bound: only when the statistics of the first key
 * that differs prove it. Handles NULL placement, unknown null counts, NaN, several keys (prefix of equal constants). */
bool bound_excludes(const struct bound *bound, const struct sort_expr *exprs,
                    const struct statistics_source *statistics);

/* The same by the best value that the first key can have in the container, and nothing else: then all containers whose
 * best is no better are excluded, too. */
bool bound_excludes_best(const struct bound *bound, const struct scalar *best, struct sort_order order);

/* Narrows the batch to rows whose key is strictly better than the bound. `keys` is scratch, reused by the caller; the
 * sort expressions are evaluated by `evaluators`, one each. */
struct evaluator;
kith_error *bound_filter(const struct bound *bound, const struct sort_expr *exprs, struct evaluator *const *evaluators,
                         struct batch *batch, struct sort_keys *keys, struct batch **out) _must_check_;

#endif

/*
 * Two arms run in turns, pair by pair, and what their pairs say. Each pair has both arms do the same number of queries;
 * which arm begins alternates, so that neither always has the processor, the caches or the rest of the machine as the
 * other has left them. No pair is left out.
 */
#ifndef KITH_FRONTENDS_BENCH_TOPK_COMPARE_H
#define KITH_FRONTENDS_BENCH_TOPK_COMPARE_H

#include "base/vec.h"
#include "frontends/bench/spread.h"
#include "frontends/bench/topk_run.h"

enum { TOPK_CANDIDATE, TOPK_BASELINE, TOPK_SIDES };
enum { TOPK_MOST_PAIRS = 1000 };

/* What runs queries: this process and its workers (topk_run.h), or new ones each time (topk_fresh.h). */
struct topk_runner {
    kith_error *(*run)(struct topk_runner *runner, const struct topk_arm *arm, size_t queries, struct topk_block *out);
};

struct topk_pairing {
    size_t pairs, most_pairs;
    double precision; /* goes on beyond `pairs` until medians of time and CPU are known so well; 0 = does not */
    size_t queries;   /* of an arm in a turn */
    bool both_orders; /* a pair is A B B A, or B A A B, rather than A B, or B A */
};

struct topk_pair {
    struct topk_block sides[TOPK_SIDES];
};

struct topk_comparison {
    struct topk_case topk_case;
    const struct topk_arm *arms[TOPK_SIDES];
    struct topk_facts facts;
    VEC(struct topk_pair) pairs;
};

void topk_comparison_free(struct topk_comparison *comparison);
DEFINE_CLEANUP(topk_comparison_free, struct topk_comparison)

kith_error *topk_compare(struct topk_runner *runner, const struct topk_pairing *pairing,
                         struct topk_comparison *comparison) _must_check_;

enum topk_measure {
    TOPK_TIME,  /* of collecting rows: ratio */
    TOPK_CPU,   /* of all processes: ratio */
    TOPK_BYTES, /* scanned: ratio */
    TOPK_RSS,   /* the sum of all processes' peaks: difference in MiB */
    TOPK_MEASURES
};
extern const char *const topk_measure_names[TOPK_MEASURES];

kith_error *topk_comparison_spread(const struct topk_comparison *comparison, enum topk_measure measure,
                                   struct spread *out) _must_check_;
/* The median of one side's milliseconds a query, of time or CPU. */
kith_error *topk_comparison_ms(const struct topk_comparison *comparison, int side, enum topk_measure measure,
                               double *out) _must_check_;
void topk_comparison_sum(const struct topk_comparison *comparison, int side, struct topk_block *out);

#endif

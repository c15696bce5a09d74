#include "frontends/bench/topk_compare.h"

const char *const topk_measure_names[TOPK_MEASURES] = {"time", "cpu", "bytes", "rss_mib"};

void topk_comparison_free(struct topk_comparison *comparison)
{
    if (comparison == NULL)
        return;
    vec_reset(&comparison->pairs);
    free(comparison);
}

static double measure_block(const struct topk_block *block, enum topk_measure measure)
{
    switch (measure) {
    case TOPK_TIME:
        return (double)block->collect_ns / (double)block->queries;
    case TOPK_CPU:
        return (double)topk_block_cpu_ns(block) / (double)block->queries;
    case TOPK_BYTES:
        return (double)block->metrics[METRIC_BYTES_SCANNED] / (double)block->queries;
    case TOPK_RSS:
        return (double)topk_block_peak_bytes(block) / (1 << 20);
    case TOPK_MEASURES:
        break;
    }
    UNREACHABLE();
}

static double compare_pair(const struct topk_pair *pair, enum topk_measure measure)
{
    double candidate = measure_block(&pair->sides[TOPK_CANDIDATE], measure);
    double baseline = measure_block(&pair->sides[TOPK_BASELINE], measure);
    if (measure == TOPK_RSS)
        return candidate - baseline;
    return candidate == baseline ? 1 : candidate / baseline; /* of two that read nothing neither has the advantage */
}

kith_error *topk_comparison_spread(const struct topk_comparison *comparison, enum topk_measure measure,
                                   struct spread *out)
{
    _cleanup_free_ double *values = NULL;
    TRY(NEW_ARRAY(&values, comparison->pairs.length));
    for (size_t i = 0; i < comparison->pairs.length; i++)
        values[i] = compare_pair(&comparison->pairs.items[i], measure);
    *out = spread_of(values, comparison->pairs.length);
    return NULL;
}

kith_error *topk_comparison_ms(const struct topk_comparison *comparison, int side, enum topk_measure measure,
                               double *out)
{
    _cleanup_free_ double *values = NULL;
    TRY(NEW_ARRAY(&values, comparison->pairs.length));
    for (size_t i = 0; i < comparison->pairs.length; i++)
        values[i] = measure_block(&comparison->pairs.items[i].sides[side], measure) / 1e6;
    *out = spread_of(values, comparison->pairs.length).median;
    return NULL;
}

void topk_comparison_sum(const struct topk_comparison *comparison, int side, struct topk_block *out)
{
    *out = (struct topk_block){0};
    for (size_t i = 0; i < comparison->pairs.length; i++)
        topk_block_add(out, &comparison->pairs.items[i].sides[side]);
}

static kith_error *run_pair(struct topk_runner *runner, const struct topk_pairing *pairing,
                            struct topk_comparison *comparison)
{
    static const int order[] = {TOPK_CANDIDATE, TOPK_BASELINE, TOPK_BASELINE, TOPK_CANDIDATE};
    int swap = comparison->pairs.length % 2 != 0;
    TRY(vec_push(&comparison->pairs, (struct topk_pair){0}));
    struct topk_pair *pair = &comparison->pairs.items[comparison->pairs.length - 1];
    for (int turn = 0; turn < (pairing->both_orders ? 4 : 2); turn++) {
        int side = order[turn] ^ swap;
        struct topk_block block;
        TRY(runner->run(runner, comparison->arms[side], pairing->queries, &block));
        topk_block_add(&pair->sides[side], &block);
    }
    return NULL;
}

static kith_error *is_precise(const struct topk_comparison *comparison, double precision, bool *out)
{
    *out = true;
    for (int i = TOPK_TIME; i <= TOPK_CPU; i++) {
        struct spread spread;
        TRY(topk_comparison_spread(comparison, (enum topk_measure)i, &spread));
        *out = *out && spread.is_known && (spread.high - spread.low) / 2 <= precision;
    }
    return NULL;
}

kith_error *topk_compare(struct topk_runner *runner, const struct topk_pairing *pairing,
                         struct topk_comparison *comparison)
{
    bool enough = false;
    while (!enough) {
        TRY(run_pair(runner, pairing, comparison));
        enough = comparison->pairs.length >= pairing->pairs;
        if (enough && pairing->precision > 0 && comparison->pairs.length < pairing->most_pairs)
            TRY(is_precise(comparison, pairing->precision, &enough));
    }
    return NULL;
}

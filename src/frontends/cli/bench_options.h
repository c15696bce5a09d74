/*
 * The options of `kith bench topk`, and the environment variables that ask for fixed work.
 */
#ifndef KITH_FRONTENDS_CLI_BENCH_OPTIONS_H
#define KITH_FRONTENDS_CLI_BENCH_OPTIONS_H

#include "base/vec.h"
#include "frontends/bench/topk_report.h"

enum bench_mode {
    BENCH_PAIRS,      /* in turns, in this process and its workers */
    BENCH_FRESH,      /* each turn in processes of its own */
    BENCH_SWEEP,      /* what more tasks tell each other */
    BENCH_FIXED_WORK, /* one turn, as told by the environment */
};

struct bench_options {
    enum bench_mode mode;
    VEC(struct topk_case) cases;
    const struct topk_arm *candidate;
    VEC(const struct topk_arm *) against;
    VEC(struct topk_setting) settings;
    VEC(char *) setting_texts; /* what settings point into */
    size_t sweep_tasks;
    struct topk_setup setup;
    struct fixture fixture; /* but for its layout */
    const char *json_path, *answers_path;
    bool smoke, help;
};

/* What the arguments, the environment and defaults say; the arguments are borrowed. */
kith_error *bench_options_parse(int argc, char **argv, struct bench_options *out) _must_check_;
void bench_options_reset(struct bench_options *options);
void bench_options_print_help(void);

#endif
